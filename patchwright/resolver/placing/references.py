"""Find what texts name exactly: repositories, issues, pull requests, tickets.

Nothing is found by resemblance, and nothing in code, in quotes or in a longer word.
"""

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from enum import Enum, auto
from typing import Final, TypeVar

from patchwright.core.text.prose import visible_prose
from patchwright.core.types.base import Value
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadRef
from patchwright.resolver.placing.places import ReferenceScope
from patchwright.resolver.placing.words import (
    ALONE_PATTERN,
    THREAD_KINDS,
    LEADING_WORDS,
    REFERENCE_PATTERN,
    FILE_PATH_PATTERN,
    REPOSITORY_PATH,
    TICKET_PATH,
)

MAX_SUGGESTED: Final = 3
# Of 1: less is no slip of the pen. Full names have their owner in common.
_ALIKE: Final = 0.6
_FULLY_ALIKE: Final = 0.8
# A quote goes on to the next blank line: its last paragraph may be continued so.
# https://spec.commonmark.org/0.31.2/#block-quotes
_QUOTE: Final = re.compile(r"^[ ]{0,3}>.*(?:\n(?![ \t]*$).*)*", re.MULTILINE)
_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_LONGEST_LEAD: Final = 40
One = TypeVar("One", RepoRef, ThreadRef)


class References(Value):
    """What was named, each once and in order.

    `meant` are those of the repositories that were named as the one to work in:
    `repo:NAME`. `possible` and `bare` are not among them: they look like a repository,
    and are one if the forge says so. Words lead to what is `possible` ("in NAME");
    to what is `bare` none do ("fix NAME", but also "the client/server protocol").
    """

    repositories: tuple[RepoRef, ...] = ()
    threads: tuple[ThreadRef, ...] = ()
    meant: tuple[RepoRef, ...] = ()
    possible: tuple[RepoRef, ...] = ()
    bare: tuple[RepoRef, ...] = ()


class Likelihood(Enum):
    """Whether a name is that of a repository."""

    SURE = auto()
    POSSIBLE = auto()
    BARE = auto()


class _NamedReference(Value):
    repository: RepoRef | None = None
    thread: ThreadRef | None = None
    is_meant: bool = False
    likelihood: Likelihood = Likelihood.SURE


def find_references(texts: Iterable[str], places: ReferenceScope) -> References:
    """Return what the texts name, for people who read them as Markdown.

    A bare `owner/name` is a repository if we know it or another one of that owner, or
    if the text is nothing else.
    """
    found = [one for text in texts for one in _read_text(text, places)]
    sure, possible, bare = (
        [one for one in found if one.likelihood is likelihood]
        for likelihood in Likelihood
    )
    return References(
        repositories=_repositories(sure),
        threads=_without_duplicates(one.thread for one in sure if one.thread),
        meant=_repositories(one for one in sure if one.is_meant),
        possible=_repositories(possible),
        bare=_repositories(bare),
    )


def suggest_names(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the known names most like this one, to ask whether one was meant."""
    by_key: dict[str, str] = {}
    for full_name in known:
        by_key.setdefault(full_name.casefold(), full_name)
        by_key.setdefault(full_name.casefold().rpartition("/")[2], full_name)
    cutoff = _FULLY_ALIKE if "/" in name else _ALIKE
    near = get_close_matches(name.casefold(), by_key, MAX_SUGGESTED, cutoff)
    return tuple(dict.fromkeys(by_key[key] for key in near))


def _read_text(text: str, places: ReferenceScope) -> Iterator[_NamedReference]:
    if alone := ALONE_PATTERN.match(text):
        yield _NamedReference(repository=places.repository(alone[1]), is_meant=True)
        return
    prose = _own_prose(text)
    for match in REFERENCE_PATTERN.finditer(prose):
        if named := _read_match(match, places):
            yield named


def _own_prose(text: str) -> str:
    """Leave what somebody says in their own words, as it looks to readers."""
    return _ESCAPE.sub(r"\1", _QUOTE.sub(" ", visible_prose(text))).strip()


def _read_match(match: re.Match[str], places: ReferenceScope) -> _NamedReference | None:
    if match["address"]:
        return _by_address(match["address"], places)
    if match["remote"]:
        return _by_address(f"{match['host']}/{match['remote']}", places)
    if match["meant"]:
        return _NamedReference(repository=places.repository(match["meant"]), is_meant=True)
    if match["repo"]:
        return _named_thread(places.repository(match["repo"]), "issues", match["number"])
    if match["key"]:
        ticket = places.ticket(match["key"])
        return _NamedReference(thread=ticket) if ticket else None
    before = match.string[max(0, match.start() - _LONGEST_LEAD) : match.start()]
    return _by_name(match["bare"], before, places)


def _by_name(name: str, before: str, places: ReferenceScope) -> _NamedReference | None:
    """Read what may be a path as well."""
    if known := places.known_repository(name):
        return _NamedReference(repository=known)
    owner, _, rest = name.partition("/")
    if "/" in rest:
        return None
    repository = RepoRef(forge=places.forge, full_name=name)
    if places.has_owner(owner):
        return _NamedReference(repository=repository)
    if FILE_PATH_PATTERN.match(name):
        return None
    is_led = LEADING_WORDS.search(before)
    likelihood = Likelihood.POSSIBLE if is_led else Likelihood.BARE
    return _NamedReference(repository=repository, likelihood=likelihood)


def _by_address(address: str, places: ReferenceScope) -> _NamedReference | None:
    if path := places.path_on_forge(address):
        found = REPOSITORY_PATH.match(path)
        repository = places.linked_repository(found["repo"]) if found else None
        if found and repository:
            return _named_thread(repository, found["kind"], found["number"])
    if path := places.path_on_jira(address):
        key = TICKET_PATH.match(path)
        ticket = places.ticket(key["key"]) if key else None
        return _NamedReference(thread=ticket) if ticket else None
    return None


def _named_thread(repository: RepoRef, kind: str | None, number: str | None) -> _NamedReference:
    if not (kind and number):
        return _NamedReference(repository=repository)
    thread = ForgeThread(repo=repository, kind=THREAD_KINDS[kind], number=int(number))
    return _NamedReference(repository=repository, thread=thread)


def _repositories(found: Iterable[_NamedReference]) -> tuple[RepoRef, ...]:
    return _without_duplicates(one.repository for one in found if one.repository)


def _without_duplicates(found: Iterable[One]) -> tuple[One, ...]:
    """Names are told apart without regard to case."""
    first: dict[str, One] = {}
    for one in found:
        first.setdefault(str(one).casefold(), one)
    return tuple(first.values())
