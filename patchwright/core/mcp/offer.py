"""Decide which tools of a server are offered to the model."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from pydantic import JsonValue

from patchwright.core.mcp.names import tool_name
from patchwright.core.mcp.schemas import SchemaError, read_tool_schema
from patchwright.core.mcp.servers import McpTool
from patchwright.core.text.cut import truncate_middle
from patchwright.core.text.invisible import strip_invisible
from patchwright.core.types.base import Value

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
    return ToolOffer(tools=tuple(tools.values()), originals=originals, faults=tuple(faults))


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
