"""The MCP servers of one run: each started, asked, and started once more when lost."""

from collections.abc import Callable, Collection
from concurrent.futures import wait
from threading import Lock
from typing import Final

from mcp.types import Tool
from pydantic import JsonValue

from patchwright.core.events.actions import CallMcpTool
from patchwright.core.events.observations import ErrorObservation, McpResult
from patchwright.core.mcp import ListedTool, McpTool, ToolOffer, make_tool_offer
from patchwright.core.runtime import Runtime
from patchwright.core.settings.mcp import McpServerSettings
from patchwright.core.system.clock import start_call
from patchwright.core.types.errors import RuntimeLostError, SandboxError
from patchwright.integrations.mcp.session import (
    CallError,
    LoopThread,
    McpSession,
    ServerLink,
    ServerLostError,
    result_text,
)
from patchwright.integrations.mcp.transports import HttpLink, PipeLink

# A server that is lost this often without an answer in between stays lost.
MAX_LOSSES: Final = 2

OpenLink = Callable[[], ServerLink]


class McpServer:
    """Begins to start at once; `finish_start` waits for it."""

    def __init__(
        self,
        name: str,
        settings: McpServerSettings,
        *,
        loop: LoopThread,
        dial: OpenLink,
        start_s: float,
    ) -> None:
        self._name = name
        self._settings = settings
        self._loop = loop
        self._open_link = dial
        self._start_s = start_s
        self._lock = Lock()
        self._losses = 0
        self._session: McpSession | None = None
        self._offer = ToolOffer()
        self._fault = ""
        self._is_closed = False
        self._begin()

    @property
    def tools(self) -> tuple[McpTool, ...]:
        return self._offer.tools

    @property
    def faults(self) -> tuple[str, ...]:
        own = (self._fault,) if self._fault else ()
        lines = (*own, *self._offer.faults)
        return tuple(f"MCP server {self._name}: {line.rstrip('.')}." for line in lines)

    def finish_start(self) -> None:
        """Wait until the server has said what it offers, or note why it does not."""
        if self._session is None:
            return
        try:
            listed = self._session.wait_for_tools(self._start_s)
        except (CallError, ServerLostError) as error:
            self._fault = f"it offers nothing: {error}"
            self.close()
            return
        tools = [_listed_tool(tool) for tool in listed]
        self._offer = make_tool_offer(self._name, tools, self._settings.tools)

    def call(
        self, name: str, arguments: dict[str, JsonValue]
    ) -> McpResult | ErrorObservation:
        original = self._offer.originals.get(name)
        if original is None:
            text = f"The MCP server {self._name} has no tool {name!r}."
            return ErrorObservation(reason="unknown-tool", text=text)
        try:
            session = self._ready_session()
        except ServerLostError as error:
            return self._cannot_start(name, error)
        except CallError as error:
            return _failure(name, error)
        return self._call(session, name, original, arguments)

    def close(self) -> None:
        """End the server for good; calling it twice is harmless."""
        self._is_closed = True
        if self._session is not None:
            self._session.close()

    def _begin(self) -> None:
        try:
            self._session = McpSession(self._loop, self._open_link())
        except RuntimeLostError:
            raise
        except SandboxError as error:
            self._fault = f"it does not start: {error}"

    def _ready_session(self) -> McpSession:
        """Return the session, a new one if the server was lost."""
        with self._lock:
            if self._is_closed:
                raise CallError("mcp-closed", "the run has ended")
            if self._session is None or self._session.is_over:
                self._restart()
            if self._session is None:
                raise ServerLostError(self._fault)
            return self._session

    def _restart(self) -> None:
        if self._losses >= MAX_LOSSES:
            raise ServerLostError("it was lost again and again")
        if self._session is not None:
            self._session.close()
            self._session = None
        self._begin()
        if self._session is None:
            return
        try:
            self._session.wait_for_tools(self._start_s)
        except (CallError, ServerLostError) as error:
            self._session.close()
            self._session = None
            raise ServerLostError(str(error)) from error

    def _call(
        self,
        session: McpSession,
        name: str,
        original: str,
        arguments: dict[str, JsonValue],
    ) -> McpResult | ErrorObservation:
        try:
            result = session.call(original, arguments, self._settings.timeout_seconds)
        except CallError as error:
            return _failure(name, error)
        except ServerLostError as error:
            return self._lost(name, error)
        self._losses = 0
        return McpResult(text=result_text(result), failed=result.is_error)

    def _lost(self, name: str, error: ServerLostError) -> ErrorObservation:
        self._losses += 1
        words = f"The MCP server {self._name} was lost ({error}), and with it the call"
        text = f"{words} of {name}, which possibly had effects."
        return ErrorObservation(
            reason="mcp-lost", text=f"{text} {self._retry_advice()}"
        )

    def _cannot_start(self, name: str, error: ServerLostError) -> ErrorObservation:
        self._losses += 1
        words = f"The MCP server {self._name} cannot be started again ({error})"
        text = f"{words}, and {name} was not called. {self._retry_advice()}"
        return ErrorObservation(reason="mcp-lost", text=text)

    def _retry_advice(self) -> str:
        if self._losses < MAX_LOSSES:
            return "The next call starts it again."
        return "It stays stopped."


def _failure(name: str, error: CallError) -> ErrorObservation:
    text = f"The MCP tool {name} failed: {error}."
    return ErrorObservation(reason=error.reason, text=text)


def _listed_tool(tool: Tool) -> ListedTool:
    return ListedTool(
        name=tool.name,
        description=tool.description or tool.title or "",
        parameters=tool.input_schema,
    )


# All of greeting and listing; a program may need a while to come up.
START_S: Final = 30.0
CLOSE_S: Final = 0.6


class RunningServers:
    """Starts all of them in parallel, and waits until each has listed its tools."""

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
