"""The pages of a repository's knowledge, and which an agent is shown at once."""

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from patchwright.core.text.escape import as_data
from patchwright.core.types.base import Value


class PageKind(StrEnum):
    """When a page is shown; the first three are the words of a front matter.

    REPO always, KNOWLEDGE and TASK when the request has one of their triggers, FOLDER
    when the request names its folder, and a DOCUMENT is only ever looked up.
    """

    REPO = "repo"
    KNOWLEDGE = "knowledge"
    TASK = "task"
    FOLDER = "folder"
    DOCUMENT = "document"


class KnowledgePage(Value):
    """One file; `text` is what its readers see, without the front matter."""

    path: str
    kind: PageKind
    text: str
    triggers: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        """The folder that it lies in, `.` for the top of the repository."""
        return str(PurePosixPath(self.path).parent)


MAX_CHARS = 8_000
_FRONT_MATTER = re.compile(
    r"---[ \t]*\n(?P<yaml>.*?)(?:\n|(?<=\n))---[ \t]*(?:\n|\Z)", re.DOTALL
)


class FrontMatter(Value):
    """What a file says about itself; `fault` says why that could not be read."""

    kind: PageKind
    triggers: tuple[str, ...] = ()
    fault: str = ""


class _FrontMatterFields(BaseModel):
    """The fields that matter here; files for other tools have more of them."""

    model_config = ConfigDict(extra="ignore")

    name: str = ""
    type: Literal["", "repo", "knowledge", "task"] = ""
    triggers: Annotated[
        tuple[str, ...],
        BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
    ] = ()


def split_front_matter(text: str) -> tuple[FrontMatter, str]:
    """Return what a text says about itself, and the rest of it.

    Without a type the triggers decide: a file that has some waits for them.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    match = _FRONT_MATTER.match(text)
    if match is None:
        return FrontMatter(kind=PageKind.REPO), text
    return _read(match["yaml"]), text[match.end() :]


def _read(source: str) -> FrontMatter:
    if len(source) > MAX_CHARS:
        return _broken("it is too long")
    try:
        # Everything stays text: a trigger may be `no` or `404`.
        loaded = yaml.load(source, Loader=yaml.BaseLoader)  # noqa: S506 - no objects
        fields = _FrontMatterFields.model_validate(loaded or {})
    except (yaml.YAMLError, RecursionError) as error:
        return _broken(_first_line(error))
    except ValidationError as error:
        return _broken(f"`{'.'.join(map(str, error.errors()[0]['loc'])) or 'all'}`")
    return _judge(fields)


def _judge(fields: _FrontMatterFields) -> FrontMatter:
    triggers = tuple(filter(None, (" ".join(t.split()) for t in fields.triggers)))
    if fields.type:
        kind = PageKind(fields.type)
    else:
        kind = PageKind.KNOWLEDGE if triggers else PageKind.REPO
    if kind is PageKind.TASK and not triggers and fields.name:
        triggers = (f"/{fields.name}",)
    return FrontMatter(kind=kind, triggers=triggers)


def _broken(fault: str) -> FrontMatter:
    """Let a file be looked up whose front matter cannot say when it is wanted."""
    return FrontMatter(kind=PageKind.KNOWLEDGE, fault=fault)


def _first_line(error: Exception) -> str:
    message = getattr(error, "problem", None) or type(error).__name__
    return str(message).partition("\n")[0]


# Chinese, Japanese and Korean put no blanks around a word, or particles behind it.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_LETTER = rf"[^\W{_UNSPACED}]"


def has_trigger(triggers: Sequence[str], request: str) -> bool:
    """Say whether one of the triggers stands in the request as words of its own.

    Case does not matter, nor how the words of a trigger are spaced.
    """
    return any(_pattern(trigger).search(request) for trigger in triggers if trigger)


@lru_cache(maxsize=512)
def _pattern(trigger: str) -> re.Pattern[str]:
    words = r"\s+".join(re.escape(word) for word in trigger.split())
    before = "" if re.match(f"[{_UNSPACED}]", trigger[0]) else f"(?<!{_LETTER})"
    after = f"(?!{_LETTER})" if re.match(_LETTER, trigger[-1]) else ""
    return re.compile(before + words + after, re.IGNORECASE)


MAX_PAGE_CHARS = 8_000
MAX_PROMPT_CHARS = 24_000
MAX_LISTED = 30
# The author of these texts, for the marks around them.
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
        texts = [part for part in parts if part]
        return "\n\n".join([knowledge_frame(), *texts]) if texts else ""

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
    """Return the text about these files for the agent."""
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
