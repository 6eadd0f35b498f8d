"""How a proxy is started, and what the programs in its sandbox are told of it."""

import json
from collections.abc import Mapping
from typing import Final

from patchwright.core.runtime import SandboxSpec
from patchwright.sandbox.launch import PYTHON_OPTIONS

# In the sandbox, where nothing else listens when it starts.
PORT: Final = 3128
_URL: Final = f"http://127.0.0.1:{PORT}"
_OWN: Final = "localhost,127.0.0.1,::1,sandbox"
# Some programs know one spelling alone.
_NAMES: Final = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")

ENVIRONMENT: Final[Mapping[str, str]] = {
    **dict.fromkeys(_NAMES, _URL),
    **dict.fromkeys(("no_proxy", "NO_PROXY"), _OWN),
    # https://nodejs.org/api/cli.html#node_use_env_proxy1
    "NODE_USE_ENV_PROXY": "1",
}


def with_proxy(spec: SandboxSpec) -> SandboxSpec:
    """Return the sandbox whose programs know the proxy, if it is to have one."""
    if not spec.domains:
        return spec
    return spec.model_copy(
        update={"environment": {**ENVIRONMENT, **spec.environment}, "network": False}
    )


def command_line(
    python: str, archive: str, meeting: str, spec: SandboxSpec
) -> list[str]:
    """Return how to start a proxy that waits at `meeting` for its sandbox."""
    rules = [
        (domain.host, domain.port, domain.with_subdomains) for domain in spec.domains
    ]
    settings = {"meeting": meeting, "lifetime_s": spec.lifetime_s, "rules": rules}
    return [python, *PYTHON_OPTIONS, archive, json.dumps(settings)]
