"""Show the agent what people said in a thread: the newest, within a budget."""

from collections.abc import Sequence
from typing import Final

from patchwright.core.llm.room import tokens_in_bytes
from patchwright.core.text.cleaner import TextCleaner
from patchwright.core.text.cut import truncate_middle
from patchwright.core.text.fence import as_data
from patchwright.core.types.threads import ThreadPost, Thread
from patchwright.resolver.messages.facts import count_noun
from patchwright.resolver.section import TaskSection

MAX_POST_CHARS: Final = 8_000
MAX_ASKING_CHARS: Final = 32_000
MAX_COMMENTS_TOKENS: Final = 14_000
THREAD_FILE: Final = "thread.md"
_POINTER: Final = "[the request: it is at the end of this task]"


def conversation_section(
    thread: Thread, cleaner: TextCleaner, *, asking_id: str, request: str
) -> TaskSection:
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
    asked = _without_request(asking, request)
    shown = [asked if post is asking else post for post in _newest_comments(rest, asking)]
    whole = len(shown) == len(rest) and not any(
        len(post.text) > _max_chars(post, asking) for post in (opening, *rest)
    )
    parts = [
        as_data("title", opening.author.login, title, opening.role),
        _opening_text(asked if opening is asking else opening, asked),
        _left_out_line(len(rest) - len(shown) + thread.unread),
        *(_post_text(_post_label(post), post, asked) for post in shown),
        "" if whole else f"The whole thread is in /workspace/context/{THREAD_FILE}.",
    ]
    return TaskSection(
        text="\n\n".join(part for part in parts if part),
        files={} if whole else {THREAD_FILE: _thread_transcript([opening, *rest])},
    )


def post_time(post: ThreadPost) -> str:
    edited = f", edited {post.edited_at:%Y-%m-%d %H:%M}" if post.edited_at else ""
    return f"{post.at:%Y-%m-%d %H:%M} UTC{edited}"


def _without_request(asking: ThreadPost, request: str) -> ThreadPost:
    """Return the post that asked, with a pointer to the request in its place."""
    before, found, after = asking.text.rpartition(request) if request else ("", "", "")
    if not found:
        return asking
    return asking.replace(text=f"{before}{_POINTER}{after}")


def _opening_text(opening: ThreadPost, asking: ThreadPost) -> str:
    return _post_text("opening text", opening, asking) if opening.text.strip() else ""


def _newest_comments(comments: Sequence[ThreadPost], asking: ThreadPost) -> list[ThreadPost]:
    """Return the newest comments that fit, oldest first, and always the asking one."""
    kept: list[ThreadPost] = []
    room = MAX_COMMENTS_TOKENS
    for post in reversed(comments):
        if post is not asking:
            shown = post.text[:MAX_POST_CHARS]
            room -= tokens_in_bytes(len(shown.encode(errors="replace")))
        if room >= 0 or post is asking:
            kept.append(post)
    return kept[::-1]


def _max_chars(post: ThreadPost, asking: ThreadPost) -> int:
    return MAX_ASKING_CHARS if post is asking else MAX_POST_CHARS


def _left_out_line(missing: int) -> str:
    return f"[{count_noun(missing, 'older comment')} left out here]" if missing else ""


def _post_text(label: str, post: ThreadPost, asking: ThreadPost) -> str:
    text = truncate_middle(post.text, _max_chars(post, asking))
    return as_data(label, post.author.login, text, post.role)


def _post_label(post: ThreadPost) -> str:
    return f"{post.label or 'comment'} of {post_time(post)}"


def _thread_transcript(posts: Sequence[ThreadPost]) -> str:
    return "\n\n".join(
        f"## {_author_text(post)}, {post.at.isoformat()}\n\n{post.text}" for post in posts
    )


def _author_text(post: ThreadPost) -> str:
    return f"{post.author.login} ({post.role})" if post.role else post.author.login
