"""Decide whether a request says enough, and not too much, before a model is paid.

Asking back for nothing annoys, so whatever is in doubt is clear.
"""

from collections.abc import Sequence

from patchwright.core.channel import Channel
from patchwright.core.text.fence import inline_code
from patchwright.core.types.base import Value
from patchwright.core.types.threads import ThreadPost, Thread, ThreadKind, ThreadRef
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import Outcome, OutcomeKind, service_outcome
from patchwright.resolver.scope import find_oversized_request
from patchwright.resolver.substance import has_substance, without_form

TOO_VAGUE, TOO_LARGE = "too-vague", "too-large"
# In each comment of ours that has asked something.
_HAS_ASKED = f"<!-- patchwright:state={OutcomeKind.NEEDS_INPUT} "


class ClearRequest(Value):
    """The work can begin."""


class TriageQuestion(Value):
    """What to ask the person who made the request; `reason` is a short code."""

    question: str
    reason: str


def triage(
    thread: Thread, trigger: Trigger, tied: Sequence[Thread] = ()
) -> ClearRequest | TriageQuestion:
    """Judge a request together with the thread as it was when it was made.

    `tied` are the other threads of its conversation: what they say counts as well.
    """
    opening, *comments = thread.posts
    by_comment = trigger.kind is TriggerKind.COMMENT_MENTION
    request = trigger.request if by_comment else ""
    if thread.ref.kind is ThreadKind.PULL_REQUEST:
        # The change itself says what it is about.
        return triage_texts("", "", request) if has_substance(request) else ClearRequest()
    said = [*_by_people(comments), *(text for one in tied for text in _thread_texts(one))]
    return triage_texts(thread.title, opening.text, request, said)


def has_asked(channel: Channel, ref: ThreadRef) -> bool:
    """Tell whether we have asked in a thread already: once is enough.

    After that, what it says has to do. A mark that somebody else has copied is none.
    """
    return channel.find_post(ref, _HAS_ASKED) is not None


def triage_texts(
    title: str, text: str, request: str = "", said: Sequence[str] = ()
) -> ClearRequest | TriageQuestion:
    """Judge an issue, and what else was said; `request` is empty if the issue asks."""
    if too_large := find_oversized_request(request, title, text):
        return TriageQuestion(question=too_large, reason=TOO_LARGE)
    if any(has_substance(part) for part in (title, request, *said)):
        return ClearRequest()
    if has_substance(without_form(text)):
        return ClearRequest()
    return TriageQuestion(question=_vague_question(title), reason=TOO_VAGUE)


def needs_input_outcome(asked: TriageQuestion) -> Outcome:
    """Return how a run ends that asks before it begins."""
    return service_outcome(OutcomeKind.NEEDS_INPUT, asked.reason, asked.question)


def _thread_texts(thread: Thread) -> list[str]:
    return [thread.title, *(post.text for post in thread.posts)]


def _by_people(comments: Sequence[ThreadPost]) -> list[str]:
    """Return what people said: a greeting by a bot says nothing about the fault."""
    return [post.text for post in comments if not post.author.is_bot]


def _vague_question(title: str) -> str:
    shown = " ".join(title.split())
    of_title = f", {inline_code(shown)}," if shown else ""
    return (
        f"I could not find out what to change: the title{of_title} and the text do not "
        "say what is wrong or what is wanted. Please add\n\n"
        "- what you did, and what happened: the message, the output, a stack trace;\n"
        "- what you expected instead;\n"
        "- where it is, if you know: a file, a command, a page.\n\n"
        "For example: “`shop total 450 x3` prints 450, but should print 1350. I think "
        "it is in `cart.py`.”"
    )
