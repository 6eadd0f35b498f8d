"""Words of the agent and of others are shown, and do not steer the terminal."""

import io
from datetime import UTC, datetime

import pytest
from rich.console import Console

from patchwright.core.events.actions import RunCommand
from patchwright.core.events.observations import ErrorObservation
from patchwright.core.events.payload import Source
from patchwright.core.events.types import AnyPayload, Event
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.errors import GitError
from patchwright.core.types.evidence import Evidence, EvidenceRole
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Limits, Outcome
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.progress import ProgressTracker
from patchwright.workers.cli.finished_run import FinishedRun
from patchwright.workers.cli.live import live_lines
from patchwright.workers.cli.report import print_result
from patchwright.workers.cli.terminal import print_error

# Fills the clipboard, clears the screen, goes up a line.
STEERING = "\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9b1A"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def terminal() -> Console:
    return Console(
        file=io.StringIO(), force_terminal=True, color_system=None, width=120
    )


def shown_on(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    for control in ("\x1b]", "\x1b[2J", "\x9b", "\x07"):
        assert control not in text
    return text


def test_the_result_is_shown_without_what_steers() -> None:
    console = terminal()
    proof = Evidence(
        role=EvidenceRole.AFTER,
        command=f"pytest {STEERING}",
        commit="a" * 40,
        exit_code=0,
        seconds=1.0,
        digest="",
    )
    outcome = Outcome(
        kind=OutcomeKind.RESOLVED,
        summary=f"Fixed {STEERING}",
        evidence=(proof,),
        warnings=(f"odd {STEERING}",),
    )
    print_result(console, FinishedRun(outcome, DeliveryResult(branch="fix")))
    text = shown_on(console)
    assert "Fixed" in text
    assert "pytest" in text


def test_an_error_is_told_without_what_steers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_error(GitError(f"remote: no {STEERING}"))
    told = capsys.readouterr().err
    assert "remote: no" in told
    assert "\x1b" not in told


def test_steps_are_shown_without_what_steers() -> None:
    console = terminal()
    payloads: tuple[tuple[Source, AnyPayload], ...] = (
        (Source.AGENT, RunCommand(command=f"echo {STEERING}")),
        (Source.ENVIRONMENT, ErrorObservation(reason="x", text=f"no {STEERING}")),
    )
    watch = ProgressTracker("local", NOW)
    with live_lines(console, watch, Limits(), SystemClock()) as show:
        for number, (source, payload) in enumerate(payloads, 1):
            show(Event(id=number, at=NOW, source=source, payload=payload))
    assert "echo" in shown_on(console)
