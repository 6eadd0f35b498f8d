"""Turn a request and its context into the text the agent works from."""

from collections.abc import Sequence
from typing import Final, assert_never

from patchwright.core.text.cleaner import Cleaner
from patchwright.core.text.cut import cut_middle
from patchwright.core.text.fence import as_data
from patchwright.core.types.base import Value
from patchwright.core.types.threads import ForgeThread, ThreadKind, ThreadRef
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.resolver.briefing.authority import whose_words
from patchwright.resolver.briefing.changes import brief_changes
from patchwright.resolver.briefing.conversation import (
    MAX_ASKING_CHARS,
    brief_conversation,
)
from patchwright.resolver.briefing.mentions import (
    brief_mentions,
    brief_pictures,
    picture_notes,
)
from patchwright.resolver.checks import brief_checks
from patchwright.resolver.context import Context
from patchwright.resolver.messages.facts import counted
from patchwright.resolver.pinning import count_left_out
from patchwright.resolver.reviews import brief_reviews
from patchwright.resolver.section import Section

MAX_REQUEST_CHARS: Final = MAX_ASKING_CHARS
REQUEST_FILE: Final = "request.md"
ISSUE_FILE: Final = "issue.md"


class Brief(Value):
    """The prompt, the texts that were too long for it, and what readers should know.

    `removed` is how many hidden things were taken out of all texts.
    """

    text: str
    files: dict[str, str] = {}
    notes: tuple[str, ...] = ()
    removed: int = 0


def brief(context: Context, trigger: Trigger, base_branch: str) -> Brief:
    """Write the task; other people's words are cleaned, bounded and fenced as data."""
    cleaner = Cleaner()
    request = cleaner.clean(trigger.request).strip()
    sections = [
        Section(text=_heading(context, trigger, base_branch)),
        Section(text=whose_words(trigger, request)),
        brief_conversation(
            context.thread, cleaner, asking_id=trigger.post_id, request=request
        ),
        brief_changes(context.diff, cleaner),
        brief_reviews(context.thread.reviews, cleaner),
        brief_checks(context.checks, cleaner) if context.checks else Section(),
        brief_mentions(context.mentioned, cleaner),
        brief_pictures(context.pictures, cleaner),
        _brief_branch(context.other_branch, cleaner),
        _brief_request(request, trigger.actor.login),
    ]
    notes = (
        *context.notes,
        *_left_out(context),
        *picture_notes(context.pictures, cleaner),
    )
    return _joined(sections, notes, cleaner)


def brief_text(title: str, text: str) -> Brief:
    """Write the task for an issue that came as a plain text."""
    cleaner = Cleaner()
    title, clean = cleaner.clean(title), cleaner.clean(text)
    whole = len(clean) <= MAX_REQUEST_CHARS
    parts = [
        "Resolve the following issue in this repository.",
        as_data("title", "the user", title) if title else "",
        as_data("issue", "the user", cut_middle(clean, MAX_REQUEST_CHARS)),
        "" if whole else f"The whole text is in /workspace/context/{ISSUE_FILE}.",
    ]
    section = Section(
        text="\n\n".join(part for part in parts if part),
        files={} if whole else {ISSUE_FILE: clean},
    )
    return _joined([section], (), cleaner)


def _joined(
    sections: Sequence[Section], notes: tuple[str, ...], cleaner: Cleaner
) -> Brief:
    files: dict[str, str] = {}
    for section in sections:
        files |= section.files
    removed = cleaner.describe()
    told = (f"Hidden text was removed: {removed}.",) if removed else ()
    return Brief(
        text="\n\n".join(section.text for section in sections if section.text),
        files=files,
        notes=(*told, *notes),
        removed=cleaner.removed,
    )


def _heading(context: Context, trigger: Trigger, base_branch: str) -> str:
    thread, actor = _name_of(context.thread.ref), trigger.actor.login
    meant = f"The change is meant for the branch `{base_branch}`."
    if context.pull is not None and context.pull.is_open:
        meant = f"Its head is checked out; its base is the branch `{base_branch}`."
    match trigger.kind:
        case TriggerKind.CHECKS:
            return f"The checks of {thread} failed. {meant} Make them pass."
        case TriggerKind.CONFLICT:
            return f"The head of {thread} conflicts with its base. {meant} Settle that."
        case TriggerKind.LABEL:
            how = "put the label on"
        case TriggerKind.ASSIGNMENT:
            how = "assigned"
        case TriggerKind.REVIEW:
            how = "reviewed"
        case TriggerKind.BODY_MENTION | TriggerKind.COMMENT_MENTION | TriggerKind.REPLY:
            how = "asked for help in"
        case TriggerKind.MERGED:
            how = "has merged"
        case _:
            assert_never(trigger.kind)
    return f"{actor} {how} {thread}. {meant} Resolve the request."


_KINDS: Final = {
    ThreadKind.ISSUE: "issue",
    ThreadKind.PULL_REQUEST: "pull request",
    ThreadKind.DISCUSSION: "discussion",
    ThreadKind.REQUEST: "a request",
    ThreadKind.CHAT: "a thread of",
    ThreadKind.TICKET: "ticket",
}


def _name_of(ref: ThreadRef) -> str:
    kind = _KINDS[ref.kind]
    if isinstance(ref, ForgeThread):
        name = kind if ref.is_own else f"{kind} {ref.name}"
        return f"{name} of {ref.repo.full_name}"
    where = ref.service.capitalize()
    return f"{kind} {where}" if ref.kind is ThreadKind.CHAT else f"{kind} {ref.name}"


def _brief_branch(branch: str, cleaner: Cleaner) -> Section:
    if not branch:
        return Section()
    text = (
        "The links to code in the thread lead to another branch than the one that is "
        "checked out:"
    )
    return Section(
        text=f"{text}\n\n{as_data('branch', 'git', cleaner.clean_name(branch))}"
    )


def _brief_request(request: str, author: str) -> Section:
    if not request:
        return Section()
    whole = len(request) <= MAX_REQUEST_CHARS
    text = as_data("the request", author, cut_middle(request, MAX_REQUEST_CHARS))
    if whole:
        return Section(text=text)
    where = f"The whole request is in /workspace/context/{REQUEST_FILE}."
    return Section(text=f"{text}\n\n{where}", files={REQUEST_FILE: request})


def _left_out(context: Context) -> tuple[str, ...]:
    edited, unread = count_left_out(context.thread), context.thread.unread
    notes: list[str] = []
    if edited:
        was = "was" if edited == 1 else "were"
        notes.append(
            f"{counted(edited, 'text')} {was} edited after the request and left out."
        )
    if unread:
        notes.append(f"{counted(unread, 'older comment')} not read.")
    return tuple(notes)
