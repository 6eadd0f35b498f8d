"""The proxy of a sandbox as the host sees it: how it is started, what it refused."""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from ipaddress import IPv6Address
from itertools import count
from pathlib import Path
from typing import Final

import structlog
from pydantic import BaseModel, JsonValue

from patchwright.core.events.observations import RequestBlocked
from patchwright.core.runtime import SandboxSpec
from patchwright.core.types.base import RandomIds
from patchwright.core.types.errors import RuntimeLostError, SandboxError
from patchwright.sandbox.host.bootstrap import PYTHON_OPTIONS
from patchwright.sandbox.host.server_connection import ServerConnection

# In the sandbox, where nothing else listens when it starts.
PORT: Final = 3128
_URL: Final = f"http://127.0.0.1:{PORT}"
_OWN: Final = "localhost,127.0.0.1,::1,sandbox"
# Some programs know one spelling alone.
# A leaf of the kernel's tree of routes that is an address of the machine's own.
_LOCAL_IPV4: Final = re.compile(r"\|-- ([0-9.]+)\n\s+/32 host LOCAL")
_NAMES: Final = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")

ENVIRONMENT: Final[Mapping[str, str]] = {
    **dict.fromkeys(_NAMES, _URL),
    **dict.fromkeys(("no_proxy", "NO_PROXY"), _OWN),
    # https://nodejs.org/api/cli.html#node_use_env_proxy1
    "NODE_USE_ENV_PROXY": "1",
}


def with_proxy(spec: SandboxSpec) -> SandboxSpec:
    """Return the sandbox whose programs know the proxy, if it is to have one."""
    if not spec.has_network_access:
        return spec
    return spec.replace(environment={**ENVIRONMENT, **spec.environment}, network=False)


def command_line(
    python: str, archive: str, meeting: str, spec: SandboxSpec
) -> list[str]:
    """Return how to start a proxy that waits at `meeting` for its sandbox."""
    rules = [
        (domain.host, domain.port, domain.with_subdomains) for domain in spec.domains
    ]
    settings = {
        "meeting": meeting,
        "lifetime_s": spec.lifetime_s,
        "rules": rules,
        "opens_public": spec.network,
        "own": sorted(own_addresses()),
    }
    return [python, *PYTHON_OPTIONS, archive, json.dumps(settings)]


def own_addresses() -> frozenset[str]:
    """Return this machine's addresses, public ones too: its services listen there."""
    found = {*_LOCAL_IPV4.findall(_read("/proc/net/fib_trie"))}
    for line in _read("/proc/net/if_inet6").splitlines():
        found.add(str(IPv6Address(int(line.split()[0], 16))))
    return frozenset(found)


def _read(path: str) -> str:
    """Return a table of the kernel; a machine without IPv6 has none for that."""
    with suppress(FileNotFoundError):
        return Path(path).read_text("ascii")
    return ""


START_S: Final = 30.0
ANSWER_S: Final = 5.0

log = structlog.get_logger()


class _RefusedRequest(BaseModel):
    """An entry of the proxy's list; `first_at` is in seconds since 1970."""

    host: str
    port: int
    count: int
    first_at: float
    why: str


class Gateway:
    """`meeting` is where the proxy waits for its sandbox, seen from inside that.

    Several workers may have the same proxy at the same time.
    """

    def __init__(self, connection: ServerConnection, meeting: str, role: str) -> None:
        self.meeting = meeting
        self._connection = connection
        self._role = role
        self._host = RandomIds().new()[:16]
        self._numbers = count(1)

    def greet(self) -> None:
        """Wait until the proxy answers; raise `SandboxError` if it does not."""
        try:
            self._refused(START_S)
        except RuntimeLostError as error:
            text = f"the proxy of the sandbox does not answer: {error}"
            raise SandboxError(text) from error

    def blocked(self) -> tuple[RequestBlocked, ...]:
        """Return what was refused so far; of a proxy that is gone nothing is known."""
        try:
            refused = self._refused(ANSWER_S)
        except RuntimeLostError as error:
            log.warning("blocked_requests_unknown", reason=str(error))
            return ()
        return tuple(_record(one, self._role) for one in refused)

    def close(self) -> None:
        """Disconnect from the proxy, which keeps running."""
        self._connection.close()

    def _refused(self, timeout_s: float) -> list[_RefusedRequest]:
        name = f"{self._host}-{next(self._numbers)}"
        answer = self._connection.ask({"id": name}, timeout_s)
        entries: JsonValue = answer.get("refused")
        return [
            _RefusedRequest.model_validate(entry)
            for entry in (entries if isinstance(entries, list) else ())
        ]


def _record(refused: _RefusedRequest, role: str) -> RequestBlocked:
    return RequestBlocked(
        host=refused.host,
        port=refused.port,
        count=refused.count,
        first_at=datetime.fromtimestamp(refused.first_at, UTC),
        role=role,
        why=refused.why,
    )
