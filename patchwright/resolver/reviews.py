"""Show the agent what reviewers said about lines of a pull request."""

from collections.abc import Iterable, Sequence

from patchwright.core.text.cleaner import TextCleaner
from patchwright.core.text.cut import truncate_middle
from patchwright.core.text.fence import as_data
from patchwright.core.types.threads import ThreadPost, ReviewThread
from patchwright.core.types.triggers import Trigger
from patchwright.resolver.briefing.conversation import post_time
from patchwright.resolver.messages.facts import count_noun
from patchwright.resolver.section import TaskSection

MAX_REVIEW_POST_CHARS = 4_000
MAX_HUNK_CHARS = 3_000
MAX_REVIEWS_CHARS = 40_000
REVIEWS_FILE = "reviews.md"


def reviews_section(reviews: Sequence[ReviewThread], cleaner: TextCleaner) -> TaskSection:
    """Write them down, those first that wait for something; others' words are data."""
    if not reviews:
        return TaskSection()
    cleaned = [_clean_review(thread, cleaner) for thread in order_review_threads(reviews)]
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


def requesting_threads(reviews: Sequence[ReviewThread], trigger: Trigger) -> tuple[int, ...]:
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
        f"Reviews of this pull request: {count_noun(len(threads) - resolved, 'thread')} "
        f"not resolved, {resolved} resolved. A resolved one needs nothing more unless "
        "the request says so; the code of an outdated one has changed since. What you "
        "say of the others in `reviews` of `finish` is posted in them as your answer."
    )


def _review_text(number: int, thread: ReviewThread) -> str:
    code = truncate_middle(thread.hunk, MAX_HUNK_CHARS)
    parts = [
        f"Review thread {number} ({_review_state(thread)}), about {_lines_text(thread)}:",
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
