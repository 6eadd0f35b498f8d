"""Show the agent what reviewers said about lines of a pull request."""

from collections.abc import Iterable, Sequence

from patchwright.core.text.cleaner import Cleaner
from patchwright.core.text.cut import cut_middle
from patchwright.core.text.fence import as_data
from patchwright.core.types.threads import Post, ReviewThread
from patchwright.core.types.triggers import Trigger
from patchwright.resolver.briefing.conversation import moment
from patchwright.resolver.messages.facts import counted
from patchwright.resolver.section import Section

MAX_POST_CHARS = 4_000
MAX_HUNK_CHARS = 3_000
MAX_REVIEWS_CHARS = 40_000
REVIEWS_FILE = "reviews.md"


def brief_reviews(reviews: Sequence[ReviewThread], cleaner: Cleaner) -> Section:
    """Write them down, those first that wait for something; others' words are data."""
    if not reviews:
        return Section()
    cleaned = [_clean(thread, cleaner) for thread in ordered_threads(reviews)]
    shown = _that_fit(cleaned)
    whole = len(shown) == len(cleaned) and not any(map(_is_long, cleaned))
    parts = [
        _summary(cleaned),
        *(_written(number, thread) for number, thread in enumerate(shown, start=1)),
        "" if whole else f"All reviews, whole: /workspace/context/{REVIEWS_FILE}.",
    ]
    return Section(
        text="\n\n".join(part for part in parts if part),
        files={} if whole else {REVIEWS_FILE: _transcript(cleaned)},
    )


def ordered_threads(reviews: Sequence[ReviewThread]) -> tuple[ReviewThread, ...]:
    """Return the threads as the task counts them: what is resolved comes last."""
    return tuple(sorted(reviews, key=_rank))


def asked_threads(reviews: Sequence[ReviewThread], trigger: Trigger) -> tuple[int, ...]:
    """Return the numbers of those threads in which the request was made.

    A review asks with all its comments.
    """
    numbered = enumerate(ordered_threads(reviews), start=1)
    return tuple(number for number, one in numbered if _asks(one, trigger))


def opened_where_asked(
    reviews: Sequence[ReviewThread], trigger: Trigger
) -> tuple[ReviewThread, ...]:
    """Return the threads with those not resolved in which the request was made."""
    return tuple(
        one.replace(is_resolved=False) if _asks(one, trigger) else one
        for one in reviews
    )


def _asks(thread: ReviewThread, trigger: Trigger) -> bool:
    return any(
        post.id == trigger.post_id
        or (trigger.review_id and post.review_id == trigger.review_id)
        for post in thread.posts
    )


def _rank(thread: ReviewThread) -> tuple[bool, bool]:
    return thread.is_resolved, thread.is_outdated


def _clean(thread: ReviewThread, cleaner: Cleaner) -> ReviewThread:
    posts = tuple(post.replace(text=cleaner.clean(post.text)) for post in thread.posts)
    hunk = cleaner.clean_code(thread.hunk)
    return thread.replace(posts=posts, hunk=hunk)


def _that_fit(threads: Sequence[ReviewThread]) -> list[ReviewThread]:
    kept: list[ReviewThread] = []
    room = MAX_REVIEWS_CHARS
    for thread in threads:
        room -= min(len(thread.hunk), MAX_HUNK_CHARS)
        room -= sum(min(len(post.text), MAX_POST_CHARS) for post in thread.posts)
        if room < 0:
            break
        kept.append(thread)
    return kept


def _is_long(thread: ReviewThread) -> bool:
    return len(thread.hunk) > MAX_HUNK_CHARS or any(
        len(post.text) > MAX_POST_CHARS for post in thread.posts
    )


def _summary(threads: Sequence[ReviewThread]) -> str:
    resolved = sum(thread.is_resolved for thread in threads)
    return (
        f"Reviews of this pull request: {counted(len(threads) - resolved, 'thread')} "
        f"not resolved, {resolved} resolved. A resolved one needs nothing more unless "
        "the request says so; the code of an outdated one has changed since. What you "
        "say of the others in `reviews` of `finish` is posted in them as your answer."
    )


def _written(number: int, thread: ReviewThread) -> str:
    code = cut_middle(thread.hunk, MAX_HUNK_CHARS)
    parts = [
        f"Review thread {number} ({_state(thread)}), about {_place(thread)}:",
        as_data(f"code of {thread.path}", "git", code),
        *(_said(post) for post in thread.posts),
    ]
    return "\n\n".join(parts)


def _state(thread: ReviewThread) -> str:
    resolved = "resolved" if thread.is_resolved else "not resolved"
    return f"{resolved}, outdated" if thread.is_outdated else resolved


def _place(thread: ReviewThread) -> str:
    if thread.line is None:
        return "the whole file"
    first = thread.first_line or thread.line
    lines = f"line {first}" if first == thread.line else f"lines {first}-{thread.line}"
    return f"{lines} of the {thread.side} version"


def _said(post: Post) -> str:
    text = cut_middle(post.text, MAX_POST_CHARS)
    label = f"review comment of {moment(post)}"
    return as_data(label, post.author.login, text, post.role)


def _transcript(threads: Iterable[ReviewThread]) -> str:
    return "\n\n".join(
        "\n\n".join(
            [
                f"## {thread.path}, {_place(thread)} ({_state(thread)})",
                thread.hunk,
                *(
                    f"### {post.author.login}, {post.at.isoformat()}\n\n{post.text}"
                    for post in thread.posts
                ),
            ]
        )
        for thread in threads
    )
