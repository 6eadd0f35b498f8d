"""Hold a thread at the moment of a request: what was changed later is not read."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from patchwright.core.types.threads import ThreadPost, ReviewThread, Thread
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
    opening, *said = thread.posts
    kept = [
        _unedited(post, moment)
        for post in said
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
    said = (post for review in thread.reviews for post in review.posts)
    if drafted := _find_post(tuple(said), trigger.post_id):
        return max(drafted.at, asked_at)
    asking = _find_post(thread.posts[1:], trigger.post_id)
    if asking is None:
        return asked_at
    if asking.edited_at is not None and asking.edited_at <= asked_at:
        return asking.edited_at
    return asking.at


def _find_post(posts: Sequence[ThreadPost], post_id: str) -> ThreadPost | None:
    return next((post for post in posts if post.id == post_id), None)


def _posts_until(posts: Sequence[ThreadPost], post_id: str, moment: datetime) -> list[ThreadPost]:
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
