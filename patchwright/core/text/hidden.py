"""Take out of a text what its readers do not see but a model would read."""

import re
from collections import Counter
from collections.abc import Iterator

from patchwright.core.text.invisible import is_invisible, strip_invisible
from patchwright.core.text.markdown import MarkdownPiece, PieceKind, MarkdownSource, read_markdown
from patchwright.core.text.markup import TextCut, HiddenKind, find_hidden_markup, is_shown_word
from patchwright.core.types.base import Value


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
_UNREADABLE = CleanedText(text="", removed=(Removal(kind=HiddenKind.UNREADABLE, count=1),))
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
            yield TextCut(start, end, HiddenKind.LINK_TITLE, _TITLE_AT_END.sub(r"\1", raw))
        case PieceKind.IMAGE if piece.title or not is_shown_word(piece.content):
            yield TextCut(start, end, HiddenKind.IMAGE_TEXT, f"![]({_address(piece.href)})")
        case PieceKind.ENTITY if is_invisible(piece.content):
            yield TextCut(start, end, HiddenKind.CHARACTER)
        case PieceKind.DEFINITION if piece.label not in used:
            yield TextCut(start, end, HiddenKind.LINK_DEFINITION)
        case PieceKind.DEFINITION if piece.title:
            yield TextCut(start, end, HiddenKind.LINK_TITLE, _TITLE_AT_END.sub(r"\1", raw))
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
