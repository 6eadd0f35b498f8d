"""One command of a session, from its start to the last report on it."""

from __future__ import annotations

import time
from typing import Callable, NamedTuple

from patchwright.sandbox.action_server import hints
from patchwright.sandbox.action_server.event_loop import EventLoop, StdinFeed, Timer
from patchwright.sandbox.action_server.output import Output
from patchwright.sandbox.action_server.processes import list_pids
from patchwright.sandbox.action_server.protocol import Reply

SendReply = Callable[[Reply], None]
# Ends a running action; those who wait for it get an answer soon after.
Cancel = Callable[[], None]


class CommandRequest(NamedTuple):
    """What the host asks to run. `stdin_stays_open` lets it write more later."""

    command: str
    stdin: str
    stdin_stays_open: bool
    timeout_s: float


class CommandEnd(NamedTuple):
    """`exit_code` is None when we killed it."""

    exit_code: int | None
    cwd: str
    note: str
    duration_s: float


class RunningCommand:
    """Answers everybody who waits for it: at its end, or when their patience is."""

    def __init__(
        self, handle: str, order: CommandRequest, output: Output, loop: EventLoop
    ) -> None:
        self.handle = handle
        self.order = order
        self.output = output
        self.stdin: StdinFeed | None = None
        self.ending: CommandEnd | None = None
        self.is_reported = False
        # Whatever is older was left running on purpose, and survives a kill.
        self.older_pids = list_pids()
        self._loop = loop
        self._started = time.monotonic()
        self._waiting: list[tuple[SendReply, Timer]] = []

    def wait(self, answer: SendReply, timeout_s: float) -> None:
        if self.ending is not None:
            self._report_end([answer], self.ending)
            return
        timer = self._loop.after(timeout_s, lambda: self._time_out(answer))
        self._waiting.append((answer, timer))

    def stop_waiting(self, answer: SendReply) -> None:
        """Answer one of those who wait as if its patience had ended."""
        for waiting, timer in self._waiting:
            if waiting is answer:
                timer.cancel()
                self._time_out(answer)
                return

    def end(self, exit_code: int | None, cwd: str, note: str) -> None:
        self.ending = CommandEnd(exit_code, cwd, note, self.seconds())
        waiting, self._waiting = self._waiting, []
        for _, timer in waiting:
            timer.cancel()
        if waiting:
            self._report_end([answer for answer, _ in waiting], self.ending)

    def seconds(self) -> float:
        return time.monotonic() - self._started

    def report_running(self, note: str) -> Reply:
        report = self._report(None, note)
        return {**report, "still_running": True, "handle": self.handle}

    def _time_out(self, answer: SendReply) -> None:
        self._waiting = [item for item in self._waiting if item[0] is not answer]
        answer(self.report_running(hints.still_running(round(self.seconds(), 1))))

    def _report_end(self, answers: list[SendReply], ending: CommandEnd) -> None:
        self.is_reported = True
        report = self._report(ending.exit_code, ending.note)
        report["digest"] = self.output.digest
        duration_ms = round(ending.duration_s * 1000)
        for answer in answers:
            answer({**report, "cwd": ending.cwd, "duration_ms": duration_ms})
        self.output.close()

    def _report(self, exit_code: int | None, note: str) -> Reply:
        excerpt = self.output.take()
        return {
            "kind": "command_output",
            "exit_code": exit_code,
            "output": excerpt.text,
            "duration_ms": round(self.seconds() * 1000),
            "dropped_bytes": excerpt.dropped_bytes,
            "full_output_path": excerpt.full_path,
            "note": note,
        }
