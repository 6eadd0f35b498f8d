"""Decide which repository a request is about: what was named exactly, or a default.

Where neither says it, people are asked. There is no guess.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Final

from patchwright.core.types.base import Value
from patchwright.core.types.threads import RepoRef, TalkThread, ThreadRef
from patchwright.resolver.placing.asking import Question
from patchwright.resolver.placing.places import ReferenceScope
from patchwright.resolver.placing.questions import ask_for_repository, ask_which_repository, ask_for_another_repository
from patchwright.resolver.placing.references import References

# Each costs a question to the forge, and most of what looks like a path is one.
MAX_POSSIBLE: Final = 5


class RepositoryAccess(StrEnum):
    """Whether the person who asks may read a repository, as far as we can tell."""

    READABLE = "readable"
    UNREADABLE = "unreadable"
    UNKNOWN = "unknown"


class ChoiceReason(StrEnum):
    """What a choice rests on, from the strongest to the weakest."""

    ANSWER = "answer"
    REQUEST = "request"
    TICKET = "ticket"
    PLACE = "place"
    PLACE_DEFAULT = "place-default"
    OWN_DEFAULT = "own-default"


class RepositoryCandidates(Value):
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


class RepositoryChoice(Value):
    repo: RepoRef
    why: ChoiceReason


JudgeAccess = Callable[[RepoRef], RepositoryAccess]


def choose_repository(hints: RepositoryCandidates, access: JudgeAccess, offered: tuple[str, ...] = ()) -> RepositoryChoice | Question:
    """Return the repository, or what to ask.

    `access` judges for the person who asks, and `offered` are names that this person
    may be shown.
    """
    for why, named in _named_candidates(hints):
        found = _exact_matches(named, access)
        if len(found) > 1:
            readable = [one for one in found if access(one) is RepositoryAccess.READABLE]
            return ask_which_repository(found, readable)
        if found:
            return _choose_if_readable(found[0], why, access, offered)
    for why, default in _default_candidates(hints):
        if default is not None:
            return _choose_default(default, why, access, offered)
    return _ask_for_repository(hints, offered)


def mapped_repository(
    thread: ThreadRef, mapping: Mapping[str, str], places: ReferenceScope
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
    places: ReferenceScope,
) -> RepoRef | None:
    """Return the one repository that all the tickets named in a thread belong to.

    A ticket has a project of its own, which says more than those that it names.
    """
    if thread.service == "jira":
        return None
    tickets = (one for one in named if one.service == "jira")
    found = {mapped_repository(one, projects, places) for one in tickets}
    return found.pop() if len(found) == 1 else None


def _named_candidates(hints: RepositoryCandidates) -> Iterable[tuple[ChoiceReason, References]]:
    """Yield what names a repository, the strongest first: the newest answer wins."""
    yield from ((ChoiceReason.ANSWER, answer) for answer in reversed(hints.answers))
    yield ChoiceReason.REQUEST, hints.request


def _exact_matches(named: References, access: JudgeAccess) -> tuple[RepoRef, ...]:
    """Return the repositories; what may be a path is one if it can be read."""
    if sure := named.meant or named.repositories:
        return sure
    possible = (*named.possible, *named.bare)[:MAX_POSSIBLE]
    return tuple(one for one in possible if access(one) is RepositoryAccess.READABLE)


def _choose_if_readable(
    repo: RepoRef, why: ChoiceReason, access: JudgeAccess, offered: tuple[str, ...]
) -> RepositoryChoice | Question:
    if access(repo) is RepositoryAccess.READABLE:
        return RepositoryChoice(repo=repo, why=why)
    return ask_for_another_repository(repo.full_name, offered)


def _default_candidates(hints: RepositoryCandidates) -> Iterable[tuple[ChoiceReason, RepoRef | None]]:
    yield ChoiceReason.TICKET, hints.ticket
    yield ChoiceReason.PLACE, hints.place
    yield ChoiceReason.PLACE_DEFAULT, hints.place_default
    yield ChoiceReason.OWN_DEFAULT, hints.own_default


def _choose_default(
    repo: RepoRef, why: ChoiceReason, access: JudgeAccess, offered: tuple[str, ...]
) -> RepositoryChoice | Question:
    """Take a default that the person may read; another one would surprise them.

    Its name is not told to somebody who has not named it and may not read it.
    """
    if access(repo) is RepositoryAccess.READABLE:
        return RepositoryChoice(repo=repo, why=why)
    return ask_for_another_repository("", offered)


def _ask_for_repository(hints: RepositoryCandidates, offered: tuple[str, ...]) -> Question:
    possible = [
        one for named in (*hints.answers, hints.request) for one in named.possible
    ]
    if possible:
        return ask_for_another_repository(possible[-1].full_name, offered)
    if len(hints.request.bare) == 1:
        return ask_for_another_repository(hints.request.bare[0].full_name, offered)
    return ask_for_repository(hints.said, offered)
