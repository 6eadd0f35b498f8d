"""Turn a thread into the text the agent works from."""

from collections.abc import Iterable
from datetime import datetime

from patchwright.core.text.cut import cut_middle
from patchwright.core.text.fence import as_data
from patchwright.core.text.hidden import strip_hidden
from patchwright.core.types.base import Value
from patchwright.core.types.threads import Post, Thread, ThreadKind
from patchwright.core.types.triggers import Trigger, TriggerKind

MAX_POST_CHARS = 8_000
MAX_COMMENTS_CHARS = 40_000
MAX_REQUEST_CHARS = 20_000
THREAD_FILE = "thread.md"


class Brief(Value):
    """The prompt, the texts that were too long for it, and what readers should know."""

    text: str
    files: dict[str, str] = {}
    notes: tuple[str, ...] = ()


class _Counted:
    """Cleans texts, and counts what it took out of them."""

    def __init__(self) -> None:
        self.removed = 0

    def clean(self, text: str) -> str:
        cleaned = strip_hidden(text)
        self.removed += sum(removal.count for removal in cleaned.removed)
        return cleaned.text


def brief(thread: Thread, trigger: Trigger, base_branch: str) -> Brief:
    """Write the task; other people's words are cleaned, bounded and fenced as data.

    Title, opening text and the request itself are as they were when it was made;
    comments written later are left out.
    """
    counted = _Counted()
    thread = _as_asked(thread, trigger, counted)
    comments, complete = _newest(thread.posts[1:])
    whole = complete and all(len(p.text) <= MAX_POST_CHARS for p in thread.posts)
    parts = [
        _heading(thread, trigger, base_branch),
        as_data("title", thread.posts[0].author.login, thread.title),
        as_data("opening text", *_shown(thread.posts[0])),
        *(as_data(_label(post), *_shown(post)) for post in comments),
        _request(trigger, counted),
        "" if whole else f"The whole thread is in /workspace/context/{THREAD_FILE}.",
    ]
    notes = [f"{counted.removed} hidden passages removed"] if counted.removed else []
    return Brief(
        text="\n\n".join(part for part in parts if part),
        files={} if whole else {THREAD_FILE: _transcript(thread)},
        notes=tuple(notes),
    )


def brief_text(title: str, text: str, author: str = "the user") -> Brief:
    """Write the task for an issue that came as a plain text."""
    counted = _Counted()
    clean = counted.clean(text)
    parts = [
        "Resolve the following issue in this repository.",
        as_data("title", author, counted.clean(title)) if title else "",
        as_data("issue", author, cut_middle(clean, MAX_REQUEST_CHARS)),
    ]
    notes = [f"{counted.removed} hidden passages removed"] if counted.removed else []
    files = {"issue.md": clean} if len(clean) > MAX_REQUEST_CHARS else {}
    if files:
        parts.append("The whole text is in /workspace/context/issue.md.")
    return Brief(
        text="\n\n".join(p for p in parts if p), files=files, notes=tuple(notes)
    )


def _as_asked(thread: Thread, trigger: Trigger, counted: _Counted) -> Thread:
    """Return the thread as it was when the request was made, without hidden text."""
    opening, *comments = thread.posts
    asked_at = _asked_at(thread, trigger)
    posts = [
        opening.model_copy(update={"text": trigger.body or opening.text}),
        *(
            post.model_copy(update={"text": trigger.text or post.text})
            if post.id == trigger.post_id
            else post
            for post in comments
            if asked_at is None or post.at <= asked_at
        ),
    ]
    return thread.model_copy(
        update={
            "title": counted.clean(trigger.title or thread.title),
            "posts": tuple(
                post.model_copy(update={"text": counted.clean(post.text)})
                for post in posts
            ),
        }
    )


def _asked_at(thread: Thread, trigger: Trigger) -> datetime | None:
    asking = [post.at for post in thread.posts if post.id == trigger.post_id]
    return asking[0] if trigger.post_id and asking else None


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


def _request(trigger: Trigger, counted: _Counted) -> str:
    if not trigger.request.strip():
        return ""
    text = cut_middle(counted.clean(trigger.request), MAX_REQUEST_CHARS)
    return as_data("the request", trigger.actor.login, text)


def _shown(post: Post) -> tuple[str, str]:
    return post.author.login, cut_middle(post.text, MAX_POST_CHARS)


def _label(post: Post) -> str:
    return f"comment of {post.at:%Y-%m-%d %H:%M} UTC"


def _transcript(thread: Thread) -> str:
    return "\n\n".join(
        f"## {post.author.login}, {post.at.isoformat()}\n\n{post.text}"
        for post in thread.posts
    )
