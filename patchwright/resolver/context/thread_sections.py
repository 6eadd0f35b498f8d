"""Show the agent what people said in a thread and in its reviews."""

from collections.abc import Iterable, Sequence
from typing import Final

from patchwright.core.llm.model import tokens_in_bytes
from patchwright.core.text.escape import as_data
from patchwright.core.text.hidden import TextCleaner
from patchwright.core.text.strings import count_noun, truncate_middle
from patchwright.core.types.threads import ReviewThread, Thread, ThreadPost
from patchwright.core.types.triggers import Trigger
from patchwright.resolver.context.context import TaskSection

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
    shown = [
        asked if post is asking else post for post in _newest_comments(rest, asking)
    ]
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


def _newest_comments(
    comments: Sequence[ThreadPost], asking: ThreadPost
) -> list[ThreadPost]:
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
        f"## {_author_text(post)}, {post.at.isoformat()}\n\n{post.text}"
        for post in posts
    )


def _author_text(post: ThreadPost) -> str:
    return f"{post.author.login} ({post.role})" if post.role else post.author.login


MAX_REVIEW_POST_CHARS = 4_000
MAX_HUNK_CHARS = 3_000
MAX_REVIEWS_CHARS = 40_000
REVIEWS_FILE = "reviews.md"


def reviews_section(
    reviews: Sequence[ReviewThread], cleaner: TextCleaner
) -> TaskSection:
    """Write them down, those first that wait for something; others' words are data."""
    if not reviews:
        return TaskSection()
    cleaned = [
        _clean_review(thread, cleaner) for thread in order_review_threads(reviews)
    ]
    shown = _reviews_that_fit(cleaned)
    whole = len(shown) == len(cleaned) and not any(map(_is_long_review, cleaned))
    parts = [
        _reviews_summary(cleaned),
        *(_review_text(number, thread) for number, thread in enumerate(shown, start=1)),
        "" if whole else f"All reviews, whole: /workspace/context/{REVIEWS_FILE}.",
    ]
    return TaskSection(
        text="\n\n".join(part for part in parts if part),
        files={} if whole else {REVIEWS_FILE: _reviews_transcript(cleaned)},
    )


def order_review_threads(reviews: Sequence[ReviewThread]) -> tuple[ReviewThread, ...]:
    """Return the threads as the task counts them: what is resolved comes last."""
    return tuple(sorted(reviews, key=_rank))


def requesting_threads(
    reviews: Sequence[ReviewThread], trigger: Trigger
) -> tuple[int, ...]:
    """Return the numbers of those threads in which the request was made.

    A review asks with all its comments.
    """
    numbered = enumerate(order_review_threads(reviews), start=1)
    return tuple(number for number, one in numbered if _is_requesting(one, trigger))


def reopen_requesting_threads(
    reviews: Sequence[ReviewThread], trigger: Trigger
) -> tuple[ReviewThread, ...]:
    """Return the threads with those not resolved in which the request was made."""
    return tuple(
        one.replace(is_resolved=False) if _is_requesting(one, trigger) else one
        for one in reviews
    )


def _is_requesting(thread: ReviewThread, trigger: Trigger) -> bool:
    return any(
        post.id == trigger.post_id
        or (trigger.review_id and post.review_id == trigger.review_id)
        for post in thread.posts
    )


def _rank(thread: ReviewThread) -> tuple[bool, bool]:
    return thread.is_resolved, thread.is_outdated


def _clean_review(thread: ReviewThread, cleaner: TextCleaner) -> ReviewThread:
    posts = tuple(post.replace(text=cleaner.clean(post.text)) for post in thread.posts)
    hunk = cleaner.clean_code(thread.hunk)
    return thread.replace(posts=posts, hunk=hunk)


def _reviews_that_fit(threads: Sequence[ReviewThread]) -> list[ReviewThread]:
    kept: list[ReviewThread] = []
    room = MAX_REVIEWS_CHARS
    for thread in threads:
        room -= min(len(thread.hunk), MAX_HUNK_CHARS)
        room -= sum(min(len(post.text), MAX_REVIEW_POST_CHARS) for post in thread.posts)
        if room < 0:
            break
        kept.append(thread)
    return kept


def _is_long_review(thread: ReviewThread) -> bool:
    return len(thread.hunk) > MAX_HUNK_CHARS or any(
        len(post.text) > MAX_REVIEW_POST_CHARS for post in thread.posts
    )


def _reviews_summary(threads: Sequence[ReviewThread]) -> str:
    resolved = sum(thread.is_resolved for thread in threads)
    return (
        "Reviews of this pull request: "
        f"{count_noun(len(threads) - resolved, 'thread')} not resolved, {resolved} "
        "resolved. A resolved one needs nothing more unless the request says so; "
        "the code of an outdated one has changed since. What you say of the others in "
        "`reviews` of `finish` is posted in them as your answer."
    )


def _review_text(number: int, thread: ReviewThread) -> str:
    code = truncate_middle(thread.hunk, MAX_HUNK_CHARS)
    state, lines = _review_state(thread), _lines_text(thread)
    parts = [
        f"Review thread {number} ({state}), about {lines}:",
        as_data(f"code of {thread.path}", "git", code),
        *(_review_post_text(post) for post in thread.posts),
    ]
    return "\n\n".join(parts)


def _review_state(thread: ReviewThread) -> str:
    resolved = "resolved" if thread.is_resolved else "not resolved"
    return f"{resolved}, outdated" if thread.is_outdated else resolved


def _lines_text(thread: ReviewThread) -> str:
    if thread.line is None:
        return "the whole file"
    first = thread.first_line or thread.line
    lines = f"line {first}" if first == thread.line else f"lines {first}-{thread.line}"
    return f"{lines} of the {thread.side} version"


def _review_post_text(post: ThreadPost) -> str:
    text = truncate_middle(post.text, MAX_REVIEW_POST_CHARS)
    label = f"review comment of {post_time(post)}"
    return as_data(label, post.author.login, text, post.role)


def _reviews_transcript(threads: Iterable[ReviewThread]) -> str:
    return "\n\n".join(
        "\n\n".join(
            [
                f"## {thread.path}, {_lines_text(thread)} ({_review_state(thread)})",
                thread.hunk,
                *(
                    f"### {post.author.login}, {post.at.isoformat()}\n\n{post.text}"
                    for post in thread.posts
                ),
            ]
        )
        for thread in threads
    )
