"""Decide which repository a request is about: what was named exactly, or a default.

Where neither says it, people are asked. There is no guess.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Final

from patchwright.core.types.base import Value
from patchwright.core.types.threads import RepoRef, TalkThread, ThreadRef
from patchwright.resolver.placing.asking import Ask
from patchwright.resolver.placing.places import Places
from patchwright.resolver.placing.questions import ask_any, ask_one, ask_other
from patchwright.resolver.placing.references import References

# Each costs a question to the forge, and most of what looks like a path is one.
MAX_POSSIBLE: Final = 5


class Access(StrEnum):
    """Whether the person who asks may read a repository, as far as we can tell."""

    READABLE = "readable"
    UNREADABLE = "unreadable"
    UNKNOWN = "unknown"


class Why(StrEnum):
    """What a choice rests on, from the strongest to the weakest."""

    ANSWER = "answer"
    REQUEST = "request"
    TICKET = "ticket"
    PLACE = "place"
    PLACE_DEFAULT = "place-default"
    OWN_DEFAULT = "own-default"


class Hints(Value):
    """All that says where the work may be.

    `answers` are the replies since, oldest first. `ticket` is that of the tickets it
    names and `place` that of its channel or project, both by the administrator's word;
    `place_default` and `own_default` were chosen by people. `said` is what a reply says
    in place of an exact name.
    """

    request: References = References()
    answers: tuple[References, ...] = ()
    ticket: RepoRef | None = None
    place: RepoRef | None = None
    place_default: RepoRef | None = None
    own_default: RepoRef | None = None
    said: str = ""


class Chosen(Value):
    repo: RepoRef
    why: Why


Judge = Callable[[RepoRef], Access]


def choose(hints: Hints, access: Judge, offered: tuple[str, ...] = ()) -> Chosen | Ask:
    """Return the repository, or what to ask.

    `access` judges for the person who asks, and `offered` are names that this person
    may be shown.
    """
    for why, named in _named(hints):
        found = _exact(named, access)
        if len(found) > 1:
            readable = [one for one in found if access(one) is Access.READABLE]
            return ask_one(found, readable)
        if found:
            return _if_readable(found[0], why, access, offered)
    for why, default in _defaults(hints):
        if default is not None:
            return _by_default(default, why, access, offered)
    return _ask(hints, offered)


def mapped_repository(
    thread: ThreadRef, mapping: Mapping[str, str], places: Places
) -> RepoRef | None:
    """Return what the administrator says about a thread's channel or project."""
    if not isinstance(thread, TalkThread):
        return None
    key = thread.place.rpartition("/")[2]
    full_name = mapping.get(key) or mapping.get(thread.place, "")
    return places.repository(full_name) if full_name else None


def repository_of_tickets(
    thread: ThreadRef,
    named: Iterable[ThreadRef],
    projects: Mapping[str, str],
    places: Places,
) -> RepoRef | None:
    """Return the one repository that all the tickets named in a thread belong to.

    A ticket has a project of its own, which says more than those that it names.
    """
    if thread.service == "jira":
        return None
    tickets = (one for one in named if one.service == "jira")
    found = {mapped_repository(one, projects, places) for one in tickets}
    return found.pop() if len(found) == 1 else None


def _named(hints: Hints) -> Iterable[tuple[Why, References]]:
    """Yield what names a repository, the strongest first: the newest answer wins."""
    yield from ((Why.ANSWER, answer) for answer in reversed(hints.answers))
    yield Why.REQUEST, hints.request


def _exact(named: References, access: Judge) -> tuple[RepoRef, ...]:
    """Return the repositories; what may be a path is one if it can be read."""
    if sure := named.meant or named.repositories:
        return sure
    possible = (*named.possible, *named.bare)[:MAX_POSSIBLE]
    return tuple(one for one in possible if access(one) is Access.READABLE)


def _if_readable(
    repo: RepoRef, why: Why, access: Judge, offered: tuple[str, ...]
) -> Chosen | Ask:
    if access(repo) is Access.READABLE:
        return Chosen(repo=repo, why=why)
    return ask_other(repo.full_name, offered)


def _defaults(hints: Hints) -> Iterable[tuple[Why, RepoRef | None]]:
    yield Why.TICKET, hints.ticket
    yield Why.PLACE, hints.place
    yield Why.PLACE_DEFAULT, hints.place_default
    yield Why.OWN_DEFAULT, hints.own_default


def _by_default(
    repo: RepoRef, why: Why, access: Judge, offered: tuple[str, ...]
) -> Chosen | Ask:
    """Take a default that the person may read; another one would surprise them.

    Its name is not told to somebody who has not named it and may not read it.
    """
    if access(repo) is Access.READABLE:
        return Chosen(repo=repo, why=why)
    return ask_other("", offered)


def _ask(hints: Hints, offered: tuple[str, ...]) -> Ask:
    possible = [
        one for named in (*hints.answers, hints.request) for one in named.possible
    ]
    if possible:
        return ask_other(possible[-1].full_name, offered)
    if len(hints.request.bare) == 1:
        return ask_other(hints.request.bare[0].full_name, offered)
    return ask_any(hints.said, offered)
