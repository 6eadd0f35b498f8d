"""An action is called off while somebody waits for it."""

import time
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from patchwright.core.events.actions import (
    ControlAct,
    ControlCommand,
    RunCommand,
    SearchFiles,
)
from patchwright.core.events.observations import CommandOutput, ErrorObservation
from patchwright.core.events.types import SandboxAction, SandboxObservation
from tests.adapters.sandbox.box import IDS, Box

# Polls within a test; the server itself never waits like this.
PROMPTLY_S = 0.5


class Waiting:
    """An action that runs, and a thread that waits for it."""

    def __init__(self, box: Box, action: SandboxAction) -> None:
        self.id = IDS.new()
        self._runtime = box.runtime
        self._pool = ThreadPoolExecutor(1)
        self._future: Future[SandboxObservation] = self._pool.submit(
            box.runtime.run, action, self.id
        )

    def cancelled(self) -> SandboxObservation:
        """Return what came of it, once cancelled; that must not take long."""
        began = time.monotonic()
        self._runtime.cancel(self.id)
        result = self._future.result(10)
        assert time.monotonic() - began < PROMPTLY_S
        self._pool.shutdown()
        return result


def start(box: Box, command: str, proof: str) -> Waiting:
    """Start a command that is known to run once it has written its proof."""
    action = RunCommand(command=f"echo ok >{proof}; {command}", session=box.session)
    waiting = Waiting(box, action)
    wait_for(box, proof)
    return waiting


def wait_for(box: Box, proof: str) -> None:
    seen = Box(box.runtime).sh(f"until [ -s {proof} ]; do sleep 0.02; done")
    assert seen.exit_code == 0


@pytest.fixture
def proof(box: Box) -> str:
    return f"/tmp/{box.folder}"


def test_a_cancelled_command_returns_what_it_has_printed(box: Box, proof: str) -> None:
    box.sh("cd /tmp; export WORD=kept")
    output = start(box, "echo partial; sleep 600", proof).cancelled()
    assert isinstance(output, CommandOutput)
    assert (output.exit_code, output.still_running) == (None, False)
    assert output.output == "partial\n"
    assert output.note.startswith("Cancelled:")
    assert box.sh("pwd; echo $WORD").output == "/tmp\nkept\n"


@pytest.mark.parametrize(
    "command",
    [
        "trap '' INT TERM; while :; do sleep 0.1; done",
        "sh -c \"trap '' TERM INT; sleep 601\" & wait",
        "setsid sleep 602 & wait",
    ],
)
def test_a_child_that_ignores_signals_dies_too(
    box: Box, proof: str, command: str
) -> None:
    start(box, command, proof).cancelled()
    sleepers = r"cat /proc/[0-9]*/cmdline | tr '\0' ' ' | grep -o '[s]leep 60' | wc -l"
    assert box.sh(sleepers).output.strip() == "0"


def test_what_ran_in_the_background_before_lives_on(box: Box, proof: str) -> None:
    pid = box.sh("sleep 603 & echo $!").output.strip()
    start(box, "sleep 600", proof).cancelled()
    assert box.sh(f"kill {pid}").exit_code == 0


def test_the_result_of_a_cancelled_action_is_kept(box: Box, proof: str) -> None:
    waiting = start(box, "sleep 600", proof)
    result = waiting.cancelled()
    assert box.runtime.run(RunCommand(command="sleep 600"), waiting.id) == result


def test_a_kill_that_is_waited_for_can_be_hurried(box: Box, proof: str) -> None:
    stubborn = "trap '' INT TERM; while :; do sleep 0.1; done"
    running = box.sh(f"echo ok >{proof}; {stubborn}", timeout_s=0.1)
    kill = ControlCommand(handle=running.handle, act=ControlAct.KILL)
    waiting = Waiting(box, kill)
    ended = waiting.cancelled()
    assert isinstance(ended, CommandOutput)
    assert not ended.still_running


def test_a_cancelled_poll_returns_and_leaves_the_command(box: Box) -> None:
    running = box.sh("echo one; sleep 30", timeout_s=0.2)
    poll = ControlCommand(handle=running.handle, act=ControlAct.POLL, timeout_s=20)
    waiting = Waiting(box, poll)
    # The poll arrives before what is asked after it on the same line.
    Box(box.runtime).sh("sleep 0.2")
    polled = waiting.cancelled()
    assert isinstance(polled, CommandOutput)
    assert polled.still_running
    assert not box.kill(running).still_running


def test_a_cancelled_search_says_so(box: Box) -> None:
    path = box.put("long.txt", b"a" * 40 + b"!\n")
    waiting = Waiting(box, SearchFiles(pattern="(a+)+$", path=path))
    Box(box.runtime).sh("sleep 0.2")
    cancelled = waiting.cancelled()
    assert isinstance(cancelled, ErrorObservation)
    assert cancelled.reason == "called-off"


def test_an_unknown_or_ended_action_is_left_as_it_is(box: Box) -> None:
    action_id = IDS.new()
    box.runtime.cancel(action_id)
    action = RunCommand(command="echo done", session=box.session)
    first = box.runtime.run(action, action_id)
    box.runtime.cancel(action_id)
    assert box.runtime.run(action, action_id) == first
    assert isinstance(first, CommandOutput)
    assert first.output == "done\n"
