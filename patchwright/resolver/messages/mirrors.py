"""The short status of a run in the other threads of its conversation."""

from typing import Final

from patchwright.core.types.work import Outcome
from patchwright.resolver.messages.advice import next_step
from patchwright.resolver.messages.ending import NOTHING_KNOWN, headline
from patchwright.resolver.messages.facts import (
    cost,
    counted,
    duration,
    join,
    outcome_words,
)
from patchwright.resolver.messages.status import (
    Delivered,
    Frame,
    Progress,
    run_link,
    state_mark,
)

_MAX_WORDS_CHARS: Final = 8_000


def mirrored_progress(progress: Progress, frame: Frame) -> str:
    """Say how far it is; `frame` has the handle that is used in this thread."""
    limits = progress.allowed(frame.limits)
    has_begun = progress.iterations > 0
    head = _line(
        "**Queued**" if progress.state == "queued" else "**Working on it**",
        f"step {progress.iterations} of {limits.max_iterations}" if has_begun else "",
        duration(progress.seconds) if progress.seconds >= 1 else "",
        cost(progress.usage, limits) if has_begun else "",
        run_link(frame, "live log"),
        f"reply `{frame.handle} stop` to stop",
    )
    return join(head, _footer(frame), state_mark(progress.state, frame.run_id))


def mirrored_ending(
    outcome: Outcome,
    delivered: Delivered,
    frame: Frame,
    *,
    shows_words: bool,
    last: Progress = NOTHING_KNOWN,
) -> str:
    """Say how it ended, or that it waits for somebody.

    With `shows_words` the question or plan that it waits with is there as well, and
    can be answered here.
    """
    state = "waiting" if outcome.waits else outcome.kind
    return join(
        _ended(outcome, delivered, frame, last),
        _waits(outcome, delivered, frame, last) if shows_words else "",
        _ELSEWHERE if outcome.waits and not shows_words else "",
        _footer(frame),
        state_mark(state, frame.run_id),
    )


_ELSEWHERE: Final = (
    "It waits for an answer. The words are not shown here, as this thread is public: "
    "answer where it was asked for."
)


def _ended(outcome: Outcome, delivered: Delivered, frame: Frame, last: Progress) -> str:
    ran = outcome.iterations > 0
    # Its number is a link in one repository alone.
    without_number = delivered.replace(pull_request=None)
    return _line(
        headline(outcome, without_number),
        _pull_request(delivered),
        counted(outcome.iterations, "step") if ran else "",
        duration(outcome.seconds) if ran else "",
        cost(outcome.usage, last.allowed(frame.limits)) if ran else "",
        run_link(frame, "run"),
    )


def _pull_request(delivered: Delivered) -> str:
    if delivered.pull_request is None or delivered.refusal:
        return ""
    words = f"pull request #{delivered.pull_request}"
    draft = " (draft)" if delivered.draft else ""
    return f"[{words}]({delivered.pull_request_url}){draft}"


def _waits(outcome: Outcome, delivered: Delivered, frame: Frame, last: Progress) -> str:
    if not outcome.waits:
        return ""
    return join(
        outcome_words(outcome, frame.handle, _MAX_WORDS_CHARS, frame.links),
        next_step(outcome, delivered, frame.handle, last.allowed(frame.limits)),
    )


def _footer(frame: Frame) -> str:
    """Name the run, and nobody: who asked is known where they did."""
    return f"<sub>run {frame.run_id[:8]}</sub>"


def _line(*parts: str) -> str:
    return " · ".join(part for part in parts if part)
