"""The protocol of MCP servers, and which of their tools and hosts a run may use."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from hashlib import sha256
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final, Protocol

from pydantic import JsonValue

from patchwright.core.events.actions import CallMcpTool
from patchwright.core.events.observations import ErrorObservation, McpResult
from patchwright.core.security.hosts import HostKind, kind_of_host
from patchwright.core.text.strings import strip_invisible, truncate_middle
from patchwright.core.types.base import Value


class McpTool(Value):
    """A tool of a server; `parameters` is a JSON Schema of an object.

    `name` is what models call it: unique among all servers, and fit for any provider.
    """

    server: str
    name: str
    description: str
    parameters: dict[str, JsonValue]


class McpServers(Protocol):
    """The servers of one run, started when its sandbox is there."""

    def tools(self) -> tuple[McpTool, ...]: ...

    def faults(self) -> tuple[str, ...]:
        """Return a line for each server, and each tool, that could not be had."""
        ...

    def call(self, action: CallMcpTool) -> McpResult | ErrorObservation:
        """Call a tool; what goes wrong with it is an error for the model to read.

        Raises `RuntimeLostError` when its server has to be started again and the
        sandbox is gone.
        """
        ...

    def close(self) -> None:
        """End the servers; calling it twice is harmless."""
        ...


class NoMcpServers:
    """What a run has where none is configured."""

    def tools(self) -> tuple[McpTool, ...]:
        return ()

    def faults(self) -> tuple[str, ...]:
        return ()

    def call(self, action: CallMcpTool) -> McpResult | ErrorObservation:
        text = f"There is no MCP server {action.server!r}."
        return ErrorObservation(reason="unknown-tool", text=text)

    def close(self) -> None:
        pass


# An IPv4 address stands in each of these, and may be a private one: NAT64 and 6to4.
_TUNNELS = tuple(
    map(ip_network, ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32"))
)
_LOOPBACK_NAME = "localhost"


def may_reach(host: str, address: str, allowed: Collection[str]) -> bool:
    """Tell whether `host`, which has this address, may be called.

    The host must be listed. An address that is not public, such as that of a cloud's
    metadata or of a neighbour in the data centre, must be listed itself too: a name
    can be made to lead anywhere. Only `localhost` says where it leads.
    """
    if host not in allowed:
        return False
    found = _plain(ip_address(address.partition("%")[0]))
    if _is_public(found):
        return True
    if host == _LOOPBACK_NAME and found.is_loopback:
        return True
    return str(found) in {str(_plain(one)) for one in _addresses(allowed)}


def _is_public(found: IPv4Address | IPv6Address) -> bool:
    """Tell whether anybody may be there, and no cloud's metadata or neighbour."""
    if kind_of_host(str(found)) is HostKind.METADATA or found.is_multicast:
        return False
    is_tunnel = any(found in one for one in _TUNNELS if one.version == found.version)
    return found.is_global and not found.is_reserved and not is_tunnel


def _plain(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return the IPv4 address that an IPv6 one stands for, or the address itself."""
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped
    return address


def _addresses(allowed: Collection[str]) -> list[IPv4Address | IPv6Address]:
    found = []
    for host in allowed:
        try:
            found.append(ip_address(host.strip("[]")))
        except ValueError:
            continue
    return found


# https://platform.openai.com/docs/api-reference/chat/create and the others agree.
_MAX_NAME: Final = 64
_UNFIT: Final = re.compile(r"[^A-Za-z0-9_-]")
_DIGEST_CHARS: Final = 8


def tool_name(server: str, tool: str) -> str:
    """Return `SERVER__TOOL`; where that is no name, a likeness of it with a digest.

    It depends on nothing else, so that a run that is taken up again finds its tools.
    """
    plain = f"{server}__{tool}"
    fit = _UNFIT.sub("_", plain)
    if fit == plain and len(fit) <= _MAX_NAME:
        return fit
    digest = sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARS]
    return f"{fit[: _MAX_NAME - _DIGEST_CHARS - 1]}_{digest}"


MAX_SCHEMA_BYTES: Final = 20_000
MAX_DEPTH: Final = 24


class SchemaError(ValueError):
    """A schema cannot be shown to a model; the message says why."""


def read_tool_schema(schema: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return a schema as models get it, without characters that people do not see.

    Raises `SchemaError` for one that describes no object, or is absurdly large.
    """
    if schema.get("type", "object") != "object":
        raise SchemaError("its parameters are not an object")
    if not isinstance(schema.get("properties", {}), dict):
        raise SchemaError("its properties are not an object")
    fields = {key: _visible(value, MAX_DEPTH) for key, value in schema.items()}
    size = len(json.dumps(fields))
    if size > MAX_SCHEMA_BYTES:
        raise SchemaError(f"its schema has {size} bytes, and {MAX_SCHEMA_BYTES} may be")
    # It names the dialect, which some providers take for an unknown keyword.
    fields.pop("$schema", None)
    return {**fields, "type": "object", "properties": fields.get("properties", {})}


def _visible(value: JsonValue, depth: int) -> JsonValue:
    if depth == 0:
        raise SchemaError(f"its schema is nested more than {MAX_DEPTH} deep")
    if isinstance(value, str):
        return strip_invisible(value)[0]
    if isinstance(value, list):
        return [_visible(item, depth - 1) for item in value]
    if isinstance(value, dict):
        return {
            strip_invisible(key)[0]: _visible(item, depth - 1)
            for key, item in value.items()
        }
    return value


MAX_TOOLS: Final = 64
MAX_DESCRIPTION: Final = 1024
_MAX_SHOWN_NAME: Final = 80


class ListedTool(Value):
    """A tool as its server describes it: somebody else's words."""

    name: str
    description: str = ""
    parameters: dict[str, JsonValue]


class ToolOffer(Value):
    """What a server brings; `originals` has its own name for each tool's name."""

    tools: tuple[McpTool, ...] = ()
    originals: dict[str, str] = {}
    faults: tuple[str, ...] = ()


def make_tool_offer(
    server: str, listed: Sequence[ListedTool], wanted: Sequence[str]
) -> ToolOffer:
    """Return the tools to offer: those that are wanted, or all if none is named."""
    chosen = [tool for tool in listed if not wanted or tool.name in wanted]
    tools: dict[str, McpTool] = {}
    originals: dict[str, str] = {}
    faults = [*_missing(listed, wanted), *_too_many(chosen)]
    for tool in chosen[:MAX_TOOLS]:
        name = tool_name(server, tool.name)
        if name in tools:
            faults.append(f"it lists {_shown(tool.name)} twice; the first one counts")
            continue
        try:
            tools[name] = _as_offered(server, name, tool)
        except SchemaError as error:
            faults.append(f"its tool {_shown(tool.name)} is left out: {error}")
            continue
        originals[name] = tool.name
    return ToolOffer(
        tools=tuple(tools.values()), originals=originals, faults=tuple(faults)
    )


def _as_offered(server: str, name: str, tool: ListedTool) -> McpTool:
    description, _ = strip_invisible(tool.description)
    return McpTool(
        server=server,
        name=name,
        description=truncate_middle(description.strip(), MAX_DESCRIPTION),
        parameters=read_tool_schema(tool.parameters),
    )


def _missing(listed: Iterable[ListedTool], wanted: Iterable[str]) -> Iterator[str]:
    known = {tool.name for tool in listed}
    for name in wanted:
        if name not in known:
            there = ", ".join(sorted(map(_shown, known))[:MAX_TOOLS]) or "none"
            yield f"it has no tool {name!r}; it has: {there}"


def _too_many(chosen: Sequence[ListedTool]) -> Iterator[str]:
    if len(chosen) > MAX_TOOLS:
        yield (
            f"it has {len(chosen)} tools, and the first {MAX_TOOLS} are offered; name "
            "the useful ones in `tools`"
        )


def _shown(name: str) -> str:
    return repr(strip_invisible(name)[0][:_MAX_SHOWN_NAME])
