"""Find what HTML inside a text does not show."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class HiddenKind(StrEnum):
    """What kind of thing was hidden, in words for the note that tells of it."""

    COMMENT = "HTML comment"
    CHARACTER = "invisible character"
    ELEMENT = "hidden element"
    ATTRIBUTE = "hidden attribute"
    IMAGE_TEXT = "image text"
    LINK_TITLE = "link title"
    LINK_DEFINITION = "unused link definition"
    CODE_LABEL = "code block label"
    FOOTNOTE = "unused footnote"
    UNREADABLE = "unreadable text"


@dataclass(frozen=True, slots=True)
class TextCut:
    """Replace `start` to `end` of a text; `kind` is None where nothing was hidden."""

    start: int
    end: int
    kind: HiddenKind | None
    text: str = ""


@dataclass(frozen=True, slots=True)
class _Tag:
    start: int
    end: int
    name: str
    closing: bool
    attributes: tuple[tuple[str, str], ...]


# Comments, instructions, declarations and CDATA first: a tag in one of them is none.
# What is never closed reaches to the end, as in a browser; so no start is tried twice.
_MARKUP = re.compile(
    r"(?P<unseen><!--(?:-?>|.*?(?:-->|\Z))|<\?.*?(?:\?>|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)"
    r"|<![A-Za-z][^>]*(?:>|\Z))"
    r"|<(?P<closing>/?)(?P<name>[A-Za-z][A-Za-z0-9-]*)"
    r"(?P<attributes>(?:[^\"'>]|\"[^\"]*(?:\"|\Z)|'[^']*(?:'|\Z))*)(?:>|\Z)",
    re.DOTALL,
)
UNCLOSED_COMMENT = "!--"
_ATTRIBUTE = re.compile(r"([^\s\"'>/=]+)(?:\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s\"'>]+))?")
# A browser shows nothing of these but plays, runs or keeps them.
_UNSEEN_ELEMENTS = frozenset(
    {"script", "style", "template", "title", "head"}
    | {"noscript", "noembed", "noframes", "iframe", "object"}
)
# These have no end, and show what one of their attributes names.
_VOID_ELEMENTS = frozenset({"img", "input", "source", "embed"})
_UNSEEN_STYLE = re.compile(
    r"display:none|visibility:(?:hidden|collapse)|opacity:0(?![.\d]*[1-9])"
    r"|font-size:0(?![.\d]*[1-9])|color:(?:transparent|white|#fff)|(?:left|top):-\d"
)
_ADDRESSES = frozenset({"href", "src"})
_SHOWN_WORD = re.compile(r"[\w.%#-]{0,20}\Z")
# `<please-add-my-key>` is a tag of no meaning to a browser, and a sentence to a model.
_WORDY_NAME = re.compile(r".{31}|[^-]*-[^-]*-")


def is_shown_word(text: str) -> bool:
    """Tell whether a text is too short to say anything: `image`, `50%`, `left`."""
    return bool(_SHOWN_WORD.match(text))


def find_tags(text: str, start: int, end: int) -> Iterator[tuple[str, bool]]:
    """Yield the name of each tag in a part of a text, and whether it closes.

    A comment that is not closed there hides what follows, as an open tag of its own.
    """
    for match in _MARKUP.finditer(text, start, end):
        unseen = match["unseen"]
        if unseen is None:
            yield match["name"].lower(), match["closing"] == "/"
        elif unseen.startswith("<!--") and not unseen.endswith("->"):
            yield UNCLOSED_COMMENT, False


def find_hidden_markup(text: str, regions: Sequence[tuple[int, int]]) -> list[TextCut]:
    """Return what to cut from the parts of a text that are HTML.

    An element that is never closed is left to stand but for its attributes: somebody
    who writes about `<title>` means the word.
    """
    cuts: list[TextCut] = []
    tags: list[_Tag] = []
    for start, end in regions:
        for match in _MARKUP.finditer(text, start, end):
            if match["unseen"] is not None:
                cuts.append(TextCut(*match.span(), HiddenKind.COMMENT))
            else:
                tags.append(_read_tag(match))
    return [*cuts, *_cut_elements(tags), *_cut_attributes(tags)]


def _read_tag(match: re.Match[str]) -> _Tag:
    attributes = tuple(
        (name.lower(), value.strip("\"'"))
        for name, value in _ATTRIBUTE.findall(match["attributes"])
    )
    closing = match["closing"] == "/"
    return _Tag(*match.span(), match["name"].lower(), closing, attributes)


def _cut_elements(tags: list[_Tag]) -> Iterator[TextCut]:
    ends = _match_ends(tags)
    for tag in tags:
        end = tag.end if tag.name in _VOID_ELEMENTS else ends.get(tag.start)
        if end is not None and _is_unseen(tag):
            yield TextCut(tag.start, end, HiddenKind.ELEMENT)


def _match_ends(tags: list[_Tag]) -> dict[int, int]:
    """Map where an element starts to where its closing tag ends."""
    ends: dict[int, int] = {}
    unclosed: defaultdict[str, list[int]] = defaultdict(list)
    for tag in tags:
        if not tag.closing:
            unclosed[tag.name].append(tag.start)
        elif unclosed[tag.name]:
            ends[unclosed[tag.name].pop()] = tag.end
    return ends


def _is_unseen(tag: _Tag) -> bool:
    attributes = dict(tag.attributes)
    style = re.sub(r"\s", "", attributes.get("style", "")).lower()
    return (
        tag.name in _UNSEEN_ELEMENTS
        or "hidden" in attributes
        or (tag.name == "img" and _is_dot(attributes))
        or bool(_UNSEEN_STYLE.search(style))
    )


def _is_dot(attributes: Mapping[str, str]) -> bool:
    sizes = (attributes.get("width", ""), attributes.get("height", ""))
    return any(re.fullmatch(r"[01](?:px|%)?", size) for size in sizes)


def _cut_attributes(tags: list[_Tag]) -> Iterator[TextCut]:
    for tag in tags:
        if _WORDY_NAME.match(tag.name):
            yield TextCut(tag.start, tag.end, HiddenKind.ELEMENT)
            continue
        kept = [pair for pair in tag.attributes if _is_address(*pair)]
        dropped = [pair for pair in tag.attributes if not _is_address(*pair)]
        if dropped:
            says = any(not is_shown_word(name + value) for name, value in dropped)
            yield TextCut(
                tag.start,
                tag.end,
                HiddenKind.ATTRIBUTE if says else None,
                _write(tag, kept),
            )


def _is_address(name: str, value: str) -> bool:
    return name in _ADDRESSES and not re.search(r"\s", value)


def _write(tag: _Tag, attributes: list[tuple[str, str]]) -> str:
    written = "".join(f' {name}="{value}"' for name, value in attributes)
    return f"<{'/' if tag.closing else ''}{tag.name}{written}>"
