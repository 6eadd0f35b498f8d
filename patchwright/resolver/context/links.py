"""Find what texts refer to: issues, pull requests, commits, lines of code."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, assert_never
from urllib.parse import unquote

from patchwright.core.text.hidden import visible_prose
from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import (
    ForgeForms,
    ForgeThread,
    RepoRef,
    Repository,
    ThreadKind,
    ThreadPost,
    ThreadRef,
    name_pattern,
)

MAX_LINKS: Final = 10

_NUMBER = r"(?P<number>[1-9]\d{0,9})"
_SHA = r"(?P<sha>[0-9a-f]{40}|[0-9a-f]{64})"
_END = r"(?![\w-])"
# What follows the address of a repository; a branch may have slashes in its name.
_COMMIT_PATH = re.compile(
    rf"(?:commit|pull/\d+/commits)/(?P<sha>[0-9a-f]{{7,64}}){_END}"
)
_CODE_PATH = re.compile(
    r"blob/(?P<rest>[^\s?#)>\]\"']+)(?:\?[^\s#)>\]\"']*)?"
    r"(?:#L(?P<first>\d{1,7})(?:C\d+)?(?:-L(?P<last>\d{1,7}))?)?"
)


@lru_cache
def _word_pattern(*, has_groups: bool, marks: str) -> re.Pattern[str]:
    """Read short forms, as `#7` and `acme/shop#7` are."""
    name = name_pattern(has_groups=has_groups)
    return re.compile(
        rf"(?<![\w/@.&-])(?P<repo>{name})?(?P<mark>[{marks}]){_NUMBER}{_END}"
        rf"|(?<![\w/@.-])GH-(?P<gh>[1-9]\d{{0,9}}){_END}"
        rf"|(?<![\w/.#-])(?:(?P<at>{name})@)?{_SHA}{_END}"
    )


class ThreadLink(Value):
    """A thread; where all are counted together, an issue may be of another kind."""

    repo: RepoRef
    number: int
    kind: ThreadKind = ThreadKind.ISSUE


class CommitLink(Value):
    repo: RepoRef
    sha: str


class CodeLink(Value):
    """Lines of a file; `rest` is `REF/PATH`, and both may have slashes in them."""

    repo: RepoRef
    rest: str
    first: int | None = None
    last: int | None = None

    @property
    def sha(self) -> str:
        """Return the commit of a permalink, empty where it names a branch."""
        ref = self.rest.partition("/")[0]
        return ref if re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", ref) else ""

    @property
    def path(self) -> str:
        """Return the path of a permalink."""
        return self.rest.partition("/")[2]


LinkTarget = ThreadLink | CommitLink | CodeLink


class TextLink(Value):
    """What texts refer to, and the accounts of who wrote them.

    `name` is how it is called there.
    """

    name: str
    target: LinkTarget
    by: tuple[Actor, ...] = ()


def find_links(
    posts: Iterable[ThreadPost], own: ThreadRef, home: Repository
) -> list[TextLink]:
    """Return what the posts refer to, in their order, each once.

    `own` is their thread, `home` the repository that a bare number is about. Code is
    not read, and no address of another host.
    """
    found: dict[LinkTarget, TextLink] = {}
    for post in posts:
        for name, target in _read_text(visible_prose(post.text), home):
            if not _is_same(target, own):
                known = found.get(target, TextLink(name=name, target=target))
                by = (*known.by, post.author)
                found[target] = TextLink(name=known.name, target=target, by=by)
    return list(found.values())


def _is_same(target: LinkTarget, own: ThreadRef) -> bool:
    if not (isinstance(target, ThreadLink) and isinstance(own, ForgeThread)):
        return False
    is_kind = target.kind is own.kind or not {target.kind, own.kind} & _APART
    return is_kind and (target.repo, target.number) == (own.repo, own.number)


# What is counted by itself; all else has one row of numbers.
_APART: Final = frozenset({ThreadKind.MERGE_REQUEST})


def _read_text(text: str, home: Repository) -> Iterator[tuple[str, LinkTarget]]:
    """Yield addresses and short forms; what is an address is no short form too."""
    address, done = _address_pattern(home), 0
    for match in address.finditer(text):
        yield from _read_words(text[done : match.start()], home)
        repo = _repo(match["repo"], home.ref)
        end = re.compile(r"\S*").match(text, match.end())
        done = end.end() if end else match.end()
        if target := _read_path(text[match.end() : done], repo, home.forms):
            yield _link_name(target, home.ref), target
    yield from _read_words(text[done:], home)


def _address_pattern(home: Repository) -> re.Pattern[str]:
    """Read the address of a repository, up to what tells its pages apart."""
    name = name_pattern(has_groups=home.forms.has_groups)
    start = rf"{re.escape(home.site_url)}/(?P<repo>{name})/"
    pages = re.escape(home.forms.pages_path)
    return re.compile(rf"{start}{pages}(?=[bcdipmw])", re.IGNORECASE)


def _read_path(path: str, repo: RepoRef, forms: ForgeForms) -> LinkTarget | None:
    paths = "|".join(map(re.escape, forms.thread_paths))
    if found := re.match(rf"(?P<path>{paths})/{_NUMBER}{_END}", path):
        commit = _COMMIT_PATH.match(path)
        if commit is None:
            named = forms.thread_paths[found["path"]]
            kind = forms.pull_kind if forms.counts_apart and named.is_pull else None
            number = int(found["number"])
            return ThreadLink(repo=repo, number=number, kind=kind or ThreadKind.ISSUE)
    if found := _COMMIT_PATH.match(path):
        return CommitLink(repo=repo, sha=found["sha"])
    if found := _CODE_PATH.match(path):
        first, last, rest = found["first"], found["last"], unquote(found["rest"])
        if _leaves_folder(rest):
            return None
        return CodeLink(
            repo=repo,
            rest=rest,
            first=int(first) if first else None,
            last=int(last) if last else None,
        )
    return None


def _leaves_folder(path: str) -> bool:
    """Tell whether a path would lead out of its folder, to another address."""
    return not {"", ".", ".."}.isdisjoint(path.split("/")) or not path.isprintable()


def _read_words(text: str, home: Repository) -> Iterator[tuple[str, LinkTarget]]:
    forms = home.forms
    pattern = _word_pattern(has_groups=forms.has_groups, marks=forms.marks)
    without_urls = re.sub(r"(?:https?://|www\.)\S+", " ", text)
    for match in pattern.finditer(without_urls):
        repo = _repo(match["repo"] or match["at"] or home.ref.full_name, home.ref)
        if match["sha"]:
            target: LinkTarget = CommitLink(repo=repo, sha=match["sha"])
        else:
            number = int(match["number"] or match["gh"])
            kind = forms.kind_of_mark(match["mark"] or "")
            target = ThreadLink(repo=repo, number=number, kind=kind)
        yield _link_name(target, home.ref), target


def _repo(full_name: str, home: RepoRef) -> RepoRef:
    """Names are compared without regard to case."""
    if full_name.lower() == home.full_name.lower():
        return home
    return RepoRef(forge=home.forge, full_name=full_name)


def _link_name(target: LinkTarget, home: RepoRef) -> str:
    """Call it as people of the repository do."""
    prefix = "" if target.repo == home else target.repo.full_name
    match target:
        case ThreadLink(number=number, kind=kind):
            return f"{prefix}{kind.mark}{number}"
        case CommitLink(sha=sha):
            return f"{prefix}@{sha[:12]}" if prefix else f"commit {sha[:12]}"
        case CodeLink():
            lines = f"#L{target.first}" if target.first else ""
            return f"{prefix} {target.rest}{lines}".lstrip()
        case _:
            assert_never(target)


def agreed_branches(links: Iterable[TextLink], home: RepoRef) -> tuple[str, ...]:
    """Return what that branch may be called, the shortest name first.

    An address does not say where the branch's name ends and the path begins. A commit
    names no branch. Empty where there are no such links, or where they differ.
    """
    rests = [
        link.target.rest
        for link in links
        if isinstance(link.target, CodeLink)
        and link.target.repo == home
        and not link.target.sha
    ]
    if not rests:
        return ()
    possible = [_possible_names(rest) for rest in rests]
    return tuple(
        name for name in possible[0] if all(name in others for others in possible)
    )


def _possible_names(rest: str) -> Sequence[str]:
    parts = rest.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]
