"""Start what is configured, at no cost where nothing is."""

from patchwright.core.mcp import McpServers, NoMcpServers
from patchwright.core.runtime import Runtime
from patchwright.core.settings.loader import allowed_hosts
from patchwright.core.settings.model import Settings


def open_servers(settings: Settings, runtime: Runtime) -> McpServers:
    """Start the configured servers; `faults` of the result says which did not start.

    It takes as long as the slowest of them, up to half a minute. Raises
    `RuntimeLostError` when the sandbox is gone.
    """
    if not settings.mcp.servers:
        return NoMcpServers()
    from patchwright.integrations.mcp.servers import (  # noqa: PLC0415 - its library takes half a second to import
        RunningServers,
    )

    return RunningServers(settings.mcp.servers, runtime, allowed_hosts(settings))
