"""The thread as of the request, with the comments of those who count."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from patchwright.core.settings.repository import ContextFrom
from patchwright.core.text.strings import count_noun
from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import ReviewThread, Thread, ThreadPost
from patchwright.core.types.triggers import Trigger
from patchwright.resolver.messages.status import UNFINISHED

_OWN_STATUS_MARK: Final = "<!-- patchwright:state="
_SECOND: Final = timedelta(seconds=1)
EDITED_TEXT: Final = "[edited after the request; left out]"


def thread_as_requested(thread: Thread, trigger: Trigger, asked_at: datetime) -> Thread:
    """Return the thread as it was when the request was made.

    Later comments are left out, and so is what a run says while it works. The texts
    that came with the request are those of that time; any other text that was edited
    since is replaced by `LEFT_OUT`.
    """
    opening, *comments = thread.posts
    moment = _request_time(thread, trigger, asked_at)
    kept = [
        _as_requested(post, trigger.text, moment)
        if post.id == trigger.post_id
        else _unedited(post, moment)
        for post in _posts_until(comments, trigger.post_id, moment)
        if UNFINISHED not in post.text
    ]
    return thread.replace(
        title=trigger.title or thread.title,
        posts=(_as_requested(opening, trigger.body, moment), *kept),
        reviews=_reviews_as_requested(thread.reviews, trigger, moment),
    )


def thread_as_of(thread: Thread, moment: datetime) -> Thread:
    """Return the thread as it was then; what was edited since is left out."""
    opening, *comments = thread.posts
    kept = [
        _unedited(post, moment)
        for post in comments
        if post.at <= moment and UNFINISHED not in post.text
    ]
    posts = (_unedited(opening, moment), *kept)
    return thread.replace(posts=posts, reviews=())


def opening_as_of(thread: Thread, moment: datetime) -> ThreadPost | None:
    """Return the opening text, or None if it did not exist; edited, it is left out."""
    opening = thread.posts[0]
    return _unedited(opening, moment) if opening.at <= moment else None


def count_left_out(thread: Thread) -> int:
    reviews = (post for review in thread.reviews for post in review.posts)
    return sum(post.text == EDITED_TEXT for post in (*thread.posts, *reviews))


def _request_time(thread: Thread, trigger: Trigger, asked_at: datetime) -> datetime:
    """Return when the request was made, if possible by the service's own clock.

    A comment that asks since it was edited has asked then. The comments of a review
    are older than the review, which comes when its author sends it.
    """
    posts = (post for review in thread.reviews for post in review.posts)
    if drafted := _find_post(tuple(posts), trigger.post_id):
        return max(drafted.at, asked_at)
    asking = _find_post(thread.posts[1:], trigger.post_id)
    if asking is None:
        return asked_at
    if asking.edited_at is not None and asking.edited_at <= asked_at:
        return asking.edited_at
    return asking.at


def _find_post(posts: Sequence[ThreadPost], post_id: str) -> ThreadPost | None:
    return next((post for post in posts if post.id == post_id), None)


def _posts_until(
    posts: Sequence[ThreadPost], post_id: str, moment: datetime
) -> list[ThreadPost]:
    """Return what was there when the request was made.

    The service tells times in whole seconds; within one, the order says it.
    """
    places = [place for place, post in enumerate(posts) if post.id == post_id]
    last = places[0] if places and posts[places[0]].at == moment else len(posts)
    return [
        post
        for place, post in enumerate(posts)
        if post.id == post_id
        or post.at < moment
        or (post.at == moment and place <= last)
    ]


def _as_requested(post: ThreadPost, text: str, moment: datetime) -> ThreadPost:
    """Return the post with the text that came with the request, if one did."""
    if not text:
        return _unedited(post, moment)
    return post.replace(text=text)


def _unedited(post: ThreadPost, moment: datetime) -> ThreadPost:
    # An edit within the same second may have come after the request. Ours has not:
    # people answer what they have read.
    second = moment.replace(microsecond=0)
    is_ours = post.author.is_bot and _OWN_STATUS_MARK in post.text
    limit = second if is_ours else second - _SECOND
    if post.edited_at is None or post.edited_at.replace(microsecond=0) <= limit:
        return post
    return post.replace(text=EDITED_TEXT)


def _reviews_as_requested(
    reviews: Sequence[ReviewThread], trigger: Trigger, moment: datetime
) -> tuple[ReviewThread, ...]:
    """Return the threads on lines without what was said after the request."""
    earlier = (
        thread.replace(
            posts=tuple(
                _as_requested(post, trigger.text, moment)
                if post.id == trigger.post_id
                else _unedited(post, moment)
                for post in thread.posts
                if post.at <= moment
            )
        )
        for thread in reviews
    )
    return tuple(thread for thread in earlier if thread.posts)


# The permission of at most so many people is checked, the newest first.
MAX_AUTHORS: Final = 30

# Returns None for what could not be found out.
FetchPermission = Callable[[Actor], Permission | None]

_ASSOCIATED: Final = frozenset({"owner", "member", "collaborator"})
_WHO_IS_LEFT_OUT: Final = {
    "write": "who may not write here",
    "association": "who are not owner, member or collaborator",
}


class FilteredThreads(Value):
    """Threads without the comments that do not count, and the notes about them."""

    threads: tuple[Thread, ...]
    notes: tuple[str, ...] = ()


def filter_comments(
    threads: Iterable[Thread],
    rule: ContextFrom,
    own: Sequence[Actor],
    ask: FetchPermission,
) -> FilteredThreads:
    """Leave out what does not count; opening texts and what `own` people say always do.

    By "write" those count who may write by the forge's own word, each asked about once;
    not knowing means no.
    """
    found = tuple(threads)
    if rule == "all-marked":
        return FilteredThreads(threads=found)
    others = [post for post in _comments(found) if not _is_one_of(post.author, own)]
    writers = _writers(others, ask) if rule == "write" else frozenset[str]()

    def counts(post: ThreadPost) -> bool:
        if _is_one_of(post.author, own):
            return True
        if rule == "association":
            return post.role in _ASSOCIATED
        return _author_key(post.author) in writers

    kept = tuple(_filter_thread(thread, counts) for thread in found)
    left_out = len(_comments(found)) - len(_comments(kept))
    return FilteredThreads(threads=kept, notes=_filter_notes(left_out, rule))


def _filter_notes(left_out: int, rule: ContextFrom) -> tuple[str, ...]:
    if not left_out:
        return ()
    were = "was" if left_out == 1 else "were"
    comments = count_noun(left_out, "comment")
    return (f"{comments} of people {_WHO_IS_LEFT_OUT[rule]} {were} left out.",)


def has_comments(thread: Thread) -> bool:
    return bool(_comments([thread]))


def _comments(threads: Iterable[Thread]) -> list[ThreadPost]:
    return [
        post
        for thread in threads
        for posts in (thread.posts[1:], *(one.posts for one in thread.reviews))
        for post in posts
    ]


def _writers(posts: Iterable[ThreadPost], ask: FetchPermission) -> frozenset[str]:
    """Ask about the authors of the newest posts, up to a number."""
    newest = sorted(posts, key=lambda post: post.at, reverse=True)
    authors = list({_author_key(post.author): post.author for post in newest}.values())
    asked = ((one, ask(one)) for one in authors[:MAX_AUTHORS])
    return frozenset(
        _author_key(one)
        for one, found in asked
        if found and found.allows(Permission.WRITE)
    )


def _filter_thread(thread: Thread, counts: Callable[[ThreadPost], bool]) -> Thread:
    opening, *comments = thread.posts
    posts = (opening, *filter(counts, comments))
    reviews = tuple(
        filter(None, (_filter_review(one, counts) for one in thread.reviews))
    )
    return thread.replace(posts=posts, reviews=reviews)


def _filter_review(
    review: ReviewThread, counts: Callable[[ThreadPost], bool]
) -> ReviewThread | None:
    """Return a review thread with what counts in it, None if nothing does."""
    posts = tuple(filter(counts, review.posts))
    return review.replace(posts=posts) if posts else None


def _author_key(author: Actor) -> str:
    return f"{author.service}:{author.host}:{author.subject}"


def _is_one_of(author: Actor, people: Sequence[Actor]) -> bool:
    return any(one.is_same(author) or _has_same_name(author, one) for one in people)


def _has_same_name(author: Actor, one: Actor) -> bool:
    """Tell it of somebody whom we know by the name alone."""
    is_there = (author.service, author.host) == (one.service, one.host)
    is_named = author.login.casefold() == one.login.casefold()
    return not one.external_id and is_there and is_named
