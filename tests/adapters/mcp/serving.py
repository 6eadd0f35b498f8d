"""Short words for what tests do with servers."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from patchwright.core.events.actions import CallMcpTool
from patchwright.core.events.observations import ErrorObservation, McpResult
from patchwright.core.runtime import Runtime
from patchwright.core.settings.mcp import McpServerSettings
from patchwright.integrations.mcp.servers import RunningServers

PROGRAM = "/workspace/fake_mcp.py"
LOOPBACK = frozenset({"127.0.0.1"})


@contextmanager
def running(
    runtime: Runtime, start_s: float = 20, **servers: dict[str, Any]
) -> Iterator[RunningServers]:
    configured = {
        name: McpServerSettings.model_validate(table) for name, table in servers.items()
    }
    opened = RunningServers(configured, runtime, LOOPBACK, start_s=start_s)
    try:
        yield opened
    finally:
        opened.close()


def program(*habits: str, **settings: Any) -> dict[str, Any]:
    """Return the table of a fake server that runs in the sandbox."""
    command = ("python3", PROGRAM, *habits)
    return {"command": command, "timeout_seconds": 20, **settings}


def names(servers: RunningServers) -> list[str]:
    return [tool.name for tool in servers.tools()]


def call(
    servers: RunningServers, tool: str, server: str = "fake", **arguments: Any
) -> McpResult | ErrorObservation:
    name = f"{server}__{tool}"
    action = CallMcpTool(server=server, tool=name, arguments=arguments)
    return servers.call(action)


def result(servers: RunningServers, tool: str, **arguments: Any) -> McpResult:
    answer = call(servers, tool, **arguments)
    assert isinstance(answer, McpResult), answer
    return answer


def error(servers: RunningServers, tool: str, **arguments: Any) -> ErrorObservation:
    answer = call(servers, tool, **arguments)
    assert isinstance(answer, ErrorObservation), answer
    return answer
