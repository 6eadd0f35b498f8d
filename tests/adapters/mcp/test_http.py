"""A server over HTTP is called by the service, with its token and nowhere else."""

from collections.abc import Iterator
from typing import Any

import pytest

from patchwright.core.events.observations import ErrorObservation
from patchwright.core.runtime import Runtime
from patchwright.core.settings.mcp import McpServerSettings
from patchwright.core.system.clock import SystemClock, start_call
from patchwright.integrations.mcp.servers import RunningServers
from tests.adapters.mcp.serving import call, error, names, result, running
from tests.fakes.mcp.web import TOKEN, FakeMcpServer

CLOCK = SystemClock()


@pytest.fixture
def server() -> Iterator[FakeMcpServer]:
    with FakeMcpServer() as running_server:
        yield running_server


def table(url: str, token: str = TOKEN, **settings: Any) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {token}"}
    return {"url": url, "headers": headers, "timeout_seconds": 20, **settings}


def test_its_tools_are_offered_and_called(
    sandbox: Runtime, server: FakeMcpServer
) -> None:
    with running(sandbox, fake=table(server.url())) as servers:
        assert servers.faults() == ()
        assert names(servers)[0] == "fake__echo"
        assert result(servers, "echo", text="grüße").text == "grüße"
        assert server.state.ended == []
    assert len(server.state.ended) == 1


def test_a_wrong_token_is_a_fault_that_says_so(
    sandbox: Runtime, server: FakeMcpServer
) -> None:
    with running(sandbox, fake=table(server.url(), token="wrong")) as servers:
        [fault] = servers.faults()
    assert "401 Unauthorized" in fault
    assert "wrong" not in fault
    assert server.state.heard == []


def test_a_server_that_is_broken_is_a_fault(
    sandbox: Runtime, server: FakeMcpServer
) -> None:
    with running(sandbox, fake=table(server.url("/broken"))) as servers:
        [fault] = servers.faults()
    assert "500 Internal Server Error" in fault


def test_an_address_where_nobody_listens_is_a_fault(
    sandbox: Runtime, server: FakeMcpServer
) -> None:
    server.state.closing.set()
    with running(sandbox, fake=table("http://127.0.0.1:1/mcp")) as servers:
        [fault] = servers.faults()
    assert fault.startswith("MCP server fake: it offers nothing: ")
    assert "connect" in fault.lower()


def test_a_redirect_to_another_server_is_not_followed(
    sandbox: Runtime, server: FakeMcpServer
) -> None:
    with FakeMcpServer() as other:
        server.state.elsewhere = other.url()
        with running(sandbox, fake=table(server.url("/elsewhere"))) as servers:
            [fault] = servers.faults()
        assert other.state.heard == []
    assert f"Redirect to {other.url()} not followed" in fault


def test_a_redirect_on_the_same_server_is_followed(
    sandbox: Runtime, server: FakeMcpServer
) -> None:
    with running(sandbox, fake=table(server.url("/moved"))) as servers:
        assert result(servers, "echo", text="here").text == "here"


def test_a_tool_that_hangs_is_given_up_and_the_session_lives(
    sandbox: Runtime, server: FakeMcpServer
) -> None:
    with running(sandbox, fake=table(server.url(), timeout_seconds=0.5)) as servers:
        assert error(servers, "hang").reason == "mcp-timeout"
        assert result(servers, "echo", text="alive").text == "alive"


@pytest.mark.parametrize("tool", ["huge", "flood"])
def test_an_answer_that_does_not_end_is_cut_off(
    sandbox: Runtime, server: FakeMcpServer, tool: str
) -> None:
    with running(sandbox, fake=table(server.url())) as servers:
        end_early = error(servers, tool)
        assert end_early.reason == "mcp-lost"
        assert "its answer is larger than 8 MiB" in end_early.text
        assert result(servers, "echo", text="back").text == "back"


def test_a_compressed_answer_is_refused(
    sandbox: Runtime, server: FakeMcpServer
) -> None:
    with running(sandbox, fake=table(server.url())) as servers:
        assert "it compresses its answers" in error(servers, "zipped").text


def test_a_session_that_the_server_forgot_is_begun_anew(
    sandbox: Runtime, server: FakeMcpServer
) -> None:
    with running(sandbox, fake=table(server.url())) as servers:
        assert result(servers, "forget").text == "forgotten"
        assert "it has forgotten the session" in error(servers, "echo", text="x").text
        assert result(servers, "echo", text="anew").text == "anew"


def test_a_host_that_is_not_allowed_is_not_called(
    sandbox: Runtime, server: FakeMcpServer
) -> None:
    configured = {"fake": McpServerSettings.model_validate(table(server.url()))}
    servers = RunningServers(configured, sandbox, {"tools.example"})
    servers.close()
    [fault] = servers.faults()
    assert "127.0.0.1 has the address 127.0.0.1, which is not public" in fault
    assert server.state.heard == []


def test_closing_does_not_wait_for_what_hangs(
    sandbox: Runtime, server: FakeMcpServer
) -> None:
    with running(sandbox, fake=table(server.url())) as servers:
        hanging = start_call(lambda: call(servers, "hang"))
        assert result(servers, "echo", text="x").text == "x"
        before = CLOCK.monotonic()
        servers.close()
        assert CLOCK.monotonic() - before < 1
        answer = hanging.result(5)
    assert isinstance(answer, ErrorObservation)
    assert answer.reason in {"mcp-closed", "mcp-lost"}
