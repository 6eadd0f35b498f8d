"""What an earlier run has left in the thread: all that another job can know of it."""

import re
from typing import Final

from patchwright.core.text.commands import BotCommand, Verb
from patchwright.core.text.marks import Marked, split_marks
from patchwright.core.types.base import Value
from patchwright.core.types.threads import ThreadPost, Thread, ThreadRef
from patchwright.core.types.triggers import Trigger
from patchwright.core.types.work import Outcome, OutcomeKind
from patchwright.integrations.github.webhook import GitHubTriggerRules
from patchwright.workers.action.seal import CommentSigner
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
_NO_RUN: Final = f"No run of ours can be found in this thread. {_KNOWN_BY}"
_LAST_SAID: Final = "This is what the last run has said:"
_NO_PLAN: Final = (
    f"There is no plan in this thread that waits for a yes or no. {_KNOWN_BY}"
)
_MINOR_OUTCOMES: Final = frozenset({OutcomeKind.ANSWERED, OutcomeKind.REFUSED})
_UNFINISHED: Final = frozenset({"queued", "running"})
_STATUS_VERBS: Final = frozenset({Verb.STATUS, Verb.COST, Verb.WHY})


class PreviousRun(Value):
    """The newest run that has told its end: its id, how it ended, what it said."""

    run_id: str
    state: str
    words: str

    @property
    def has_plan(self) -> bool:
        return self.state == OutcomeKind.PLAN_POSTED


def find_previous_run(
    thread: Thread, listening: GitHubTriggerRules, seal: CommentSigner | None, redact: Redact
) -> PreviousRun | None:
    """Read the newest run in our own status comments; those of others say nothing.

    What only answered or refused stands behind what did more. The first comment of a
    run is its own: whatever has the same signature later is a copy. Its words are
    cleaned of secrets once the signature has been read, which is over all of them.
    """
    by_run: dict[str, PreviousRun] = {}
    for post in thread.posts[1:]:
        told = _verified_text(post, thread.ref, listening, seal)
        marked = _status_in(told) if told else Marked(text="")
        if marked.state:
            words = clean_text(redact, _FOOTER.sub("", marked.text))
            previous = PreviousRun(run_id=marked.run_id, state=marked.state, words=words)
            by_run.setdefault(previous.run_id, previous)
    found = tuple(by_run.values())[::-1]
    runs = [one for one in found if one.state not in _MINOR_OUTCOMES]
    return next(iter((*runs, *found)), None)


def _verified_text(
    post: ThreadPost, ref: ThreadRef, listening: GitHubTriggerRules, seal: CommentSigner | None
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


def with_approved_plan(trigger: Trigger, previous: PreviousRun) -> Trigger:
    """Return a yes to a plan as the request to carry it out."""
    request = (
        f"@{trigger.asker.login} has approved this plan of run {previous.run_id[:8]}. "
        f"Carry it out:\n\n{previous.words}"
    )
    return trigger.replace(request=request)


def answer_about_previous_run(previous: PreviousRun | None, command: BotCommand, runs_url: str) -> Outcome | None:
    """Answer what is asked about earlier runs; None for what is no such question.

    What an earlier run has said is not called ours: its agent has had a part in it.
    """
    ours = _answer(previous, command.verb, runs_url)
    if not ours:
        return None
    told = previous.words if previous and command.verb in _STATUS_VERBS else ""
    return Outcome(
        kind=OutcomeKind.ANSWERED,
        reason=command.verb,
        summary=f"{ours}\n\n{told}" if told else ours,
        service_text=ours,
    )


def _answer(previous: PreviousRun | None, verb: Verb, runs_url: str) -> str:
    if verb is Verb.STOP:
        return (
            f"{_running_text(previous)} A run ends when its workflow run is cancelled: "
            f"{runs_url}"
        )
    if verb in (Verb.APPROVE, Verb.REJECT):
        return _plan_text(previous, verb)
    if verb in _STATUS_VERBS:
        return f"{_running_text(previous)} {_NO_RUN if previous is None else _LAST_SAID}"
    return ""


def _running_text(previous: PreviousRun | None) -> str:
    """Tell whether a run works meanwhile: such a command waits for none."""
    if previous is None or previous.state not in _UNFINISHED:
        return "Nothing runs in this thread now."
    return f"Run {previous.run_id[:8]} has not told its end yet."


def _plan_text(previous: PreviousRun | None, verb: Verb) -> str:
    if previous is None or not previous.has_plan:
        return _NO_PLAN
    if verb is Verb.APPROVE:
        return ""
    return f"The plan of run {previous.run_id[:8]} is dropped; nothing was changed."
