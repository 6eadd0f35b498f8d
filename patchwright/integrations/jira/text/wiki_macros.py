"""Take wiki markup apart where its macros begin and end."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal

# https://jira.atlassian.com/secure/WikiRendererHelpAction.jspa?section=advanced
_MACRO: Final = re.compile(
    r"(?<!\\)\{(?P<name>code|noformat|quote|panel)(?::(?P<settings>[^}\n]{0,300}))?\}"
)
_LANGUAGE: Final = re.compile(r"[\w+#.-]{1,20}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Prose:
    text: str


@dataclass(frozen=True, slots=True)
class Verbatim:
    text: str
    language: str


@dataclass(frozen=True, slots=True)
class MacroBox:
    name: Literal["quote", "panel"]
    title: str
    parts: tuple["Part", ...]


WikiPart = Prose | Verbatim | MacroBox


@dataclass(frozen=True, slots=True)
class _Border:
    """The begin or the end of a box: only what else is there tells which."""

    name: Literal["quote", "panel"]
    settings: str
    source: str


def split_macros(text: str) -> tuple[WikiPart, ...]:
    """Return the parts of a text; a macro that nothing closes is prose."""
    return _joined_prose(_boxed(list(_flat(text)), frozenset()))


def _flat(text: str) -> Iterator[Prose | Verbatim | _Border]:
    done = 0
    unclosed: set[str] = set()
    while macro := _MACRO.search(text, done):
        begin, name, settings = macro.end(), macro["name"], macro["settings"] or ""
        yield Prose(text[done : macro.start()])
        closing = f"{{{name}}}"
        end = -1 if closing in unclosed else text.find(closing, begin)
        unclosed |= {closing} if end < 0 else set()
        done = begin
        if name == "quote":
            yield _Border("quote", settings, macro[0])
        elif name == "panel":
            yield _Border("panel", settings, macro[0])
        elif end < 0:
            yield Prose(macro[0])
        else:
            yield Verbatim(_lines(text[begin:end]), _language(settings))
            done = end + len(closing)
    yield Prose(text[done:])


def _boxed(
    flat: list[Prose | Verbatim | _Border], inside: frozenset[str]
) -> Iterator[WikiPart]:
    at = 0
    while at < len(flat):
        part = flat[at]
        at += 1
        if not isinstance(part, _Border):
            yield part
            continue
        end = _end_of(flat, part, at) if part.name not in inside else None
        if end is None:
            # Nothing ends the next one either.
            inside |= {part.name}
            yield Prose(part.source)
            continue
        inner = _joined_prose(_boxed(flat[at:end], inside | {part.name}))
        yield MacroBox(part.name, _title(part.settings), inner)
        at = end + 1


def _joined_prose(parts: Iterator[WikiPart]) -> tuple[WikiPart, ...]:
    joined: list[WikiPart] = []
    for is_prose, group in groupby(parts, lambda part: isinstance(part, Prose)):
        if is_prose:
            texts = (part.text for part in group if isinstance(part, Prose))
            joined.append(Prose("".join(texts)))
        else:
            joined += group
    return tuple(joined)


def _end_of(
    flat: list[Prose | Verbatim | _Border], begin: _Border, at: int
) -> int | None:
    for place in range(at, len(flat)):
        part = flat[place]
        if isinstance(part, _Border) and part.name == begin.name and not part.settings:
            return place
    return None


def _lines(body: str) -> str:
    """Leave off the line ends that belong to the macro."""
    return body.removeprefix("\n").removesuffix("\n")


def _language(settings: str) -> str:
    """Return the language of `java`, `java|title=x` or `language=java`."""
    for setting in settings.split("|"):
        key, equals, value = setting.partition("=")
        word = value if key.strip() == "language" else "" if equals else key
        if _LANGUAGE.fullmatch(word.strip()):
            return word.strip()
    return ""


def _title(settings: str) -> str:
    pairs = (setting.partition("=") for setting in settings.split("|"))
    return next((value.strip() for key, _, value in pairs if key == "title"), "")
