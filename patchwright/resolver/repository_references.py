"""Find the repositories, issues, pull requests and tickets that a text names."""

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from enum import Enum, auto
from typing import Final, TypeVar
from urllib.parse import urlsplit

from patchwright.core.text.hidden import visible_prose
from patchwright.core.types.base import Value
from patchwright.core.types.threads import (
    ForgeThread,
    RepoRef,
    TalkThread,
    ThreadKind,
    ThreadRef,
)

# https://docs.github.com/en/get-started/writing-on-github/working-with-advanced-formatting/autolinked-references-and-urls
# A login of a managed user ends with an underscore and the enterprise's short code.
# https://docs.github.com/en/enterprise-cloud@latest/admin/concepts/identity-and-access-management/enterprise-managed-users
OWNER_PATTERN: Final = r"[A-Za-z0-9][A-Za-z0-9_-]{0,38}"
# A full stop at the end is that of a sentence.
NAME_PATTERN: Final = r"(?!\.{1,2}(?![\w.-]))[A-Za-z0-9_.-]{0,99}[A-Za-z0-9_-]"
# What stands where an owner does in addresses of GitHub, and is none.
_NO_OWNERS: Final = frozenset(
    {"about", "apps", "collections", "enterprise", "explore", "features", "issues"}
    | {"login", "marketplace", "notifications", "orgs", "organizations", "pulls"}
    | {"search", "settings", "site", "sponsors", "stars", "topics", "users"}
)


class ReferenceScope(Value):
    """The forge and the ticket system that texts may refer to.

    `known` are the full names of the repositories that we know of: nothing else is
    taken for one where it could be a path as well. `projects` are the keys whose
    tickets count.
    """

    forge: str
    web_url: str
    known: tuple[str, ...] = ()
    tracker: str = ""
    tracker_url: str = ""
    tracker_host: str = ""
    projects: tuple[str, ...] = ()

    def repository(self, full_name: str) -> RepoRef:
        """Return a repository under the name that we know, whatever its case here."""
        name = full_name.removesuffix(".git")
        return self.known_repository(name) or RepoRef(forge=self.forge, full_name=name)

    def known_repository(self, full_name: str) -> RepoRef | None:
        wanted = full_name.casefold()
        names = (name for name in self.known if name.casefold() == wanted)
        found = next(names, None)
        return RepoRef(forge=self.forge, full_name=found) if found else None

    def has_owner(self, owner: str) -> bool:
        """Tell whether a repository that we know is that owner's."""
        start = f"{owner}/".casefold()
        return any(name.casefold().startswith(start) for name in self.known)

    def linked_repository(self, full_name: str) -> RepoRef | None:
        """Return what an address of the forge leads to, unless it is another page."""
        is_page = full_name.partition("/")[0].casefold() in _NO_OWNERS
        return None if is_page else self.repository(full_name)

    def ticket(self, key: str) -> TalkThread | None:
        """Return the ticket with that key if its project is one of ours."""
        project = key.rpartition("-")[0].upper()
        if not self.tracker_host or project not in self.projects:
            return None
        return TalkThread(
            service=self.tracker,
            place=f"{self.tracker_host}/{project}",
            kind=ThreadKind.TICKET,
            id=key.upper(),
        )

    def path_on_forge(self, address: str) -> str | None:
        """Return what follows the forge's address, or None for another host."""
        return _path_below(address, self.web_url)

    def path_on_tracker(self, address: str) -> str | None:
        return _path_below(address, self.tracker_url) if self.tracker_url else None


def _path_below(address: str, base: str) -> str | None:
    """Compare without the scheme, which people leave out, and without case."""
    parts = urlsplit(base)
    start = rf"(?:https?://)?(?:www\.)?{re.escape(parts.netloc + parts.path)}(?:/|\Z)"
    found = re.match(start, address, re.IGNORECASE)
    return address[found.end() :] if found else None


THREAD_KINDS: Final = {
    "issues": ThreadKind.ISSUE,
    "pull": ThreadKind.PULL_REQUEST,
    "discussions": ThreadKind.DISCUSSION,
}
_NUMBER: Final = r"(?P<number>[1-9]\d{0,9})(?![\w-])"
_KEY: Final = r"[A-Z][A-Z0-9_]+-[1-9]\d{0,9}"
# Chinese, Japanese and Korean put no blanks between words.
_LETTER: Final = r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]"
# What goes on to one of both sides is a longer word: a path, an address, a version.
_FREE: Final = rf"(?<!{_LETTER})(?<![/@.#:&=+~-])"
_ENDS: Final = rf"(?!{_LETTER}|[/@-]|[.#:]\w)"
_IN_ADDRESS: Final = r"[^\s<>()\[\]\"'`|]+"
_HOST: Final = r"[\w-]+(?:\.[\w-]+)+(?::\d+)?/"

# Below the address of the forge.
REPOSITORY_PATH: Final = re.compile(
    rf"(?P<repo>{OWNER_PATTERN}/{NAME_PATTERN})(?=[/?#.,;:!*~]|\Z)"
    rf"(?:/(?P<kind>{'|'.join(THREAD_KINDS)})/{_NUMBER})?"
)
# Below the address of the ticket system.
TICKET_PATH: Final = re.compile(
    rf"(?:browse/|\S*[?&]selectedIssue=)(?P<key>{_KEY})(?![\w-])", re.IGNORECASE
)
# In a text. What is `meant` is called a repository; what is `bare` may be a path.
REFERENCE_PATTERN: Final = re.compile(
    rf"(?P<address>(?:https?://|{_FREE}(?={_HOST})){_IN_ADDRESS})"
    rf"|{_FREE}(?:ssh://)?git@(?P<host>[\w.-]+)[:/](?P<remote>{OWNER_PATTERN}/{NAME_PATTERN})"
    rf"|{_FREE}(?i:repo(?:sitory)?):[ \t]*"
    rf"(?P<meant>{OWNER_PATTERN}/{NAME_PATTERN}){_ENDS}"
    rf"|{_FREE}(?P<repo>{OWNER_PATTERN}/{NAME_PATTERN})#{_NUMBER}"
    rf"|{_FREE}(?P<bare>{OWNER_PATTERN}(?:/{NAME_PATTERN})+){_ENDS}"
    rf"|{_FREE}(?P<key>{_KEY}){_ENDS}"
)
ALONE_PATTERN: Final = re.compile(
    rf"\s*[`*_]*({OWNER_PATTERN}/{NAME_PATTERN})[`*_.!]*\s*\Z"
)
# What leads to the name of a repository rather than of a file, if it is both.
LEADING_WORDS: Final = re.compile(
    r"(?:\A|\b(?:in|for|of|to|on|at|from|use|repo|repository|project))\s*(?:the\s+)?\Z",
    re.IGNORECASE,
)
# What is a file or a folder rather than a repository, whatever leads to it.
FILE_PATH_PATTERN: Final = re.compile(
    r"(?:src|lib|tests?|docs?|app|pkg|cmd|bin|internal|packages|scripts|config)/"
    r"|.*\.(?:[ch]|cc|cfg|cpp|cs|css|go|html?|ini|java|json|jsx?|kt|lock|md|php|py|rb"
    r"|rs|rst|sh|sql|swift|toml|tsx?|txt|xml|ya?ml)\Z",
    re.IGNORECASE,
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
        return _NamedReference(
            repository=places.repository(match["meant"]), is_meant=True
        )
    if match["repo"]:
        return _named_thread(
            places.repository(match["repo"]), "issues", match["number"]
        )
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
    if path := places.path_on_tracker(address):
        key = TICKET_PATH.match(path)
        ticket = places.ticket(key["key"]) if key else None
        return _NamedReference(thread=ticket) if ticket else None
    return None


def _named_thread(
    repository: RepoRef, kind: str | None, number: str | None
) -> _NamedReference:
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


_THREAD: Final = re.compile(
    r"/(?P<repo>[\w-]+/(?!\.\.?/)[\w.-]+)/(?P<kind>issues|pull)/(?P<number>\d{1,18})"
    # As copied from a tab of the page, or from one of its comments.
    r"(?:/[\w-]*)*(?:[?#].*)?"
)


def read_thread_url(url: str, web_url: str, forge: str) -> ForgeThread | None:
    """Return the thread on that site, None for any other address.

    A credential goes there, so that the host must be the configured one.
    """
    found = _THREAD.fullmatch(url.removeprefix(web_url))
    if not url.startswith(f"{web_url}/") or found is None:
        return None
    kind = ThreadKind.ISSUE if found["kind"] == "issues" else ThreadKind.PULL_REQUEST
    repo = RepoRef(forge=forge, full_name=found["repo"])
    return ForgeThread(repo=repo, kind=kind, number=int(found["number"]))
