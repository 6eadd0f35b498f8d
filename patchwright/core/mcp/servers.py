"""The protocol of the Model Context Protocol servers that a run may use."""

from typing import Protocol

from pydantic import JsonValue

from patchwright.core.events.types import CallMcpTool, ErrorObservation, McpResult
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
