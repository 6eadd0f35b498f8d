"""What an earlier run has left in the thread, in comments that are known as ours."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from patchwright.core.commands import BotCommand, TellLastRun, Verb, definition_of
from patchwright.core.text.escape import Marked, split_marks
from patchwright.core.types.base import Value
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.threads import Thread, ThreadPost, ThreadRef
from patchwright.core.types.triggers import Trigger
from patchwright.core.types.work import Outcome
from patchwright.resolver.run_store import Redact, clean_text

# No start is tried twice, also not inside another `<sub>`: thousands of them cost time.
_FOOTER: Final = re.compile(
    r"(?<!\n)\n*<sub>[^<]*(?:<(?!/?sub>)[^<]*)*</sub>\s*\Z", re.DOTALL
)
_NO_RUN: Final = "The bot finds no run of its own in this thread."
_LAST_SAID: Final = "The last run wrote:"
_NO_PLAN: Final = "No plan in this thread waits for an approval."
_MINOR_OUTCOMES: Final = frozenset({OutcomeKind.ANSWERED, OutcomeKind.REFUSED})
_UNFINISHED: Final = frozenset({"queued", "running"})


# Returns what we have written in a post of a thread, None if we have not.
OwnText = Callable[[ThreadRef, ThreadPost], str | None]


@dataclass(frozen=True)
class RunPlace:
    """Where runs are cancelled: what one is called, and where all are listed.

    `known_by` says how we know our own comments.
    """

    run: str
    url: str
    known_by: str


class PreviousRun(Value):
    """The newest run that has reported its end: its id, its outcome and its text."""

    run_id: str
    state: str
    words: str

    @property
    def has_plan(self) -> bool:
        return self.state == OutcomeKind.PLAN_POSTED


def find_previous_run(
    thread: Thread, own_text: OwnText, redact: Redact
) -> PreviousRun | None:
    """Read the newest run in our own status comments; those of others say nothing.

    What only answered or refused stands behind what did more. The first comment of a
    run is its own: whatever has the same signature later is a copy. Its words are
    cleaned of secrets once the signature has been read, which is over all of them.
    """
    by_run: dict[str, PreviousRun] = {}
    for post in thread.posts[1:]:
        text = own_text(thread.ref, post)
        marked = _status_in(text) if text else Marked(text="")
        if marked.state:
            words = clean_text(redact, _FOOTER.sub("", marked.text))
            previous = PreviousRun(
                run_id=marked.run_id, state=marked.state, words=words
            )
            by_run.setdefault(previous.run_id, previous)
    found = tuple(by_run.values())[::-1]
    runs = [one for one in found if one.state not in _MINOR_OUTCOMES]
    return next(iter((*runs, *found)), None)


def _status_in(text: str) -> Marked:
    """Read a status comment: it ends with its mark, and has no other."""
    marked = split_marks(text)
    is_status = marked.marks and text.rstrip().endswith(marked.marks[-1])
    return marked if is_status and len(marked.marks) == 1 else Marked(text=text)


def with_approved_plan(trigger: Trigger, previous: PreviousRun) -> Trigger:
    """Return a yes to a plan as the request to carry it out."""
    request = (
        f"@{trigger.asker.login} has approved this plan of run {previous.run_id[:8]}. "
        f"Carry it out:\n\n{previous.words}"
    )
    return trigger.replace(request=request)


def answer_about_previous_run(
    previous: PreviousRun | None, command: BotCommand, place: RunPlace
) -> Outcome | None:
    """Answer what is asked about earlier runs; None for what is no such question.

    What an earlier run has said is not called ours: its agent has had a part in it.
    """
    ours = _answer(previous, command.verb, place)
    if not ours:
        return None
    last_words = previous.words if previous and _asks_about_last(command.verb) else ""
    return Outcome(
        kind=OutcomeKind.ANSWERED,
        reason=command.verb,
        summary=f"{ours}\n\n{last_words}" if last_words else ours,
        service_text=ours,
    )


def _answer(previous: PreviousRun | None, verb: Verb, place: RunPlace) -> str:
    if verb is Verb.STOP:
        return (
            f"{_running_text(previous)} To stop a run, cancel its {place.run}: "
            f"{place.url}"
        )
    if verb in (Verb.APPROVE, Verb.REJECT):
        return _plan_text(previous, verb, place)
    if _asks_about_last(verb):
        lost = f"{_NO_RUN} {place.known_by}"
        return f"{_running_text(previous)} {lost if previous is None else _LAST_SAID}"
    return ""


def _asks_about_last(verb: Verb) -> bool:
    return isinstance(definition_of(verb).when_idle, TellLastRun)


def _running_text(previous: PreviousRun | None) -> str:
    """Tell whether a run works meanwhile: such a command waits for none."""
    if previous is None or previous.state not in _UNFINISHED:
        return "No run works in this thread now."
    return f"Run {previous.run_id[:8]} has not reported its result yet."


def _plan_text(previous: PreviousRun | None, verb: Verb, place: RunPlace) -> str:
    if previous is None or not previous.has_plan:
        return f"{_NO_PLAN} {place.known_by}"
    if verb is Verb.APPROVE:
        return ""
    return f"The plan of run {previous.run_id[:8]} is rejected; nothing was changed."
