"""How a proxy is started, and what the programs in its sandbox are told of it."""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from ipaddress import IPv6Address
from pathlib import Path
from typing import Final

from patchwright.core.runtime import SandboxSpec
from patchwright.sandbox.launch import PYTHON_OPTIONS

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
