"""Commands that do not end, and what lives on after them."""

import pytest

from patchwright.core.events.actions import ControlAct, ControlCommand
from patchwright.core.runtime import RuntimeFactory, SandboxSpec
from tests.adapters.sandbox.box import Box

# Images need not have `ps`.
COUNT_SLEEPERS = r"cat /proc/[0-9]*/cmdline | tr '\0' ' ' | grep -o '[s]leep 3' | wc -l"


def test_s50_an_endless_loop_returns_its_output_and_a_handle(box: Box) -> None:
    output = box.sh("while true; do echo .; sleep 0.05; done", timeout_s=1)
    assert (output.exit_code, output.still_running) == (None, True)
    assert output.output.startswith(".\n")
    assert output.note.startswith("Still running after 1")
    box.kill(output)


def test_s50_the_hard_limit_kills_and_says_so(
    factory: RuntimeFactory, spec: SandboxSpec
) -> None:
    runtime = factory.start(spec.replace(command_timeout_s=0.1))
    box = Box(runtime)
    running = box.sh("while true; do echo .; sleep 0.05; done")
    assert running.still_running
    ended = box.poll(running)
    assert (ended.exit_code, ended.still_running) == (None, False)
    assert ended.output.startswith(".\n")
    assert "Timed out after 1 s" in ended.note
    assert box.sh("echo next", timeout_s=5).output == "next\n"
    runtime.close()


def test_s52_a_silent_command_is_neither_ended_nor_disturbed(
    factory: RuntimeFactory, spec: SandboxSpec
) -> None:
    runtime = factory.start(spec.replace(command_timeout_s=0.3))
    box = Box(runtime)
    # Silent for longer than the usual limit, as a set-up script with its own may be.
    setup = box.sh("cat; sleep 0.9; exit 4", timeout_s=10)
    assert (setup.exit_code, setup.output, setup.still_running) == (4, "", False)
    silent = box.sh("sleep 1.2; echo whole; exit 5")
    assert silent.still_running
    assert "your command was not run" in box.sh("echo intruder").note
    ended = box.poll(silent)
    assert (ended.exit_code, ended.output) == (5, "whole\n")
    runtime.close()


def test_a_poll_returns_what_is_new(box: Box) -> None:
    running = box.sh("echo one; sleep 0.3; echo two; exit 6", timeout_s=0.1)
    assert running.output == "one\n"
    ended = box.poll(running)
    assert (ended.exit_code, ended.output) == (6, "two\n")


def test_a_busy_session_gives_the_handle_instead_of_an_error(box: Box) -> None:
    running = box.sh("sleep 30 # a while\ntrue", timeout_s=0.1)
    second = box.sh("touch /tmp/must-not-be")
    assert (second.still_running, second.handle) == (True, running.handle)
    assert second.note == (
        "The shell is busy with `sleep 30 # a while...`, and your command was not run:"
        " use `shell_control` with this handle to poll for its end, write to it, or"
        " kill it. Start a program with `&` if it runs beside others."
    )
    box.kill(running)
    assert box.sh("test -e /tmp/must-not-be").exit_code == 1


@pytest.mark.parametrize(
    "command",
    [
        "sleep 30",
        "while :; do :; done",
        "trap '' INT TERM; while :; do sleep 0.1; done",
        "bash -c \"trap '' TERM INT; sleep 31\" & wait",
        "setsid sleep 32 & wait",
        "sleep 33 | sleep 33",
    ],
)
def test_a_kill_ends_the_whole_group_quickly(box: Box, command: str) -> None:
    box.sh("cd /tmp; export WORD=kept")
    running = box.sh(command, timeout_s=0.2)
    killed = box.kill(running)
    assert (killed.exit_code, killed.still_running) == (None, False)
    assert killed.duration_ms < 4000
    assert "Killed, as asked" in killed.note
    assert box.sh("pwd; echo $WORD").output == "/tmp\nkept\n"
    assert box.sh(COUNT_SLEEPERS).output.strip() == "0"


def test_background_processes_live_on_and_are_listed(box: Box) -> None:
    started = box.sh("sleep 41 & echo $!")
    pid = started.output.strip()
    assert f"Running in the background: {pid} " in started.note
    box.kill(box.sh("sleep 42", timeout_s=0.1))
    box.sh("exit")
    assert box.sh(f"kill {pid}").exit_code == 0


def test_background_output_is_reported_with_the_next_command(box: Box) -> None:
    box.sh("(sleep 0.1; echo from behind) &")
    assert box.sh("sleep 0.3; echo in front").output == ("from behind\nin front\n")


def test_a_flood_in_the_background_does_not_hold_up_the_next_command(
    box: Box,
) -> None:
    box.sh("yes & echo $! > /tmp/flood")
    assert box.sh("true").exit_code == 0
    assert box.sh("kill $(cat /tmp/flood)").exit_code == 0


def test_interrupting_is_what_ctrl_c_does(box: Box) -> None:
    program = (
        "import time\ntry: print('ready', flush=True); time.sleep(30)\n"
        "except KeyboardInterrupt: print('ok')"
    )
    running = box.sh(f'python3 -c "{program}"', timeout_s=0.1)
    seen = running.output
    while "ready" not in seen:
        seen += box.poll(running, timeout_s=0.1).output
    assert box.write(running, "\x03").output == "ok\n"


def test_an_unknown_handle_is_an_error(box: Box) -> None:
    refused = box.refusal(ControlCommand(handle="x-1", act=ControlAct.POLL))
    assert refused.reason == "no-such-command"


def test_a_shell_that_became_another_program_costs_nothing(fresh: Box) -> None:
    running = fresh.sh("exec sleep 1", timeout_s=0.5)
    ticks = Box(fresh.runtime).sh("cut -d' ' -f14,15 /proc/1/stat").output.split()
    # Hundredths of a second, used since the start.
    assert sum(int(tick) for tick in ticks) < 25
    assert fresh.poll(running).exit_code == 0
