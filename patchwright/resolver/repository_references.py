"""Find the repositories, issues, pull requests and tickets that a text names."""

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from enum import Enum, auto
from functools import lru_cache
from typing import Final, TypeVar
from urllib.parse import urlsplit

from patchwright.core.text.hidden import visible_prose
from patchwright.core.types.base import Value
from patchwright.core.types.threads import (
    NAME_PATTERN,
    USUAL_FORMS,
    ForgeForms,
    ForgeThread,
    RepoRef,
    TalkThread,
    ThreadKind,
    ThreadRef,
    name_pattern,
)

# Words at the place of the owner in GitHub addresses that are not owners.
_NO_OWNERS: Final = frozenset(
    {"about", "apps", "collections", "enterprise", "explore", "features", "issues"}
    | {"login", "marketplace", "notifications", "orgs", "organizations", "pulls"}
    | {"search", "settings", "site", "sponsors", "stars", "topics", "users"}
)


class TrackerScope(Value):
    """A ticket system that texts may refer to.

    `projects` are the keys of the projects whose tickets count.
    """

    service: str
    url: str
    host: str
    projects: tuple[str, ...] = ()

    def ticket(self, key: str) -> TalkThread | None:
        """Return the ticket with this key, if its project counts."""
        project = key.rpartition("-")[0].upper()
        if project not in (one.upper() for one in self.projects):
            return None
        return TalkThread(
            service=self.service,
            place=f"{self.host}/{project}",
            kind=ThreadKind.TICKET,
            id=key.upper(),
        )


class ReferenceScope(Value):
    """The forge and the ticket systems that texts may refer to.

    `known` are the full names of the known repositories: any other text that could also
    be a path is not read as a repository.
    """

    forge: str
    web_url: str
    forms: ForgeForms = USUAL_FORMS
    known: tuple[str, ...] = ()
    trackers: tuple[TrackerScope, ...] = ()

    def repository(self, full_name: str) -> RepoRef:
        """Return the known name of a repository; upper and lower case do not matter."""
        name = full_name.removesuffix(".git")
        return self.known_repository(name) or RepoRef(forge=self.forge, full_name=name)

    def known_repository(self, full_name: str) -> RepoRef | None:
        wanted = full_name.casefold()
        names = (name for name in self.known if name.casefold() == wanted)
        found = next(names, None)
        return RepoRef(forge=self.forge, full_name=found) if found else None

    def has_owner(self, owner: str) -> bool:
        """Tell whether a known repository belongs to this owner."""
        start = f"{owner}/".casefold()
        return any(name.casefold().startswith(start) for name in self.known)

    def linked_repository(self, full_name: str) -> RepoRef | None:
        """Return the repository or thread at an address of the forge, if it is one."""
        is_page = full_name.partition("/")[0].casefold() in _NO_OWNERS
        return None if is_page else self.repository(full_name)

    def ticket(self, key: str) -> TalkThread | None:
        """Return the ticket with this key in the first system that has its project."""
        found = (one.ticket(key) for one in self.trackers)
        return next(filter(None, found), None)

    def ticket_at(self, address: str) -> TalkThread | None:
        """Return the ticket whose page is at an address."""
        for one in self.trackers:
            path = _path_below(address, one.url)
            if path and (found := TICKET_PATH.match(path)):
                return one.ticket(found["key"])
        return None

    def path_on_forge(self, address: str) -> str | None:
        """Return what follows the forge's address, or None for another host."""
        return _path_below(address, self.web_url)


def _path_below(address: str, base: str) -> str | None:
    """Compare without the scheme, which people leave out; ignore case."""
    parts = urlsplit(base)
    start = rf"(?:https?://)?(?:www\.)?{re.escape(parts.netloc + parts.path)}(?:/|\Z)"
    found = re.match(start, address, re.IGNORECASE)
    return address[found.end() :] if found else None


_NUMBER: Final = r"(?P<number>[1-9]\d{0,9})(?![\w-])"
_KEY: Final = r"[A-Z][A-Z0-9_]+-[1-9]\d{0,9}"
# Chinese, Japanese and Korean write no spaces between words.
_LETTER: Final = r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]"
# If the text continues on either side, it is a longer word: a path, address or version.
_FREE: Final = rf"(?<!{_LETTER})(?<![/@.#:&=+~-])"
_ENDS: Final = rf"(?!{_LETTER}|[/@-]|[.#:]\w)"
_IN_ADDRESS: Final = r"[^\s<>()\[\]\"'`|]+"
_HOST: Final = r"[\w-]+(?:\.[\w-]+)+(?::\d+)?/"

# Below the address of a ticket system.
TICKET_PATH: Final = re.compile(
    rf"(?:browse/|issue/|\S*[?&]selectedIssue=)(?P<key>{_KEY})(?![\w-])",
    re.IGNORECASE,
)


@lru_cache
def _reference_pattern(*, has_groups: bool, marks: str) -> re.Pattern[str]:
    """Read a text. `meant` is clearly called a repository; `bare` may be a path."""
    name = name_pattern(has_groups=has_groups)
    longer = name if has_groups else f"{name}(?:/{NAME_PATTERN})*"
    return re.compile(
        rf"(?P<address>(?:https?://|{_FREE}(?={_HOST})){_IN_ADDRESS})"
        rf"|{_FREE}(?:ssh://)?git@(?P<host>[\w.-]+)[:/](?P<remote>{name})"
        rf"|{_FREE}(?i:repo(?:sitory)?):[ \t]*(?P<meant>{name}){_ENDS}"
        rf"|{_FREE}(?P<repo>{name})(?P<mark>[{marks}]){_NUMBER}"
        rf"|{_FREE}(?P<bare>{longer}){_ENDS}"
        rf"|{_FREE}(?P<key>{_KEY}){_ENDS}"
    )


@lru_cache
def _alone_pattern(*, has_groups: bool) -> re.Pattern[str]:
    name = name_pattern(has_groups=has_groups)
    return re.compile(rf"\s*[`*_]*({name})[`*_.!]*\s*\Z")


# Words before a name that make it a repository and not a file, if both are possible.
LEADING_WORDS: Final = re.compile(
    r"(?:\A|\b(?:in|for|of|to|on|at|from|use|repo|repository|project))\s*(?:the\s+)?\Z",
    re.IGNORECASE,
)
# Names of files or folders, never of repositories, whatever word comes before.
FILE_PATH_PATTERN: Final = re.compile(
    r"(?:src|lib|tests?|docs?|app|pkg|cmd|bin|internal|packages|scripts|config)/"
    r"|.*\.(?:[ch]|cc|cfg|cpp|cs|css|go|html?|ini|java|json|jsx?|kt|lock|md|php|py|rb"
    r"|rs|rst|sh|sql|swift|toml|tsx?|txt|xml|ya?ml)\Z",
    re.IGNORECASE,
)


MAX_SUGGESTED: Final = 3
# Out of 1: a lower value is not a typing mistake. Full names share their owner.
_ALIKE: Final = 0.6
_FULLY_ALIKE: Final = 0.8
# A quote ends at the next blank line: its last paragraph may continue without `>`.
# https://spec.commonmark.org/0.31.2/#block-quotes
_QUOTE: Final = re.compile(r"^[ ]{0,3}>.*(?:\n(?![ \t]*$).*)*", re.MULTILINE)
_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_LONGEST_LEAD: Final = 40
One = TypeVar("One", RepoRef, ThreadRef)


class References(Value):
    """Everything that was named, each once and in order.

    `meant` are the repositories that were named as the one to work in: `repo:NAME`.
    `possible` and `bare` are other names that look like a repository; the forge says
    whether they are one. A `possible` name comes after a word such as "in" ("in NAME").
    A `bare` name does not ("fix NAME", but also "the client/server protocol").
    """

    repositories: tuple[RepoRef, ...] = ()
    threads: tuple[ThreadRef, ...] = ()
    meant: tuple[RepoRef, ...] = ()
    possible: tuple[RepoRef, ...] = ()
    bare: tuple[RepoRef, ...] = ()


class Likelihood(Enum):
    """Whether a name is the name of a repository."""

    SURE = auto()
    POSSIBLE = auto()
    BARE = auto()


class _NamedReference(Value):
    repository: RepoRef | None = None
    thread: ThreadRef | None = None
    is_meant: bool = False
    likelihood: Likelihood = Likelihood.SURE


def find_references(texts: Iterable[str], places: ReferenceScope) -> References:
    """Return the references in the texts, as people see them in rendered Markdown.

    A bare `owner/name` is a repository if this repository or another one of the owner
    is known, or if the text contains nothing else.
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
    """Return the known names that are most similar, to ask whether one was meant."""
    by_key: dict[str, str] = {}
    for full_name in known:
        by_key.setdefault(full_name.casefold(), full_name)
        by_key.setdefault(full_name.casefold().rpartition("/")[2], full_name)
    cutoff = _FULLY_ALIKE if "/" in name else _ALIKE
    near = get_close_matches(name.casefold(), by_key, MAX_SUGGESTED, cutoff)
    return tuple(dict.fromkeys(by_key[key] for key in near))


def _read_text(text: str, places: ReferenceScope) -> Iterator[_NamedReference]:
    forms = places.forms
    if alone := _alone_pattern(has_groups=forms.has_groups).match(text):
        yield _NamedReference(repository=places.repository(alone[1]), is_meant=True)
        return
    prose = _own_prose(text)
    pattern = _reference_pattern(has_groups=forms.has_groups, marks=forms.marks)
    for match in pattern.finditer(prose):
        if named := _read_match(match, places):
            yield named


def _own_prose(text: str) -> str:
    """Return the person's own words as readers see them, without quoted text."""
    return _ESCAPE.sub(r"\1", _QUOTE.sub(" ", visible_prose(text))).strip()


def _read_match(match: re.Match[str], places: ReferenceScope) -> _NamedReference | None:
    if match["address"]:
        return _by_address(match["address"], places)
    if match["remote"]:
        return _by_address(f"{match['host']}/{match['remote']}", places)
    if match["meant"]:
        return _NamedReference(
            repository=places.repository(match["meant"]), is_meant=True
        )
    if match["repo"]:
        repository = places.repository(match["repo"])
        kind = places.forms.kind_of_mark(match["mark"])
        return _named_thread(repository, kind, match["number"])
    if match["key"]:
        ticket = places.ticket(match["key"])
        return _NamedReference(thread=ticket) if ticket else None
    before = match.string[max(0, match.start() - _LONGEST_LEAD) : match.start()]
    return _by_name(match["bare"], before, places)


def _by_name(name: str, before: str, places: ReferenceScope) -> _NamedReference | None:
    """Read names that could also be a path."""
    if known := places.known_repository(name):
        return _NamedReference(repository=known)
    owner, _, rest = name.partition("/")
    if "/" in rest and not places.forms.has_groups:
        return None
    repository = RepoRef(forge=places.forge, full_name=name)
    if places.has_owner(owner):
        return _NamedReference(repository=repository)
    if FILE_PATH_PATTERN.match(name):
        return None
    is_led = LEADING_WORDS.search(before)
    if "/" in rest and not is_led:
        return None
    likelihood = Likelihood.POSSIBLE if is_led else Likelihood.BARE
    return _NamedReference(repository=repository, likelihood=likelihood)


def _by_address(address: str, places: ReferenceScope) -> _NamedReference | None:
    if path := places.path_on_forge(address):
        found = _read_path(path, places.forms)
        repository = places.linked_repository(found.name) if found else None
        if found and repository:
            return _named_thread(repository, found.kind, found.number)
    ticket = places.ticket_at(address)
    return _NamedReference(thread=ticket) if ticket else None


def _named_thread(
    repository: RepoRef, kind: ThreadKind | None, number: str
) -> _NamedReference:
    if kind is None:
        return _NamedReference(repository=repository)
    thread = ForgeThread(repo=repository, kind=kind, number=int(number))
    return _NamedReference(repository=repository, thread=thread)


def _repositories(found: Iterable[_NamedReference]) -> tuple[RepoRef, ...]:
    return _without_duplicates(one.repository for one in found if one.repository)


def _without_duplicates(found: Iterable[One]) -> tuple[One, ...]:
    """Upper and lower case make no difference between names."""
    first: dict[str, One] = {}
    for one in found:
        first.setdefault(str(one).casefold(), one)
    return tuple(first.values())


class _ForgePath(Value):
    """What an address names below that of the forge: a repository, or its thread."""

    name: str
    kind: ThreadKind | None = None
    number: str = ""
    rest: str = ""


def _read_path(path: str, forms: ForgeForms) -> _ForgePath | None:
    name = name_pattern(has_groups=forms.has_groups)
    kinds = "|".join(map(re.escape, forms.thread_paths))
    found = re.match(
        rf"(?P<repo>{name})(?=[/?#.,;:!*~]|\Z)"
        rf"(?:/{re.escape(forms.pages_path)}(?P<kind>{kinds})/{_NUMBER})?(?P<rest>.*)",
        path,
        re.DOTALL,
    )
    if found is None:
        return None
    kind = forms.thread_paths[found["kind"]] if found["kind"] else None
    return _ForgePath(
        name=found["repo"],
        kind=kind,
        number=found["number"] or "",
        rest=found["rest"],
    )


# Of an address that was copied from a tab of the page, or from a comment.
_TAB: Final = re.compile(r"(?:/[\w-]*)*(?:[?#].*)?")


def read_thread_url(
    url: str, web_url: str, forge: str, forms: ForgeForms = USUAL_FORMS
) -> ForgeThread | None:
    """Return the thread at an address of this site; None for any other address.

    A token is sent there, so the host must be the configured host.
    """
    found = _read_path(url.removeprefix(f"{web_url}/"), forms)
    if not url.startswith(f"{web_url}/") or found is None or found.kind is None:
        return None
    if not _TAB.fullmatch(found.rest) or found.kind is ThreadKind.DISCUSSION:
        return None
    repo = RepoRef(forge=forge, full_name=found.name)
    return ForgeThread(repo=repo, kind=found.kind, number=int(found.number))
