"""The request in a text that mentions the bot."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from patchwright.core.text.escape import without_mentions_and_marks
from patchwright.core.text.hidden import UNCLOSED_COMMENT, find_tags, strip_hidden
from patchwright.core.text.markdown import (
    MarkdownPiece,
    MarkdownSource,
    PieceKind,
    plain_lines,
    read_markdown,
)

# What may cling to a mention without being part of the request.
_OPENERS = " \t\n,:;-–—([{<\"'“‘«*_~"  # noqa: RUF001 - quotes as people type them
_CLOSERS = re.compile(r"[)\]}>\"'”’»*_~:,;.!?…、。，：！？]*")  # noqa: RUF001 - the same
_SENTENCE_END = re.compile(r"[?!.…]")
_BLANK_START = re.compile(r"\A\s*\n|\A[ \t]+")
# GitHub makes a link of everything up to the next blank.
# https://github.github.com/gfm/#autolinks-extension-
_BARE_URL_BEFORE = re.compile(
    r"(?:(?<![a-z])(?:https?|ftp)://|(?<![^\s*_~(|])www\.)[^\s<]*\Z", re.IGNORECASE
)
# Elements that hold no prose of the writer's, as code, quotes and links in Markdown.
_NO_PROSE = frozenset({"a", "blockquote", "code", "pre", UNCLOSED_COMMENT})
_LONGEST_URL = 2000


def find_request(text: str, handle: str) -> str | None:
    """Return what follows the first mention of `handle`, or None if it isn't mentioned.

    It is a name with an @ in front, or a word with a slash.

    Quotes, code, links, comments and HTML blocks are skipped: quoting someone who asked
    is not asking. What counts as a quote is what the forge shows as one, so a line that
    merely continues a quoted paragraph belongs to the quote. The request is the rest of
    the text as typed, less what is hidden in it. When nothing follows, it is what
    stands before ("Could you have a look at this, @bot?"); it is empty when there is
    no more than the mention.
    """
    if handle.lower() not in text.lower():
        return None
    source = _read(text, handle)
    first = next(_find_mentions(source, handle), None)
    return _request(source.text, *first) if first else None


def neutralise(text: str, handle: str) -> str:
    """Turn each mention into code, which shows the handle but calls nobody.

    Nobody else is called either, and what looks like a mark of ours is none.
    """
    text = without_mentions_and_marks(text)
    if handle.lower() not in text.lower():
        return text
    source = _read(text, handle)
    # A run of backticks that occurs nowhere else can only be closed by its own twin.
    longest = max((len(run) for run in re.findall("`+", source.text)), default=0)
    ticks = "`" * (longest + 1)
    parts: list[str] = []
    done = 0
    for start, end in _find_mentions(source, handle):
        parts += [
            source.text[done:start],
            " " if source.text.endswith("`", 0, start) else "",
        ]
        parts += [ticks, source.text[start:end], ticks]
        parts += [" " if source.text.startswith("`", end) else ""]
        done = end
    return "".join([*parts, source.text[done:]]) if parts else text


def _read(text: str, handle: str) -> MarkdownSource:
    """Read a text so that the sign of the handle is found wherever it is one.

    The parser knows `@` alone as a sign: it is shown one for the slash of a `/word`.
    """
    if handle.startswith("@"):
        return read_markdown(text)
    text = plain_lines(text)
    shown = re.sub(re.escape(handle), f"@{handle[1:]}", text, flags=re.IGNORECASE)
    return replace(read_markdown(shown), text=text)


def _find_mentions(source: MarkdownSource, handle: str) -> Iterator[tuple[int, int]]:
    mention = _mention(handle)
    for piece, done in _signs_in_prose(source):
        match = mention.match(source.text, piece.start)
        if match and not _in_bare_url(source.text, done, piece.start):
            yield match.span()


def _signs_in_prose(source: MarkdownSource) -> Iterator[tuple[MarkdownPiece, int]]:
    """Yield each `@` that is read as a sign, and where the piece before it ended."""
    open_tags: Counter[str] = Counter()
    done = 0
    for piece in source.pieces:
        if piece.kind is PieceKind.HTML and not piece.unseen:
            _note_tags(open_tags, source.text, piece)
        if piece.kind is not PieceKind.AT:
            # An address may hold entities, and ends at everything else.
            done = done if piece.kind is PieceKind.ENTITY else piece.end
        elif not (piece.quoted or piece.linked or piece.unseen or +open_tags):
            yield piece, done


def _note_tags(open_tags: Counter[str], text: str, piece: MarkdownPiece) -> None:
    """Count what HTML in between opens and closes, across blocks as a browser does."""
    start = piece.start
    if open_tags[UNCLOSED_COMMENT]:
        end = text.find("-->", start, piece.end)
        if end < 0:
            return
        open_tags[UNCLOSED_COMMENT] = 0
        start = end
    for name, closes in find_tags(text, start, piece.end):
        if name in _NO_PROSE:
            open_tags[name] = max(0, open_tags[name] + (-1 if closes else 1))


@lru_cache(maxsize=16)
def _mention(handle: str) -> re.Pattern[str]:
    """Match the handle as a whole token that is not part of a name, address or path.

    Letters of other scripts may touch it: Chinese puts no blanks between words. A slash
    is part of many paths, so it counts only at the beginning of a word.
    """
    name = re.escape(handle[1:])
    if handle.startswith("/"):
        return re.compile(
            rf"""(?<![^\s(\[{{"'*_])/{name}(?!_*[A-Za-z0-9/]|[-.@][A-Za-z0-9])""",
            re.IGNORECASE | re.ASCII,
        )
    return re.compile(
        r"(?<![A-Za-z0-9@/+])(?<![A-Za-z0-9]_)"
        rf"@{name}(?!(?:_+|[-./@])?[A-Za-z0-9])(?:\[bot\])?",
        re.IGNORECASE | re.ASCII,
    )


def _in_bare_url(text: str, done: int, at: int) -> bool:
    return bool(_BARE_URL_BEFORE.search(text, max(done, at - _LONGEST_URL), at))


def _request(text: str, start: int, end: int) -> str:
    clinging = _CLOSERS.match(text, end)
    begin = clinging.end() if clinging else end
    after = strip_hidden(text[begin:]).text
    if re.search(r"\w", after):
        return _BLANK_START.sub("", after).rstrip()
    before = strip_hidden(text[:start]).text.strip("\n").rstrip(_OPENERS)
    ending = "".join(_SENTENCE_END.findall(text[end:begin]))
    return before + ending if before else ""
