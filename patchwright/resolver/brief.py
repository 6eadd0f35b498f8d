"""Turn a thread into the text the agent works from."""

from collections.abc import Iterable
from datetime import datetime

from patchwright.core.text.cleaner import Cleaner
from patchwright.core.text.cut import cut_middle
from patchwright.core.text.fence import as_data
from patchwright.core.types.base import Value
from patchwright.core.types.threads import Post, Thread, ThreadKind
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.resolver.messages.status import UNFINISHED
from patchwright.resolver.reviews import brief_reviews, reviews_as_asked

MAX_POST_CHARS = 8_000
MAX_COMMENTS_CHARS = 40_000
MAX_REQUEST_CHARS = 20_000
THREAD_FILE = "thread.md"
ISSUE_FILE = "issue.md"


class Brief(Value):
    """The prompt, the texts that were too long for it, and what readers should know."""

    text: str
    files: dict[str, str] = {}
    notes: tuple[str, ...] = ()


def as_asked(thread: Thread, trigger: Trigger, asked_at: datetime) -> Thread:
    """Return the thread as it was when the request was made.

    Later comments are left out, and so is what a run says while it works.
    """
    opening, *comments = thread.posts
    kept = [
        post.model_copy(update={"text": trigger.text or post.text})
        if post.id == trigger.post_id
        else post
        for post in _up_to(comments, trigger.post_id, asked_at)
        if UNFINISHED not in post.text
    ]
    return thread.model_copy(
        update={
            "title": trigger.title or thread.title,
            "posts": (
                opening.model_copy(update={"text": trigger.body or opening.text}),
                *kept,
            ),
            "reviews": reviews_as_asked(
                thread.reviews, _moment(comments, trigger.post_id, asked_at)
            ),
        }
    )


def _up_to(comments: list[Post], post_id: str, asked_at: datetime) -> list[Post]:
    """Return the comments up to the one that asked; without it, the moment decides.

    Their order is surer than their times, which GitHub tells in whole seconds.
    """
    for place, post in enumerate(comments):
        if post.id == post_id:
            return comments[: place + 1]
    return [post for post in comments if post.at <= asked_at]


def _moment(comments: list[Post], post_id: str, asked_at: datetime) -> datetime:
    """Return when the request was made, if possible by the service's own clock."""
    return next((post.at for post in comments if post.id == post_id), asked_at)


def brief(thread: Thread, trigger: Trigger, base_branch: str) -> Brief:
    """Write the task; other people's words are cleaned, bounded and fenced as data."""
    cleaner = Cleaner()
    title = cleaner.clean(thread.title)
    opening, *rest = (
        post.model_copy(update={"text": cleaner.clean(post.text)})
        for post in thread.posts
    )
    comments, complete = _newest(rest)
    whole = complete and all(len(p.text) <= MAX_POST_CHARS for p in (opening, *rest))
    reviews = brief_reviews(thread.reviews, cleaner)
    request = cleaner.clean(trigger.request).strip()
    thread_file = {} if whole else {THREAD_FILE: _transcript([opening, *rest])}
    parts = [
        _heading(thread, trigger, base_branch),
        as_data("title", opening.author.login, title),
        as_data("opening text", *_shown(opening)),
        *(as_data(_label(post), *_shown(post)) for post in comments),
        reviews.text,
        _request(request, trigger.actor.login) if request else "",
        "" if whole else f"The whole thread is in /workspace/context/{THREAD_FILE}.",
    ]
    return Brief(
        text="\n\n".join(part for part in parts if part),
        files=thread_file | reviews.files,
        notes=_notes(cleaner),
    )


def brief_text(title: str, text: str, author: str = "the user") -> Brief:
    """Write the task for an issue that came as a plain text."""
    cleaner = Cleaner()
    title, clean = cleaner.clean(title), cleaner.clean(text)
    whole = len(clean) <= MAX_REQUEST_CHARS
    parts = [
        "Resolve the following issue in this repository.",
        as_data("title", author, title) if title else "",
        as_data("issue", author, cut_middle(clean, MAX_REQUEST_CHARS)),
        "" if whole else f"The whole text is in /workspace/context/{ISSUE_FILE}.",
    ]
    return Brief(
        text="\n\n".join(part for part in parts if part),
        files={} if whole else {ISSUE_FILE: clean},
        notes=_notes(cleaner),
    )


def _notes(cleaner: Cleaner) -> tuple[str, ...]:
    removed = cleaner.describe()
    return (f"Hidden text was removed: {removed}.",) if removed else ()


def _newest(comments: Iterable[Post]) -> tuple[list[Post], bool]:
    """Return the newest comments that fit, oldest first, and whether those are all."""
    kept: list[Post] = []
    room = MAX_COMMENTS_CHARS
    newest_first = list(comments)[::-1]
    for post in newest_first:
        room -= min(len(post.text), MAX_POST_CHARS)
        if room < 0:
            break
        kept.append(post)
    return kept[::-1], len(kept) == len(newest_first)


def _heading(thread: Thread, trigger: Trigger, base_branch: str) -> str:
    kind = "pull request" if thread.ref.kind is ThreadKind.PULL_REQUEST else "issue"
    how = (
        f"put the label on {kind} #{thread.ref.number}"
        if trigger.kind is TriggerKind.LABEL
        else f"asked for help in {kind} #{thread.ref.number}"
    )
    return (
        f"{trigger.actor.login} {how} of {thread.ref.repo.full_name}. The change is "
        f"meant for the branch `{base_branch}`. Resolve the request."
    )


def _request(request: str, author: str) -> str:
    return as_data("the request", author, cut_middle(request, MAX_REQUEST_CHARS))


def _shown(post: Post) -> tuple[str, str]:
    return post.author.login, cut_middle(post.text, MAX_POST_CHARS)


def _label(post: Post) -> str:
    return f"comment of {post.at:%Y-%m-%d %H:%M} UTC"


def _transcript(posts: Iterable[Post]) -> str:
    return "\n\n".join(
        f"## {post.author.login}, {post.at.isoformat()}\n\n{post.text}"
        for post in posts
    )
