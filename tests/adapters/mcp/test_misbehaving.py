"""Servers in the sandbox that break, hang, or say too much do not end the run."""

import threading
from concurrent.futures import Future
from pathlib import Path

import pytest

from patchwright.core.events.actions import RunCommand
from patchwright.core.events.observations import ErrorObservation, McpResult
from patchwright.core.runtime import Runtime, SandboxSpec
from patchwright.core.settings.mcp import McpServerSettings
from patchwright.core.system.clock import SystemClock, start_call
from patchwright.core.types.base import RandomIds
from patchwright.core.types.errors import RuntimeLostError
from patchwright.integrations.mcp import transports
from patchwright.integrations.mcp.servers import RunningServers
from patchwright.sandbox.local.runtimes import BubblewrapRuntimes
from tests.adapters.mcp.serving import (
    PROGRAM,
    call,
    error,
    names,
    program,
    result,
    running,
)
from tests.fakes.mcp import program as fake_program

CLOCK = SystemClock()


def forget_earlier_starts(sandbox: Runtime) -> None:
    sandbox.run(RunCommand(command="rm -f /tmp/fake-mcp-was-here"), RandomIds().new())


def test_a_server_that_ends_at_once_is_a_fault_with_its_last_words(
    sandbox: Runtime,
) -> None:
    with running(sandbox, fake=program("crash"), good=program()) as servers:
        [fault] = servers.faults()
        assert {tool.server for tool in servers.tools()} == {"good"}
    assert fault.startswith("MCP server fake: it offers nothing: ")
    assert fault.endswith("exit code 1. Its last words: no configuration found.")


def test_a_program_that_is_not_there_is_a_fault(sandbox: Runtime) -> None:
    table = {"command": ["no-such-program", "--stdio"]}
    with running(sandbox, fake=table) as servers:
        [fault] = servers.faults()
    assert fault.startswith("MCP server fake: it offers nothing: ")
    assert "no-such-program" in fault


def test_a_server_that_never_answers_is_given_up(sandbox: Runtime) -> None:
    before = CLOCK.monotonic()
    with running(sandbox, 1.0, fake=program("silent"), two=program("silent")) as opened:
        assert opened.faults() == (
            "MCP server fake: it offers nothing: it did not start in 1 s.",
            "MCP server two: it offers nothing: it did not start in 1 s.",
        )
    assert CLOCK.monotonic() - before < 3


def test_lines_that_are_no_messages_are_passed_over(sandbox: Runtime) -> None:
    with running(sandbox, fake=program("noisy")) as servers:
        assert servers.faults() == ()
        assert result(servers, "echo", text="heard").text == "heard"


def test_a_tool_that_hangs_is_given_up_and_the_server_lives(sandbox: Runtime) -> None:
    with running(sandbox, fake=program(timeout_seconds=0.5)) as servers:
        hung = error(servers, "hang")
        assert hung.reason == "mcp-timeout"
        assert hung.text == (
            "The MCP tool fake__hang failed: it did not answer in time."
        )
        assert result(servers, "echo", text="alive").text == "alive"


def test_a_server_that_dies_in_a_call_is_started_again_by_the_next(
    sandbox: Runtime,
) -> None:
    with running(sandbox, fake=program()) as servers:
        died = error(servers, "die")
        assert died.reason == "mcp-lost"
        assert died.text.startswith("The MCP server fake was lost (")
        assert "exit code 1. Its last words: the disk is full" in died.text
        assert died.text.endswith("The next call starts it again.")
        assert result(servers, "echo", text="back").text == "back"


def test_a_server_that_dies_again_and_again_is_left_alone(sandbox: Runtime) -> None:
    with running(sandbox, fake=program()) as servers:
        error(servers, "die")
        assert error(servers, "die").text.endswith("It stays stopped.")
        assert error(servers, "echo", text="hello").text == (
            "The MCP server fake cannot be started again (it was lost again and "
            "again), and fake__echo was not called. It stays stopped."
        )


def test_a_server_that_cannot_start_twice_says_so(sandbox: Runtime) -> None:
    forget_earlier_starts(sandbox)
    with running(sandbox, fake=program("once")) as servers:
        assert result(servers, "echo", text="first").text == "first"
        error(servers, "die")
        second = error(servers, "echo", text="second")
    assert second.reason == "mcp-lost"
    assert second.text.startswith("The MCP server fake cannot be started again (")
    assert "only once" in second.text


def test_an_answer_of_ten_megabytes_ends_the_server_and_not_the_run(
    sandbox: Runtime,
) -> None:
    with running(sandbox, fake=program()) as servers:
        huge = error(servers, "huge")
        assert "more than 4 MiB" in huge.text
        assert result(servers, "echo", text="back").text == "back"


def test_notices_are_passed_over(sandbox: Runtime) -> None:
    with running(sandbox, fake=program()) as servers:
        assert result(servers, "chatter").text == "done"


def test_a_flood_of_notices_ends_the_server(sandbox: Runtime) -> None:
    with running(sandbox, fake=program()) as servers:
        flooded = error(servers, "flood")
        assert f"it wrote {transports.MAX_LINES} unexpected lines" in flooded.text
        assert result(servers, "echo", text="back").text == "back"


def test_what_a_server_asks_of_the_client_is_declined(sandbox: Runtime) -> None:
    with running(sandbox, fake=program()) as servers:
        assert result(servers, "ask").text == (
            "Sampling not supported; Elicitation not supported; List roots not "
            "supported"
        )


def test_an_answer_of_no_known_form_is_an_error(sandbox: Runtime) -> None:
    with running(sandbox, fake=program()) as servers:
        assert error(servers, "wrong").reason == "mcp-bad-answer"


def test_a_schema_that_no_model_takes_leaves_its_tool_out(sandbox: Runtime) -> None:
    with running(sandbox, fake=program("large")) as servers:
        assert "fake__large" not in names(servers)
        assert "fake__echo" in names(servers)
        [fault] = servers.faults()
    assert fault.startswith("MCP server fake: its tool 'large' is left out: its schema")


def test_a_list_of_no_known_form_is_a_fault(sandbox: Runtime) -> None:
    with running(sandbox, fake=program("flat")) as servers:
        [fault] = servers.faults()
    assert fault == (
        "MCP server fake: it offers nothing: its answer does not have the form that "
        "the protocol demands."
    )


@pytest.mark.parametrize("habits", [(), ("silent",)])
def test_closing_does_not_wait_for_what_hangs(
    sandbox: Runtime, habits: tuple[str, ...]
) -> None:
    with running(sandbox, 0.5, fake=program(*habits), good=program()) as servers:
        hanging: Future[McpResult | ErrorObservation] = start_call(
            lambda: call(servers, "hang", "good")
        )
        assert result(servers, "echo", text="x") if not habits else True
        before = CLOCK.monotonic()
        servers.close()
        assert CLOCK.monotonic() - before < 1
        answer = hanging.result(5)
        assert isinstance(answer, ErrorObservation)
        assert answer.reason in {"mcp-closed", "mcp-lost"}
        assert call(servers, "echo", "good") == ErrorObservation(
            reason="mcp-closed",
            text="The MCP tool good__echo failed: the run has ended.",
        )


def test_nothing_of_it_stays_when_it_is_closed(sandbox: Runtime) -> None:
    before = set(threading.enumerate())
    with running(sandbox, fake=program()) as servers:
        assert result(servers, "echo", text="x").text == "x"
    for thread in set(threading.enumerate()) - before:
        thread.join(2)
    assert not [t for t in set(threading.enumerate()) - before if t.is_alive()]


def test_a_sandbox_that_is_gone_ends_the_run() -> None:
    runtime = BubblewrapRuntimes().start(SandboxSpec(run_id=RandomIds().new()))
    runtime.close()
    servers = {"fake": McpServerSettings.model_validate(program())}
    with pytest.raises(RuntimeLostError):
        RunningServers(servers, runtime, ())


def test_a_sandbox_that_goes_in_between_ends_the_run() -> None:
    runtime = BubblewrapRuntimes().start(SandboxSpec(run_id=RandomIds().new()))
    runtime.upload(PROGRAM, Path(fake_program.__file__).read_bytes())
    with running(runtime, fake=program()) as servers:
        hanging = start_call(lambda: error(servers, "hang"))
        runtime.close()
        assert hanging.result(5).reason == "mcp-lost"
        with pytest.raises(RuntimeLostError):
            call(servers, "echo")
