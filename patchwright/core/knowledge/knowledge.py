"""Choose what a repository says that an agent should have before it at once."""

from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files

from patchwright.core.knowledge.pages import KnowledgePage, PageKind
from patchwright.core.knowledge.triggers import has_trigger
from patchwright.core.text.fence import as_data
from patchwright.core.types.base import Value

MAX_PAGE_CHARS = 8_000
MAX_PROMPT_CHARS = 24_000
MAX_LISTED = 30
# Who speaks in these texts, for the fence around them.
SPEAKER = "base branch"


class Knowledge(Value):
    """All pages of one commit, the general ones first; `notes` are for people.

    `removed` counts the hidden things that were taken out of them.
    """

    pages: tuple[KnowledgePage, ...] = ()
    notes: tuple[str, ...] = ()
    removed: int = 0

    def for_prompt(self, request_text: str) -> str:
        """Return what to tell an agent that gets this request; it may be empty.

        Pages that say the same are shown once.
        """
        wanted = [page for page in self.pages if _is_wanted(page, request_text)]
        shown = list(_that_fit(_unlike(wanted)))
        parts = [
            *(_fenced(page) for page in shown),
            _listed(self._more_than(shown)),
        ]
        said = [part for part in parts if part]
        return "\n\n".join([knowledge_frame(), *said]) if said else ""

    def _more_than(self, shown: list[KnowledgePage]) -> list[str]:
        texts = {page.text for page in shown}
        others = (
            page
            for page in self.pages
            if page.kind is not PageKind.DOCUMENT and page.text not in texts
        )
        return [page.path for page in _unlike(others)]


@cache
def knowledge_frame() -> str:
    """Return what an agent is told about all of these texts."""
    folder = files("patchwright.core.knowledge")
    return folder.joinpath("frame.md").read_text(encoding="utf-8").strip()


def _is_wanted(page: KnowledgePage, request: str) -> bool:
    match page.kind:
        case PageKind.REPO:
            return True
        case PageKind.KNOWLEDGE | PageKind.TASK:
            return has_trigger(page.triggers, request)
        case PageKind.FOLDER:
            return f"{page.folder}/" in request
        case PageKind.DOCUMENT:
            return False


def _unlike(pages: Iterable[KnowledgePage]) -> Iterator[KnowledgePage]:
    seen: set[str] = set()
    for page in pages:
        if page.text not in seen:
            seen.add(page.text)
            yield page


def _that_fit(pages: Iterable[KnowledgePage]) -> Iterator[KnowledgePage]:
    room = MAX_PROMPT_CHARS
    for page in pages:
        size = min(len(page.text), MAX_PAGE_CHARS)
        if size <= room:
            room -= size
            yield page


def _fenced(page: KnowledgePage) -> str:
    if len(page.text) <= MAX_PAGE_CHARS:
        return as_data(page.path, SPEAKER, page.text)
    kept = page.text[:MAX_PAGE_CHARS]
    kept = kept[: kept.rfind("\n") + 1].rstrip() or kept
    more = len(page.text) - len(kept)
    hint = f"{more} more characters: `recall` them with `{page.path}` and a word."
    return f"{as_data(page.path, SPEAKER, kept)}\n{hint}"


def _listed(paths: list[str]) -> str:
    if not paths:
        return ""
    names = ", ".join(f"`{path}`" for path in paths[:MAX_LISTED])
    more = len(paths) - MAX_LISTED
    rest = f", and {more} more" if more > 0 else ""
    return (
        f"There is more, for parts of the repository or for some kinds of work: "
        f"{names}{rest}. Look a file up with `recall` before you work on what it is "
        "about."
    )
