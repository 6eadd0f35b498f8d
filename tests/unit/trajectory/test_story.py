"""Events are folded into steps and remarks."""

import pytest

from patchwright.core.events.actions import ChangeState, RaiseLimits
from patchwright.core.events.observations import (
    BrowserOutput,
    CommandOutput,
    ConfirmationAsked,
    DelegateResult,
    ErrorObservation,
    FileContent,
    FileEdited,
    IpythonOutput,
    McpResult,
    ModelCalled,
    Null,
    Recalled,
    RequestBlocked,
    SearchResult,
    StateChanged,
    UserRejected,
)
from patchwright.core.events.payload import AgentState, Risk, Source
from patchwright.core.events.types import Known, Observation, Unknown
from patchwright.core.replay.story import (
    NO_RESULT_YET,
    Tone,
    first_line,
    note_phrase,
    observation_phrase,
    tell_story,
)
from patchwright.core.types.outcome_kind import OutcomeKind
from tests.unit.trajectory.recorded import START, asked, came, numbered, replied
from tests.unit.trajectory.recorded import whole_run as recorded_run

FINISH = "finish The pieces were ignored."


def test_steps_have_their_calls_with_what_came_of_them() -> None:
    story = tell_story(recorded_run())
    assert [
        (step.number, step.depth, [(act.text, act.result.text) for act in step.acts])
        for step in story.steps
    ] == [
        (1, 0, [("shell python3 -m unittest", "exit 1")]),
        (2, 0, [("delegate Find the callers.", "resolved after 1 step")]),
        (3, 1, [("shell grep -r total", "exit 0")]),
        (
            4,
            0,
            [("write cart.py", "+2 -1"), ("finish The pieces were ignored.", "")],
        ),
    ]
    assert story.outcome is not None


def test_a_call_that_never_ran_shows_why() -> None:
    refused = ErrorObservation(reason="not-run", text="No.\nNever.", call_id="shell-1")
    [step] = tell_story(
        numbered([asked(), replied("shell", cause=1), came(refused, 2)])
    ).steps
    [act] = step.acts
    assert (act.text, act.action_id) == ("shell", None)
    assert (act.result.text, act.result.tone) == ("No.", Tone.BAD)


def test_a_log_may_end_anywhere() -> None:
    events = recorded_run()
    for end in range(len(events)):
        story = tell_story(events[:end])
        assert story.outcome is None
    [step] = tell_story(events[:5]).steps
    assert step.acts[0].result == NO_RESULT_YET


SAID: list[tuple[Observation, str, Tone]] = [
    (CommandOutput(exit_code=None, output=""), "no exit code", Tone.BAD),
    (
        CommandOutput(exit_code=None, output="", still_running=True),
        "still running",
        Tone.OPEN,
    ),
    (IpythonOutput(output="", failed=True), "it raised", Tone.BAD),
    (IpythonOutput(output=""), "ran", Tone.GOOD),
    (FileContent(path="a", text="x\n"), "1 line", Tone.PLAIN),
    (FileEdited(path="a", diff=""), "no change", Tone.PLAIN),
    (SearchResult(text="", matches=2), "2 matches", Tone.PLAIN),
    (BrowserOutput(url="u", status=404, title="Gone"), "404 Gone", Tone.PLAIN),
    (McpResult(text="", failed=True), "it failed", Tone.BAD),
    (McpResult(text=""), "ok", Tone.GOOD),
    (Recalled(text="", sources=("a.md", "b.md")), "a.md, b.md", Tone.PLAIN),
    (Recalled(text=""), "nothing found", Tone.PLAIN),
    (UserRejected(text="Not this."), "rejected: Not this.", Tone.BAD),
    (Null(), "", Tone.PLAIN),
    (
        ErrorObservation(reason="proof-short", text="It was held back. Why.\n\nMore"),
        "It was held back. Why.",
        Tone.OPEN,
    ),
    (
        DelegateResult(outcome=OutcomeKind.STUCK, summary="", iterations=2),
        "stuck after 2 steps",
        Tone.PLAIN,
    ),
    (
        StateChanged(state=AgentState.RATE_LIMITED, reason="429", until=START),
        "rate-limited until 12:00:00 (429)",
        Tone.PLAIN,
    ),
    (StateChanged(state=AgentState.ERROR), "error", Tone.BAD),
]


@pytest.mark.parametrize(("result", "text", "tone"), SAID)
def test_results_in_a_few_words(result: Observation, text: str, tone: Tone) -> None:
    words = observation_phrase(result)
    assert (words.text, words.tone) == (text, tone)


REMARKS: list[tuple[Known | Unknown, str]] = [
    (ChangeState(state=AgentState.STOPPED, reason="alice"), "alice wants it stopped"),
    (ChangeState(state=AgentState.USER_CONFIRMED, reason="bob"), "bob approves"),
    (RaiseLimits(iterations=5, reason="bob"), "bob allows 5 steps more"),
    (RaiseLimits(cost_usd=1, iterations=2), "somebody allows 2 steps and $1.00 more"),
    (RaiseLimits(), "somebody allows nothing more"),
    (
        ConfirmationAsked(action={}, digest="d", risk=Risk.HIGH, why=("a", "b")),
        "asks before a high-risk action: a; b",
    ),
    (
        RequestBlocked(host="a.example", port=443, count=2, first_at=START),
        "no way out to a.example:443, 2 times",
    ),
    (
        RequestBlocked(host="a..b", port=0, count=1, first_at=START),
        "no way out to a..b",
    ),
    (ModelCalled(role="judge", failure="x"), "asked a model to judge: x"),
    (Unknown(kind="new_thing"), "new_thing: not known to this version"),
]


@pytest.mark.parametrize(("payload", "text"), REMARKS)
def test_remarks_in_a_few_words(payload: Known | Unknown, text: str) -> None:
    [event] = numbered([(Source.USER, payload, None)])  # type: ignore[list-item]
    words = note_phrase(event)
    assert words is not None
    assert words.text == text


def test_long_first_lines_are_cut() -> None:
    assert first_line("\n  x  \ny") == "x"
    assert len(first_line("y" * 500)) == 200
