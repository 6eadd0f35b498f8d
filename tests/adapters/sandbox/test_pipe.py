"""Programs that the host speaks to line by line."""

import time

import pytest

from patchwright.core.types.errors import SandboxError
from tests.adapters.sandbox.box import Box

SOON_S = 10.0


def test_lines_go_in_and_come_out(box: Box) -> None:
    pipe = box.runtime.open_pipe(["cat"])
    pipe.write('{"one": 1}')
    pipe.write("zwei ä")
    assert pipe.read(SOON_S) == '{"one": 1}'
    assert pipe.read(SOON_S) == "zwei ä"
    assert pipe.read(0.05) is None
    pipe.close()
    pipe.close()


def test_large_lines_arrive_whole(box: Box) -> None:
    pipe = box.runtime.open_pipe(["cat"])
    line = "0123456789ä" * 300_000
    pipe.write(line)
    assert pipe.read(SOON_S) == line
    pipe.close()


def test_a_line_that_is_too_large_ends_the_program(box: Box) -> None:
    pipe = box.runtime.open_pipe(["sh", "-c", "yes x | tr -d '\\n'"])
    with pytest.raises(SandboxError, match="a line of more than 4 MiB"):
        pipe.read(SOON_S)
    pipe.close()


def test_it_runs_in_the_repository_with_the_agents_environment(box: Box) -> None:
    pipe = box.runtime.open_pipe(["sh", "-c", "pwd; echo $HOME $PAGER; echo $0", "a b"])
    assert [pipe.read(SOON_S) for _ in range(3)] == [
        "/workspace/repo",
        "/workspace/home cat",
        "a b",
    ]
    pipe.close()


def test_its_end_is_reported_with_its_last_words(box: Box) -> None:
    script = "echo first; printf rest; echo 'no token' >&2; exit 3"
    pipe = box.runtime.open_pipe(["sh", "-c", script])
    assert (pipe.read(SOON_S), pipe.read(SOON_S)) == ("first", "rest")
    ended = r"the program has ended: exit code 3\. Its last words: no token"
    with pytest.raises(SandboxError, match=ended):
        pipe.read(SOON_S)
    with pytest.raises(SandboxError, match=ended):
        pipe.write("x")
    pipe.close()


def test_a_program_that_is_not_there_says_so(box: Box) -> None:
    pipe = box.runtime.open_pipe(["no-such-program"])
    with pytest.raises(SandboxError, match="no-such-program: not found"):
        pipe.read(SOON_S)
    pipe.close()


def test_a_reader_that_waits_keeps_nobody_else_waiting(box: Box) -> None:
    pipe = box.runtime.open_pipe(["sh", "-c", "until [ -e here ]; do :; done; echo go"])
    assert pipe.read(0.05) is None
    assert box.sh("echo quick; touch /workspace/repo/here").output == "quick\n"
    assert pipe.read(SOON_S) == "go"
    box.sh("rm /workspace/repo/here")
    pipe.close()


def test_closing_ends_all_its_processes(box: Box) -> None:
    stubborn = "trap '' INT TERM; sleep 81 & (setsid sleep 82 &) ; echo up; wait"
    pipe = box.runtime.open_pipe(["sh", "-c", f"{stubborn}; while :; do wait; done"])
    assert pipe.read(SOON_S) == "up"
    began = time.monotonic()
    pipe.close()
    assert time.monotonic() - began < SOON_S
    left = r"cat /proc/[0-9]*/cmdline | tr '\0' ' ' | grep -c '[s]leep 81'"
    assert box.sh(left).output.strip() == "0"
    with pytest.raises(SandboxError, match="no program runs"):
        pipe.read(0)


def test_a_program_that_writes_without_end_is_held_up(fresh: Box) -> None:
    pipe = fresh.runtime.open_pipe(["yes", "x" * 1000])
    assert pipe.read(SOON_S) == "x" * 1000
    fresh.sh("sleep 0.5")
    peak = int(fresh.sh("grep VmHWM /proc/1/status").output.split()[1])
    assert peak < 80_000
    assert pipe.read(SOON_S) == "x" * 1000
    pipe.close()


def test_what_is_no_command_is_refused(box: Box) -> None:
    with pytest.raises(SandboxError, match="must name a program"):
        box.runtime.open_pipe([])
