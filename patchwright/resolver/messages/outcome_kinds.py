"""How each kind of outcome shows: title, check, label, colour, advice, exit code."""

from typing import Final, Literal, assert_never

from patchwright.core.commands import Verb
from patchwright.core.forge import CheckState
from patchwright.core.types.base import Value
from patchwright.core.types.evidence import Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import CONTRADICTED, Outcome, WaitReason
from patchwright.resolver.messages.proof_words import level_title, level_words

ASK_AGAIN: Final = "ask again with `{handle}`."
StatusLabel = Literal["running", "waiting", "done", "failed"]
Tone = Literal["good", "plain", "open", "bad"]


class OutcomeDisplay(Value):
    """All that shows of one kind of outcome.

    `title` is what people read, `tone` its colour on the pages of runs. `check` is the
    conclusion of a check, before the proof is looked at. `label` follows the bot's own
    on the thread; None where the thread is as if nothing had been. `exit_code` is that
    of the command line. A run that `was_cut_short` did not come to its own end.
    `advice` is what the reader can do, if anything.
    """

    title: str
    tone: Tone
    check: CheckState
    label: StatusLabel | None
    exit_code: Literal[0, 1, 3]
    was_cut_short: bool = False
    advice: str = ""


def display_of(kind: OutcomeKind) -> OutcomeDisplay:  # noqa: C901, PLR0912 - an arm each
    match kind:
        case OutcomeKind.RESOLVED:
            return _RESOLVED
        case OutcomeKind.ANSWERED:
            return _ANSWERED
        case OutcomeKind.NO_CHANGE:
            return _NO_CHANGE
        case OutcomeKind.NEEDS_INPUT:
            return _NEEDS_INPUT
        case OutcomeKind.PLAN_POSTED:
            return _PLAN_POSTED
        case OutcomeKind.REFUSED:
            return _REFUSED
        case OutcomeKind.OVER_BUDGET:
            return _OVER_BUDGET
        case OutcomeKind.OVER_LIMIT:
            return _OVER_LIMIT
        case OutcomeKind.TIMED_OUT:
            return _TIMED_OUT
        case OutcomeKind.STUCK:
            return _STUCK
        case OutcomeKind.STOPPED:
            return _STOPPED
        case OutcomeKind.FAILED:
            return _FAILED
        case _:
            assert_never(kind)


def outcome_title(outcome: Outcome, *, is_draft: bool = False) -> str:
    """Return what people read of an outcome; a change never without its proof."""
    if is_contradicted(outcome):
        return level_title(Proof.CONTRADICTED)
    if is_paused(outcome):
        return "Paused"
    title = display_of(outcome.kind).title
    if outcome.kind is not OutcomeKind.RESOLVED:
        return title
    if outcome.proof is not Proof.PROVEN:
        title = "Draft" if is_draft else "Change made"
    return f"{title}, {level_words(outcome.proof)}"


def outcome_tone(outcome: Outcome) -> Tone:
    """Return the colour of an outcome; a change is green only with its proof."""
    if is_contradicted(outcome):
        return "bad"
    is_unproven = outcome.proof is not Proof.PROVEN
    if outcome.kind is OutcomeKind.RESOLVED and is_unproven:
        return "open"
    return display_of(outcome.kind).tone


def is_contradicted(outcome: Outcome) -> bool:
    """Tell whether a change is proposed that tests speak against."""
    in_doubt = outcome.proof is Proof.CONTRADICTED
    return outcome.reason == CONTRADICTED or (outcome.proposes_change and in_doubt)


def is_paused(outcome: Outcome) -> bool:
    return outcome.waits and outcome.wait_reason is WaitReason.PAUSED


def answers_command(outcome: Outcome) -> bool:
    """Tell whether it is the answer to a command that needed no run."""
    is_answer = outcome.kind is OutcomeKind.ANSWERED and not outcome.iterations
    return is_answer and outcome.reason in set(Verb)


def _cut_short(title: str, advice: str) -> OutcomeDisplay:
    """Return how an ending shows that the agent had no say in."""
    return OutcomeDisplay(
        title=title,
        tone="bad",
        check=CheckState.FAILURE,
        label="failed",
        exit_code=1,
        was_cut_short=True,
        advice=advice,
    )


_RESOLVED: Final = OutcomeDisplay(
    title="Done",
    tone="good",
    check=CheckState.SUCCESS,
    label="done",
    exit_code=0,
)
_ANSWERED: Final = OutcomeDisplay(
    title="Answered",
    tone="good",
    check=CheckState.SUCCESS,
    label="done",
    exit_code=0,
)
_NO_CHANGE: Final = OutcomeDisplay(
    title="No change",
    tone="plain",
    check=CheckState.NEUTRAL,
    label="done",
    exit_code=1,
)
_NEEDS_INPUT: Final = OutcomeDisplay(
    title="Needs you",
    tone="open",
    check=CheckState.ACTION_REQUIRED,
    label="waiting",
    exit_code=1,
    advice="Start your answer with `{handle}`.",
)
_PLAN_POSTED: Final = OutcomeDisplay(
    title="Plan",
    tone="open",
    check=CheckState.ACTION_REQUIRED,
    label="waiting",
    exit_code=0,
    advice="Reply `{handle} approve` to start, or `{handle}` and what to change.",
)
_REFUSED: Final = OutcomeDisplay(
    title="Declined",
    tone="bad",
    check=CheckState.NEUTRAL,
    label="failed",
    exit_code=1,
)
_OVER_BUDGET: Final = _cut_short(
    "Over budget",
    "Raise `limits.max_cost_usd`, which is {cost} now, or narrow the request, then "
    f"{ASK_AGAIN}",
)
_OVER_LIMIT: Final = _cut_short(
    "Over the limit",
    "Raise the limit, which is {steps} steps now, or narrow the request, then "
    f"{ASK_AGAIN}",
)
_TIMED_OUT: Final = _cut_short(
    "Timed out",
    "Raise `limits.timeout_minutes`, which is {minutes} now, or narrow the request, "
    f"then {ASK_AGAIN}",
)
_STUCK: Final = _cut_short(
    "Stuck", f"Add information that could help, then {ASK_AGAIN}"
)
_STOPPED: Final = OutcomeDisplay(
    title="Stopped",
    tone="plain",
    check=CheckState.CANCELLED,
    label=None,
    exit_code=1,
    was_cut_short=True,
    advice=f"To continue, {ASK_AGAIN}",
)
_FAILED: Final = OutcomeDisplay(
    title="Failed",
    tone="bad",
    check=CheckState.FAILURE,
    label="failed",
    exit_code=3,
    was_cut_short=True,
    advice="Once that is fixed, reply `{handle} retry`.",
)
