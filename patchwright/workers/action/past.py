"""What an earlier run has left in the thread: all that another job can know of it."""

import re
from typing import Final

from patchwright.core.text.commands import Command, Verb
from patchwright.core.text.marks import Marked, split_marks
from patchwright.core.types.base import Value
from patchwright.core.types.threads import Post, Thread, ThreadRef
from patchwright.core.types.triggers import Trigger
from patchwright.core.types.work import Outcome, OutcomeKind
from patchwright.integrations.github.webhook import Listening
from patchwright.workers.action.seal import Seal
from patchwright.workers.store.cleaning import Redact, clean_text

# No start is tried twice, nor what is in another `<sub>`: thousands of them cost time.
_FOOTER: Final = re.compile(
    r"(?<!\n)\n*<sub>[^<]*(?:<(?!/?sub>)[^<]*)*</sub>\s*\Z", re.DOTALL
)
# Who the token of a job is: https://github.com/apps/github-actions
JOB_LOGIN: Final = "github-actions[bot]"
_KNOWN_BY: Final = (
    "A comment counts as ours if a job with the same secrets (`llm-api-key`) has "
    "signed it, and nobody has changed it since."
)
_NOTHING: Final = f"No run of ours can be found in this thread. {_KNOWN_BY}"
_LAST: Final = "This is what the last run has said:"
_NO_PLAN: Final = (
    f"There is no plan in this thread that waits for a yes or no. {_KNOWN_BY}"
)
_SLIGHT: Final = frozenset({OutcomeKind.ANSWERED, OutcomeKind.REFUSED})
_UNFINISHED: Final = frozenset({"queued", "running"})
_TOLD: Final = frozenset({Verb.STATUS, Verb.COST, Verb.WHY})


class Past(Value):
    """The newest run that has told its end: its id, how it ended, what it said."""

    run_id: str
    state: str
    words: str

    @property
    def has_plan(self) -> bool:
        return self.state == OutcomeKind.PLAN_POSTED


def find_past(
    thread: Thread, listening: Listening, seal: Seal | None, redact: Redact
) -> Past | None:
    """Read the newest run in our own status comments; those of others say nothing.

    What only answered or refused stands behind what did more. The first comment of a
    run is its own: whatever has the same signature later is a copy. Its words are
    cleaned of secrets once the signature has been read, which is over all of them.
    """
    by_run: dict[str, Past] = {}
    for post in thread.posts[1:]:
        told = _own_text(post, thread.ref, listening, seal)
        marked = _status_in(told) if told else Marked(text="")
        if marked.state:
            words = clean_text(redact, _FOOTER.sub("", marked.text))
            past = Past(run_id=marked.run_id, state=marked.state, words=words)
            by_run.setdefault(past.run_id, past)
    found = tuple(by_run.values())[::-1]
    runs = [one for one in found if one.state not in _SLIGHT]
    return next(iter((*runs, *found)), None)


def _own_text(
    post: Post, ref: ThreadRef, listening: Listening, seal: Seal | None
) -> str | None:
    """Return what we have written in a post, None if we have not.

    The name that all workflows write under says nothing.
    """
    if not listening.is_own(post.author.login):
        return None
    if seal is not None:
        return seal.verified_text(ref, post.text)
    return None if listening.is_own(JOB_LOGIN) else post.text


def _status_in(text: str) -> Marked:
    """Read a status comment: it ends with its mark, and has no other."""
    marked = split_marks(text)
    is_status = marked.marks and text.rstrip().endswith(marked.marks[-1])
    return marked if is_status and len(marked.marks) == 1 else Marked(text=text)


def carry_out(trigger: Trigger, past: Past) -> Trigger:
    """Return a yes to a plan as the request to carry it out."""
    request = (
        f"@{trigger.asker.login} has approved this plan of run {past.run_id[:8]}. "
        f"Carry it out:\n\n{past.words}"
    )
    return trigger.replace(request=request)


def answer_from(past: Past | None, command: Command, runs_url: str) -> Outcome | None:
    """Answer what is asked about earlier runs; None for what is no such question.

    What an earlier run has said is not called ours: its agent has had a part in it.
    """
    ours = _answer(past, command.verb, runs_url)
    if not ours:
        return None
    told = past.words if past and command.verb in _TOLD else ""
    return Outcome(
        kind=OutcomeKind.ANSWERED,
        reason=command.verb,
        summary=f"{ours}\n\n{told}" if told else ours,
        service_text=ours,
    )


def _answer(past: Past | None, verb: Verb, runs_url: str) -> str:
    if verb is Verb.STOP:
        return (
            f"{_at_work(past)} A run ends when its workflow run is cancelled: "
            f"{runs_url}"
        )
    if verb in (Verb.APPROVE, Verb.REJECT):
        return _about_plan(past, verb)
    if verb in _TOLD:
        return f"{_at_work(past)} {_NOTHING if past is None else _LAST}"
    return ""


def _at_work(past: Past | None) -> str:
    """Tell whether a run works meanwhile: such a command waits for none."""
    if past is None or past.state not in _UNFINISHED:
        return "Nothing runs in this thread now."
    return f"Run {past.run_id[:8]} has not told its end yet."


def _about_plan(past: Past | None, verb: Verb) -> str:
    if past is None or not past.has_plan:
        return _NO_PLAN
    if verb is Verb.APPROVE:
        return ""
    return f"The plan of run {past.run_id[:8]} is dropped; nothing was changed."
