"""The short status of a run in the other threads of its conversation."""

from typing import Final

from patchwright.core.types.work import Outcome
from patchwright.resolver.messages.advice import next_step
from patchwright.resolver.messages.ending import NO_PROGRESS, headline
from patchwright.resolver.messages.facts import (
    cost_text,
    count_noun,
    duration_text,
    join,
    outcome_text,
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
    "It waits for an answer. The words are not shown here, as this thread is public: "
    "answer where it was asked for."
)


def _result_line(outcome: Outcome, delivered: DeliveryResult, frame: MessageHeader, last: Progress) -> str:
    ran = outcome.iterations > 0
    # Its number is a link in one repository alone.
    without_number = delivered.replace(pull_request=None)
    return _join_facts(
        headline(outcome, without_number),
        _pull_request(delivered),
        count_noun(outcome.iterations, "step") if ran else "",
        duration_text(outcome.seconds) if ran else "",
        cost_text(outcome.usage, last.allowed(frame.limits)) if ran else "",
        run_link(frame, "run"),
    )


def _pull_request(delivered: DeliveryResult) -> str:
    if delivered.pull_request is None or delivered.refusal:
        return ""
    words = f"pull request #{delivered.pull_request}"
    draft = " (draft)" if delivered.draft else ""
    return f"[{words}]({delivered.pull_request_url}){draft}"


def _question_text(outcome: Outcome, delivered: DeliveryResult, frame: MessageHeader, last: Progress) -> str:
    if not outcome.waits:
        return ""
    return join(
        outcome_text(outcome, frame.handle, _MAX_WORDS_CHARS, frame.links),
        next_step(outcome, delivered, frame.handle, last.allowed(frame.limits)),
    )


def _footer(frame: MessageHeader) -> str:
    """Name the run, and nobody: who asked is known where they did."""
    return f"<sub>run {frame.run_id[:8]}</sub>"


def _join_facts(*parts: str) -> str:
    return " · ".join(part for part in parts if part)
