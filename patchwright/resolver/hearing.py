"""Decide whose comments the agent reads: everybody's, or those of some."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from patchwright.core.settings.repository import ContextFrom
from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import Post, ReviewThread, Thread
from patchwright.resolver.messages.facts import counted

# Whoever comes after so many is not asked about, the newest being asked about first.
MAX_AUTHORS: Final = 30

# Returns None for what could not be found out.
Ask = Callable[[Actor], Permission | None]

_ASSOCIATED: Final = frozenset({"owner", "member", "collaborator"})
_WHO: Final = {
    "write": "who may not write here",
    "association": "who are no owner, member or collaborator",
}


class Heard(Value):
    """Threads without the comments that do not count, and what people are told."""

    threads: tuple[Thread, ...]
    notes: tuple[str, ...] = ()


def hear(
    threads: Iterable[Thread], rule: ContextFrom, own: Sequence[Actor], ask: Ask
) -> Heard:
    """Leave out what does not count; opening texts and what `own` people say always do.

    By "write" those count who may write by the forge's own word, each asked about once;
    not knowing means no.
    """
    found = tuple(threads)
    if rule == "all-marked":
        return Heard(threads=found)
    others = [post for post in _comments(found) if not _is_any(post.author, own)]
    writers = _writers(others, ask) if rule == "write" else frozenset[str]()

    def counts(post: Post) -> bool:
        if _is_any(post.author, own):
            return True
        if rule == "association":
            return post.role in _ASSOCIATED
        return _key(post.author) in writers

    kept = tuple(_only(thread, counts) for thread in found)
    left_out = len(_comments(found)) - len(_comments(kept))
    return Heard(threads=kept, notes=_notes(left_out, rule))


def _notes(left_out: int, rule: ContextFrom) -> tuple[str, ...]:
    if not left_out:
        return ()
    were = "was" if left_out == 1 else "were"
    comments = counted(left_out, "comment")
    return (f"{comments} of people {_WHO[rule]} {were} left out.",)


def _comments(threads: Iterable[Thread]) -> list[Post]:
    return [
        post
        for thread in threads
        for said in (thread.posts[1:], *(one.posts for one in thread.reviews))
        for post in said
    ]


def _writers(posts: Iterable[Post], ask: Ask) -> frozenset[str]:
    """Ask about the authors of the newest posts, up to a number."""
    newest = sorted(posts, key=lambda post: post.at, reverse=True)
    authors = list({_key(post.author): post.author for post in newest}.values())
    asked = ((one, ask(one)) for one in authors[:MAX_AUTHORS])
    return frozenset(
        _key(one) for one, found in asked if found and found.allows(Permission.WRITE)
    )


def _only(thread: Thread, counts: Callable[[Post], bool]) -> Thread:
    opening, *said = thread.posts
    posts = (opening, *filter(counts, said))
    reviews = tuple(filter(None, (_heard(one, counts) for one in thread.reviews)))
    return thread.replace(posts=posts, reviews=reviews)


def _heard(review: ReviewThread, counts: Callable[[Post], bool]) -> ReviewThread | None:
    """Return a review thread with what counts in it, None if nothing does."""
    posts = tuple(filter(counts, review.posts))
    return review.replace(posts=posts) if posts else None


def _key(author: Actor) -> str:
    return f"{author.service}:{author.host}:{author.subject}"


def _is_any(author: Actor, people: Sequence[Actor]) -> bool:
    return any(one.is_same(author) or _has_name_of(author, one) for one in people)


def _has_name_of(author: Actor, one: Actor) -> bool:
    """Tell it of somebody whom we know by the name alone."""
    is_there = (author.service, author.host) == (one.service, one.host)
    is_named = author.login.casefold() == one.login.casefold()
    return not one.external_id and is_there and is_named
