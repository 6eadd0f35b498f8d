"""The servers of one run."""

from collections.abc import Collection
from concurrent.futures import wait
from typing import Final

from patchwright.core.background import start_call
from patchwright.core.errors import RuntimeLostError
from patchwright.core.events.types import CallMcpTool, ErrorObservation, McpResult
from patchwright.core.mcp.servers import McpTool
from patchwright.core.runtime import Runtime
from patchwright.core.settings.mcp import McpServerSettings
from patchwright.integrations.mcp.http_link import HttpLink
from patchwright.integrations.mcp.link import ServerLink
from patchwright.integrations.mcp.loop import LoopThread
from patchwright.integrations.mcp.pipe_link import PipeLink
from patchwright.integrations.mcp.server import OpenLink, McpServer

# All of greeting and listing; a program may need a while to come up.
START_S: Final = 30.0
CLOSE_S: Final = 0.6


class RunningServers:
    """Starts all of them side by side, and waits until each has told its tools."""

    def __init__(
        self,
        configured: dict[str, McpServerSettings],
        runtime: Runtime,
        allowed: Collection[str],
        *,
        start_s: float = START_S,
    ) -> None:
        self._loop = LoopThread()
        self._servers: dict[str, McpServer] = {}
        try:
            for name, settings in configured.items():
                dial = _open_link(settings, runtime, allowed)
                self._servers[name] = McpServer(
                    name, settings, loop=self._loop, dial=dial, start_s=start_s
                )
        except RuntimeLostError:
            self.close()
            raise
        for started in [start_call(one.finish_start) for one in self._servers.values()]:
            started.result()

    def tools(self) -> tuple[McpTool, ...]:
        return tuple(t for server in self._servers.values() for t in server.tools)

    def faults(self) -> tuple[str, ...]:
        return tuple(f for server in self._servers.values() for f in server.faults)

    def call(self, action: CallMcpTool) -> McpResult | ErrorObservation:
        server = self._servers.get(action.server)
        if server is None:
            text = f"There is no MCP server {action.server!r}."
            return ErrorObservation(reason="unknown-tool", text=text)
        return server.call(action.tool, action.arguments)

    def close(self) -> None:
        endings = [start_call(server.close) for server in self._servers.values()]
        wait(endings, CLOSE_S)
        self._loop.close()


def _open_link(
    settings: McpServerSettings, runtime: Runtime, allowed: Collection[str]
) -> OpenLink:
    def in_sandbox() -> ServerLink:
        return PipeLink(runtime.open_pipe(_command(settings)))

    def over_http() -> ServerLink:
        return HttpLink(settings, allowed)

    return over_http if settings.url else in_sandbox


def _command(settings: McpServerSettings) -> tuple[str, ...]:
    """Return the command with its variables; a pipe has no other place for them."""
    if not settings.env:
        return settings.command
    variables = (f"{name}={value}" for name, value in settings.env.items())
    return ("env", *variables, *settings.command)
