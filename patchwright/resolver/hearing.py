"""Decide whose comments the agent reads: everybody's, or those of some."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from patchwright.core.settings.repository import ContextFrom
from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import ThreadPost, ReviewThread, Thread
from patchwright.resolver.messages.facts import count_noun

# Whoever comes after so many is not asked about, the newest being asked about first.
MAX_AUTHORS: Final = 30

# Returns None for what could not be found out.
FetchPermission = Callable[[Actor], Permission | None]

_ASSOCIATED: Final = frozenset({"owner", "member", "collaborator"})
_WHO_IS_LEFT_OUT: Final = {
    "write": "who may not write here",
    "association": "who are no owner, member or collaborator",
}


class FilteredThreads(Value):
    """Threads without the comments that do not count, and what people are told."""

    threads: tuple[Thread, ...]
    notes: tuple[str, ...] = ()


def filter_comments(
    threads: Iterable[Thread], rule: ContextFrom, own: Sequence[Actor], ask: FetchPermission
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


def _comments(threads: Iterable[Thread]) -> list[ThreadPost]:
    return [
        post
        for thread in threads
        for said in (thread.posts[1:], *(one.posts for one in thread.reviews))
        for post in said
    ]


def _writers(posts: Iterable[ThreadPost], ask: FetchPermission) -> frozenset[str]:
    """Ask about the authors of the newest posts, up to a number."""
    newest = sorted(posts, key=lambda post: post.at, reverse=True)
    authors = list({_author_key(post.author): post.author for post in newest}.values())
    asked = ((one, ask(one)) for one in authors[:MAX_AUTHORS])
    return frozenset(
        _author_key(one) for one, found in asked if found and found.allows(Permission.WRITE)
    )


def _filter_thread(thread: Thread, counts: Callable[[ThreadPost], bool]) -> Thread:
    opening, *said = thread.posts
    posts = (opening, *filter(counts, said))
    reviews = tuple(filter(None, (_filter_review(one, counts) for one in thread.reviews)))
    return thread.replace(posts=posts, reviews=reviews)


def _filter_review(review: ReviewThread, counts: Callable[[ThreadPost], bool]) -> ReviewThread | None:
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
