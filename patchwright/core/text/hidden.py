"""What readers of a text do not see but a model would read, found and removed."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from patchwright.core.text.markdown import (
    MarkdownPiece,
    MarkdownSource,
    PieceKind,
    read_markdown,
)
from patchwright.core.text.strings import is_invisible, strip_invisible, truncate_middle
from patchwright.core.types.base import Value


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

    An element that is never closed stays, without its attributes: a person who writes
    about `<title>` means the word.
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


class Removal(Value):
    """How many things of one kind were taken out."""

    kind: HiddenKind
    count: int


class CleanedText(Value):
    """What is left of a text, and what was taken out."""

    text: str
    removed: tuple[Removal, ...] = ()


# A cut can bring together what becomes markup only then; each round shortens the text.
_MAX_ROUNDS = 8
# Nobody writes so by hand: who does wants something to get past.
_UNREADABLE = CleanedText(
    text="", removed=(Removal(kind=HiddenKind.UNREADABLE, count=1),)
)
_STRUCTURE = re.compile(r"[<&`~]|\]")
_TITLE_AT_END = re.compile(
    r"(?<!\s)\s++(?:\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|\((?:\\.|[^()\\])*\))(\s*\)?\s*)\Z"
)
_FENCE_LINE = re.compile(r".*?(?:`{3,}|~{3,})(?P<info>[^\n]*)")
_LANGUAGE = re.compile(r"\s*([\w+#.-]{1,20})(?!\S)(\s*\Z)?")


def strip_hidden(text: str) -> CleanedText:
    """Return the text as its readers see it, and a count of what they do not see.

    Removed are HTML comments, hidden elements and attributes, alternative texts and
    titles of images, titles of links, link definitions and footnotes that nothing uses,
    labels of code blocks that are no language, and invisible characters. What a code
    block shows stays. Lines end with a line feed afterwards. Nothing is left of a text
    that hides things in one another so deeply that it cannot be read.
    """
    counts: Counter[HiddenKind] = Counter()
    text, invisible = strip_invisible(text.replace("\r\n", "\n").replace("\r", "\n"))
    counts[HiddenKind.CHARACTER] += invisible
    for _ in range(_MAX_ROUNDS):
        if not _STRUCTURE.search(text):
            break
        source = read_markdown(text)
        if source.too_deep:
            return _UNREADABLE
        cuts = _find_cuts(source)
        if not cuts:
            break
        counts.update(cut.kind for cut in cuts if cut.kind)
        text = _apply(text, cuts)
    else:
        return _UNREADABLE
    removed = (
        Removal(kind=kind, count=counts[kind]) for kind in HiddenKind if counts[kind]
    )
    return CleanedText(text=text, removed=tuple(removed))


def describe_removals(removed: tuple[Removal, ...]) -> str:
    """Say what was removed: "2 HTML comments, 1 hidden element"."""
    return ", ".join(
        f"{removal.count} {removal.kind}{'' if removal.count == 1 else 's'}"
        for removal in removed
    )


def _find_cuts(source: MarkdownSource) -> list[TextCut]:
    """Return the cuts from first to last, none inside another."""
    html = [(p.start, p.end) for p in source.pieces if p.kind is PieceKind.HTML]
    used = {p.label for p in source.pieces if p.kind in _USES_LABELS}
    cuts = find_hidden_markup(source.text, html)
    for piece in source.pieces:
        cuts += _cut_piece(piece, source.text[piece.start : piece.end], used)
    return _outermost(cuts)


_USES_LABELS = frozenset({PieceKind.LINK, PieceKind.IMAGE})


def _outermost(cuts: list[TextCut]) -> list[TextCut]:
    kept: list[TextCut] = []
    for cut in sorted(cuts, key=lambda cut: (cut.start, -cut.end)):
        if not kept or cut.start >= kept[-1].end:
            kept.append(cut)
    return kept


def _cut_piece(piece: MarkdownPiece, raw: str, used: set[str]) -> Iterator[TextCut]:
    start, end = piece.start, piece.end
    match piece.kind:
        case PieceKind.LINK if piece.title and raw.endswith(")"):
            yield TextCut(
                start, end, HiddenKind.LINK_TITLE, _TITLE_AT_END.sub(r"\1", raw)
            )
        case PieceKind.IMAGE if piece.title or not is_shown_word(piece.content):
            yield TextCut(
                start, end, HiddenKind.IMAGE_TEXT, f"![]({_address(piece.href)})"
            )
        case PieceKind.ENTITY if is_invisible(piece.content):
            yield TextCut(start, end, HiddenKind.CHARACTER)
        case PieceKind.DEFINITION if piece.label not in used:
            yield TextCut(start, end, HiddenKind.LINK_DEFINITION)
        case PieceKind.DEFINITION if piece.title:
            yield TextCut(
                start, end, HiddenKind.LINK_TITLE, _TITLE_AT_END.sub(r"\1", raw)
            )
        case PieceKind.UNUSED_NOTE:
            yield TextCut(start, end, HiddenKind.FOOTNOTE)
        case PieceKind.FENCE if piece.info:
            yield from _cut_label(piece, raw)
        case _:
            return


def _cut_label(fence: MarkdownPiece, raw: str) -> Iterator[TextCut]:
    """Keep the first word of a fence's label where it can be a language."""
    language = _LANGUAGE.match(fence.info)
    opening = _FENCE_LINE.match(raw)
    if opening is None or (language and language[2] is not None):
        return
    begin, end = opening.span("info")
    word = language[1] if language else ""
    yield TextCut(fence.start + begin, fence.start + end, HiddenKind.CODE_LABEL, word)


def _address(href: str) -> str:
    return f"<{href}>" if re.search(r"[()\s]", href) else href


def _apply(text: str, cuts: list[TextCut]) -> str:
    parts: list[str] = []
    done = 0
    for cut in cuts:
        parts += [text[done : cut.start], cut.text]
        done = cut.end
    return "".join([*parts, text[done:]])


_CODE = frozenset({PieceKind.CODE, PieceKind.FENCE})


def visible_prose(text: str) -> str:
    """Return the text with blanks for its code, and without what is hidden in it.

    Links and images stay as they are written.
    """
    source = read_markdown(strip_hidden(text).text)
    parts: list[str] = []
    done = 0
    for piece in source.pieces:
        if piece.kind in _CODE and piece.start >= done:
            parts += [source.text[done : piece.start], " "]
            done = piece.end
    return "".join([*parts, source.text[done:]])


MAX_NAME_CHARS = 300
# By these we know our own posts again; nobody has hidden anything with them.
_OWN_MARKS = re.compile(r"<!-- patchwright:[\w:=@. -]{1,160}-->")


class TextCleaner:
    """Counts over all texts that it is given."""

    def __init__(self) -> None:
        self._removed: Counter[HiddenKind] = Counter()

    def clean(self, text: str) -> str:
        """Return a text, which may be Markdown, as its readers see it."""
        cleaned = strip_hidden(_OWN_MARKS.sub("", text))
        for removal in cleaned.removed:
            self._removed[removal.kind] += removal.count
        return cleaned.text

    def clean_code(self, text: str) -> str:
        """Return source code without invisible characters: markup in it is code."""
        lines = text.replace("\r\n", "\n").replace("\r", "\n")
        cleaned, invisible = strip_invisible(lines)
        self._removed[HiddenKind.CHARACTER] += invisible
        return cleaned

    def clean_name(self, name: str) -> str:
        """Return the name of a file or branch on one line, without what nobody sees.

        Git allows line ends and all else but NUL in names.
        """
        words = self.clean_code(name).split()
        return truncate_middle(" ".join(words), MAX_NAME_CHARS)

    @property
    def removed(self) -> int:
        """Return how many things were removed so far."""
        return self._removed.total()

    def describe(self) -> str:
        """Say what was removed: "1 HTML comment"; empty if it was nothing."""
        return describe_removals(
            tuple(
                Removal(kind=kind, count=count)
                for kind, count in self._removed.items()
                if count
            )
        )
