"""How a run shows beside its comment: other threads, checks, labels and buttons."""

from datetime import datetime
from typing import Final, assert_never, get_args

from patchwright.core.channel import Offer, Offers
from patchwright.core.commands import Verb
from patchwright.core.forge import CheckReport, CheckState
from patchwright.core.text.strings import count_noun
from patchwright.core.types.base import Value
from patchwright.core.types.evidence import Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Outcome, WaitReason
from patchwright.resolver.messages.advice import choices, next_step
from patchwright.resolver.messages.elements import (
    cost_text,
    duration_text,
    join,
    outcome_text,
    raise_example,
)
from patchwright.resolver.messages.outcome_kinds import (
    StatusLabel,
    display_of,
    is_contradicted,
)
from patchwright.resolver.messages.result import (
    NO_PROGRESS,
    final_comment,
    headline_with_reason,
)
from patchwright.resolver.messages.status import (
    DeliveryResult,
    MessageHeader,
    Progress,
    run_link,
    state_mark,
)

_MAX_WORDS_CHARS: Final = 8_000


def cross_post_progress(progress: Progress, frame: MessageHeader) -> str:
    """Say how far it is; `frame` has the handle that is used in this thread."""
    limits = progress.allowed(frame.limits)
    has_begun = progress.iterations > 0
    head = _join_facts(
        "**Queued**" if progress.state == "queued" else "**Working on it**",
        f"step {progress.iterations} of {limits.max_iterations}" if has_begun else "",
        duration_text(progress.seconds) if progress.seconds >= 1 else "",
        cost_text(progress.usage, limits) if has_begun else "",
        run_link(frame, "live log"),
        f"reply `{frame.handle} stop` to stop",
    )
    return join(head, _footer(frame), state_mark(progress.state, frame.run_id))


def cross_post_result(
    outcome: Outcome,
    delivered: DeliveryResult,
    frame: MessageHeader,
    *,
    shows_words: bool,
    last: Progress = NO_PROGRESS,
) -> str:
    """Say how it ended, or that it waits for somebody.

    With `shows_words` the question or plan that it waits with is there as well, and
    can be answered here.
    """
    state = "waiting" if outcome.waits else outcome.kind
    return join(
        _result_line(outcome, delivered, frame, last),
        _question_text(outcome, delivered, frame, last) if shows_words else "",
        _ANSWER_NOT_SHOWN if outcome.waits and not shows_words else "",
        _footer(frame),
        state_mark(state, frame.run_id),
    )


_ANSWER_NOT_SHOWN: Final = (
    "The run waits for an answer. The question is not shown here, because this thread "
    "is public. Answer it in the thread of the request."
)


def _result_line(
    outcome: Outcome, delivered: DeliveryResult, frame: MessageHeader, last: Progress
) -> str:
    ran = outcome.iterations > 0
    return _join_facts(
        # A number alone is a link in one repository only.
        headline_with_reason(outcome, delivered, is_beside_code=False),
        "" if outcome.proposes_change else _pull_request(delivered),
        count_noun(outcome.iterations, "step") if ran else "",
        duration_text(outcome.seconds) if ran else "",
        cost_text(outcome.usage, last.allowed(frame.limits)) if ran else "",
        run_link(frame, "run"),
    )


def _pull_request(delivered: DeliveryResult) -> str:
    """Link the pull request of a run that has proposed no change of its own."""
    if delivered.pull_request is None or delivered.refusal:
        return ""
    words = f"{delivered.pull_request_kind.words} {delivered.pull_name}"
    draft = " (draft)" if delivered.draft else ""
    return f"[{words}]({delivered.pull_request_url}){draft}"


def _question_text(
    outcome: Outcome, delivered: DeliveryResult, frame: MessageHeader, last: Progress
) -> str:
    if not outcome.waits:
        return ""
    return join(
        outcome_text(outcome, frame.handle, _MAX_WORDS_CHARS, frame.links),
        next_step(
            outcome,
            delivered,
            frame.handle,
            last.allowed(frame.limits),
            reader=frame.reader,
        ),
    )


def _footer(frame: MessageHeader) -> str:
    """Name the run, and nobody: who asked is known where they did."""
    return f"<sub>run {frame.run_id[:8]}</sub>"


def _join_facts(*parts: str) -> str:
    return " · ".join(part for part in parts if part)


# Slack shows five buttons in a row.
_MOST_CHOICES: Final = 4
STOP: Final = Offer(words="Stop", command=Verb.STOP)
_RETRY: Final = Offer(words="Retry", command=Verb.RETRY)
_APPROVE: Final = Offer(words="Approve plan", command=Verb.APPROVE)
_CHANGE_PLAN: Final = Offer(
    words="Change", command=Verb.PLAN, asks="What should be different?"
)
_RESUME: Final = Offer(words="Resume", command=Verb.RESUME)
_YES: Final = Offer(words="Approve", command=Verb.APPROVE)
_NO: Final = Offer(words="Reject", command=Verb.REJECT)
_BY_ADMINS: Final = "US dollars to add (admins of the repository only)"


def offers_while_running(frame: MessageHeader, progress: Progress) -> Offers:
    """Return what can be done about a run that works.

    The example of an amount is one that people who may write may still add.
    """
    example = raise_example(frame.max_raise_usd, progress.more_cost_usd)
    asks = f"US dollars to add, as {example}" if example else _BY_ADMINS
    budget = Offer(
        words="Raise the budget", command=Verb.BUDGET, asks=asks, example=example
    )
    return (STOP, budget)


def offers_at_end(outcome: Outcome, delivered: DeliveryResult) -> Offers:
    """Return what can be done about how a run ended, or about what it waits for."""
    if outcome.kind is OutcomeKind.PLAN_POSTED:
        return (
            (_APPROVE, _CHANGE_PLAN, STOP)
            if outcome.waits
            else (_APPROVE, _CHANGE_PLAN)
        )
    if outcome.waits:
        return _while_waiting(outcome)
    if delivered.pull_request_url:
        return (Offer(words="Open pull request", url=delivered.pull_request_url),)
    return (_RETRY,) if display_of(outcome.kind).was_cut_short else ()


def _while_waiting(outcome: Outcome) -> Offers:
    reason = outcome.wait_reason
    match reason:
        case WaitReason.CONFIRMATION:
            return (_YES, _NO, STOP)
        case WaitReason.PAUSED:
            return (_RESUME, STOP)
        case WaitReason.QUESTION | WaitReason.PLAN:
            numbers = map(str, choices(outcome.summary)[:_MOST_CHOICES])
            return (*(Offer(words=one, command=one) for one in numbers), STOP)
        case _:
            assert_never(reason)


_WITHOUT_EMPHASIS: Final = str.maketrans("", "", "*`")


def check_at_start(frame: MessageHeader, at: datetime) -> CheckReport:
    return CheckReport(
        key=frame.run_id,
        title="Working on it",
        summary=f"Requested by {frame.requester}.",
        state=CheckState.IN_PROGRESS,
        url=frame.run_url,
        at=at,
    )


def check_at_end(
    outcome: Outcome, delivered: DeliveryResult, frame: MessageHeader, at: datetime
) -> CheckReport:
    """Say what the status comment says, where reviewers look first."""
    title = headline_with_reason(outcome, delivered).translate(_WITHOUT_EMPHASIS)
    # Whoever reads the repository need not know people of a chat.
    frame = frame.replace(shown_name="")
    return CheckReport(
        key=frame.run_id,
        title=title,
        summary=final_comment(outcome, delivered, frame),
        state=conclusion_of(outcome),
        url=frame.run_url,
        at=at,
    )


def conclusion_of(outcome: Outcome) -> CheckState:
    """Return how GitHub's list shows an outcome; only what is proven is green."""
    if outcome.waits:
        return CheckState.ACTION_REQUIRED
    if is_contradicted(outcome):
        return CheckState.FAILURE
    if outcome.kind is OutcomeKind.RESOLVED and outcome.proof is not Proof.PROVEN:
        return CheckState.NEUTRAL
    return display_of(outcome.kind).check


class LabelSwap(Value):
    """What is put on a thread, and what is taken off."""

    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()


def labels_at_start(label: str) -> LabelSwap:
    """Take off the label that asked, so that it can be put on again to ask again."""
    swap = _label_swap(label, "running")
    return LabelSwap(add=swap.add, remove=(label, *swap.remove))


def labels_at_end(label: str, outcome: Outcome) -> LabelSwap:
    """Say how it ended; what people have stopped is as if it had not been."""
    word = "waiting" if outcome.waits else display_of(outcome.kind).label
    return _label_swap(label, word)


def _label_swap(label: str, word: StatusLabel | None) -> LabelSwap:
    """Put one status label on, and the others off."""
    return LabelSwap(
        add=(f"{label}:{word}",) if word else (),
        remove=tuple(
            f"{label}:{other}" for other in get_args(StatusLabel) if other != word
        ),
    )
