"""Read a repository's instructions and templates from one commit of it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import PurePosixPath
from typing import Final

from patchwright.core.events.observations import Recalled
from patchwright.core.knowledge.pages import (
    Knowledge,
    KnowledgePage,
    PageKind,
    split_front_matter,
)
from patchwright.core.knowledge.search import search_pages
from patchwright.core.settings.repository import GENERAL_INSTRUCTIONS
from patchwright.core.text.hidden import TextCleaner
from patchwright.integrations.git.objects import ObjectStore
from patchwright.integrations.git.trees import UnreadReason

MAX_FILE_BYTES = 128 * 1024
MAX_PAGES = 200
MAX_DOCUMENTS = 300
MAX_DOCUMENT_CHARS = 1_000_000

_OF_A_FOLDER = frozenset({"AGENTS.md", "CLAUDE.md"})
_MICROAGENT = re.compile(r"\.openhands/microagents/(?!(?:.*/)?README\.md$).+\.md")
_DOCUMENT = re.compile(
    r"docs?/.+\.(?:md|rst)|(?:\.github/|docs/)?(?:README|CONTRIBUTING)(?:\.(?:md|rst|txt))?",
    re.IGNORECASE,
)
_NONE_THERE = "None of the files in `instructions` exists."
# Somebody else's code brings its own instructions, which are not about this one.
_FOREIGN = frozenset({"node_modules", "vendor", "third_party", "site-packages"})


def read_instructions(
    code: ObjectStore, sha: str, named: Sequence[str] = ()
) -> Knowledge:
    """Read the instructions and microagents of a commit; raises GitError.

    Where files are `named`, those are the instructions, and nothing else is.
    """
    return _read_knowledge(code, sha, code.list_files(sha), named)


class RepositoryLibrary:
    """A `Library` over what `gather` finds and the documentation of the same commit.

    It reads git when it is first asked; `recall` raises GitError.
    """

    def __init__(self, code: ObjectStore, sha: str, named: Sequence[str] = ()) -> None:
        self._code, self._sha, self._named = code, sha, named

    def recall(self, query: str) -> Recalled:
        return search_pages(self._pages, query)

    @cached_property
    def _pages(self) -> tuple[KnowledgePage, ...]:
        paths = self._code.list_files(self._sha)
        known = _read_knowledge(self._code, self._sha, paths, self._named).pages
        return (*known, *_read_documents(self._code, self._sha, paths))


def _read_knowledge(
    code: ObjectStore, sha: str, paths: Sequence[str], named: Sequence[str]
) -> Knowledge:
    kinds = _named_pages(paths, named) if named else _find_pages(paths)
    cleaner = TextCleaner()
    pages: list[KnowledgePage] = []
    notes = [_NONE_THERE] if named and not kinds else []
    contents = code.read_files(sha, list(kinds), MAX_FILE_BYTES)
    for path, kind in kinds.items():
        content = contents[path]
        if isinstance(content, UnreadReason):
            notes.append(f"`{path}` was not read: it {content}.")
            continue
        page, fault = _read_page(path, kind, _decode(content), cleaner)
        if fault:
            notes.append(f"The front matter of `{path}` is broken: {fault}.")
        if page.text:
            pages.append(page)
    return Knowledge(
        pages=tuple(pages),
        notes=(*notes, *_hidden_text_notes(cleaner)),
        removed=cleaner.removed,
    )


def _named_pages(paths: Iterable[str], named: Sequence[str]) -> dict[str, PageKind]:
    there = frozenset(path for path in paths if path.isprintable())
    found = [path for path in named if path in there]
    return dict.fromkeys(found[:MAX_PAGES], PageKind.REPO)


def _find_pages(paths: Iterable[str]) -> dict[str, PageKind]:
    """Return what to read and how it is meant, the general instructions first."""
    here = [path for path in paths if path.isprintable()]
    general = [path for path in GENERAL_INSTRUCTIONS if path in here]
    agents = [path for path in here if _MICROAGENT.fullmatch(path)]
    folders = [path for path in here if _is_of_a_folder(PurePosixPath(path))]
    found = (
        dict.fromkeys(general, PageKind.REPO)
        | dict.fromkeys(agents, PageKind.KNOWLEDGE)
        | dict.fromkeys(folders, PageKind.FOLDER)
    )
    return dict(list(found.items())[:MAX_PAGES])


def _is_of_a_folder(path: PurePosixPath) -> bool:
    folders = path.parts[:-1]
    return path.name in _OF_A_FOLDER and bool(folders) and not _FOREIGN & {*folders}


def _read_page(
    path: str, kind: PageKind, text: str, cleaner: TextCleaner
) -> tuple[KnowledgePage, str]:
    """Return the page, and what is wrong with its front matter."""
    triggers: tuple[str, ...] = ()
    fault = ""
    if kind is PageKind.KNOWLEDGE:
        about, text = split_front_matter(text)
        kind, triggers, fault = about.kind, about.triggers, about.fault
    shown = cleaner.clean(text).strip()
    return KnowledgePage(path=path, kind=kind, text=shown, triggers=triggers), fault


def _hidden_text_notes(cleaner: TextCleaner) -> list[str]:
    removed = cleaner.describe()
    note = f"Hidden text in the repository's instructions was not used: {removed}."
    return [note] if removed else []


def _read_documents(
    code: ObjectStore, sha: str, paths: Iterable[str]
) -> Iterable[KnowledgePage]:
    wanted = [p for p in paths if p.isprintable() and _DOCUMENT.fullmatch(p)]
    room = MAX_DOCUMENT_CHARS
    contents = code.read_files(sha, wanted[:MAX_DOCUMENTS], MAX_FILE_BYTES)
    for path, content in contents.items():
        if isinstance(content, UnreadReason):
            continue
        text = _decode(content)
        room -= len(text)
        if room < 0:
            return
        shown = TextCleaner().clean(text).strip()
        yield KnowledgePage(path=path, kind=PageKind.DOCUMENT, text=shown)


def _decode(content: bytes) -> str:
    return content.decode("utf-8", "replace").replace("\0", "\ufffd")


_MAX_TEMPLATE_BYTES: Final = 65_536
# Where GitHub looks, and in which order.
# https://docs.github.com/en/communities/using-templates-to-encourage-useful-issues-and-pull-requests/creating-a-pull-request-template-for-your-repository
_TEMPLATE_PARENTS: Final = (".github", "", "docs")
_TEMPLATE_NAMES: Final = ("pull_request_template.md", "pull_request_template.txt")
_TEMPLATE_FOLDER: Final = "pull_request_template"
_DEFAULT_TEMPLATES: Final = ("default.md", *_TEMPLATE_NAMES)


def find_template(code: ObjectStore, sha: str) -> str:
    """Return a repository's template as of a commit, or an empty text.

    Among several the one that is named as the default counts, or the only one.
    """
    path = _choose_template(code.list_files(sha))
    found = code.read_files(sha, [path], _MAX_TEMPLATE_BYTES) if path else {}
    raw = found.get(path)
    return raw.decode("utf-8", "replace") if isinstance(raw, bytes) else ""


def _choose_template(paths: tuple[str, ...]) -> str:
    known = {path.lower(): path for path in paths if path.count("/") <= 2}  # noqa: PLR2004 - folder, folder, file
    single = [
        known.get(f"{folder}/{name}".lstrip("/"), "")
        for folder in _TEMPLATE_PARENTS
        for name in _TEMPLATE_NAMES
    ]
    several = [
        _find_in_folder(known, f"{folder}/{_TEMPLATE_FOLDER}".lstrip("/"))
        for folder in _TEMPLATE_PARENTS
    ]
    return next((path for path in (*single, *several) if path), "")


def _find_in_folder(known: Mapping[str, str], folder: str) -> str:
    inside = {
        PurePosixPath(lower).name: path
        for lower, path in known.items()
        if str(PurePosixPath(lower).parent) == folder
    }
    named = (inside[name] for name in _DEFAULT_TEMPLATES if name in inside)
    only = next(iter(inside.values()), "") if len(inside) == 1 else ""
    return next(named, only)
