"""Show the agent what people said in a thread: the newest, within a budget."""

from collections.abc import Sequence
from typing import Final

from patchwright.core.llm.room import tokens_of
from patchwright.core.text.cleaner import Cleaner
from patchwright.core.text.cut import cut_middle
from patchwright.core.text.fence import as_data
from patchwright.core.types.threads import Post, Thread
from patchwright.resolver.messages.facts import counted
from patchwright.resolver.section import Section

MAX_POST_CHARS: Final = 8_000
MAX_ASKING_CHARS: Final = 32_000
MAX_COMMENTS_TOKENS: Final = 14_000
THREAD_FILE: Final = "thread.md"
_POINTER: Final = "[the request: it is at the end of this task]"


def brief_conversation(
    thread: Thread, cleaner: Cleaner, *, asking_id: str, request: str
) -> Section:
    """Write down title, opening text and comments, others' words as data.

    `asking_id` is the comment that asked; without one the opening text did. That text
    is whole up to a large bound, others are cut in the middle. The `request` in it is
    shown at the end of the task, and not here once more.
    """
    title = cleaner.clean(thread.title)
    opening, *rest = (
        post.replace(text=cleaner.clean(post.text)) for post in thread.posts
    )
    asking = next((post for post in rest if post.id == asking_id), opening)
    asked = _pointing(asking, request)
    shown = [asked if post is asking else post for post in _newest(rest, asking)]
    whole = len(shown) == len(rest) and not any(
        len(post.text) > _bound(post, asking) for post in (opening, *rest)
    )
    parts = [
        as_data("title", opening.author.login, title, opening.role),
        _opened(asked if opening is asking else opening, asked),
        _gap(len(rest) - len(shown) + thread.unread),
        *(_written(_label(post), post, asked) for post in shown),
        "" if whole else f"The whole thread is in /workspace/context/{THREAD_FILE}.",
    ]
    return Section(
        text="\n\n".join(part for part in parts if part),
        files={} if whole else {THREAD_FILE: _transcript([opening, *rest])},
    )


def moment(post: Post) -> str:
    edited = f", edited {post.edited_at:%Y-%m-%d %H:%M}" if post.edited_at else ""
    return f"{post.at:%Y-%m-%d %H:%M} UTC{edited}"


def _pointing(asking: Post, request: str) -> Post:
    """Return the post that asked, with a pointer to the request in its place."""
    before, found, after = asking.text.rpartition(request) if request else ("", "", "")
    if not found:
        return asking
    return asking.replace(text=f"{before}{_POINTER}{after}")


def _opened(opening: Post, asking: Post) -> str:
    return _written("opening text", opening, asking) if opening.text.strip() else ""


def _newest(comments: Sequence[Post], asking: Post) -> list[Post]:
    """Return the newest comments that fit, oldest first, and always the asking one."""
    kept: list[Post] = []
    room = MAX_COMMENTS_TOKENS
    for post in reversed(comments):
        if post is not asking:
            shown = post.text[:MAX_POST_CHARS]
            room -= tokens_of(len(shown.encode(errors="replace")))
        if room >= 0 or post is asking:
            kept.append(post)
    return kept[::-1]


def _bound(post: Post, asking: Post) -> int:
    return MAX_ASKING_CHARS if post is asking else MAX_POST_CHARS


def _gap(missing: int) -> str:
    return f"[{counted(missing, 'older comment')} left out here]" if missing else ""


def _written(label: str, post: Post, asking: Post) -> str:
    text = cut_middle(post.text, _bound(post, asking))
    return as_data(label, post.author.login, text, post.role)


def _label(post: Post) -> str:
    return f"{post.label or 'comment'} of {moment(post)}"


def _transcript(posts: Sequence[Post]) -> str:
    return "\n\n".join(
        f"## {_by(post)}, {post.at.isoformat()}\n\n{post.text}" for post in posts
    )


def _by(post: Post) -> str:
    return f"{post.author.login} ({post.role})" if post.role else post.author.login
