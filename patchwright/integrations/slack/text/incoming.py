"""Read what people wrote in Slack as Markdown, and what they asked us for.

https://docs.slack.dev/messaging/formatting-message-text/
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from patchwright.core.text.fence import inline_code
from patchwright.integrations.slack.text.lines import escape_markdown, read_line
from patchwright.integrations.slack.text.sequences import (
    SEQUENCE,
    sequence_as_typed,
    decode,
    mention_of,
    people_in,
    sequence_text,
)

__all__ = ["mentions", "people_in", "request_in", "to_markdown"]

_FENCE: Final = re.compile(r"```(.+?)```", re.DOTALL)
_CODE: Final = re.compile(r"`([^`\n\0]+)`")
_QUOTE: Final = re.compile(r"(?:&gt;|>)[ ]?")
_QUOTE_OF_ALL: Final = re.compile(r"(?:(?:&gt;){3}|>>>)[ ]?")
_NO_PROSE: Final = re.compile(
    rf"{_FENCE.pattern}|{_CODE.pattern}"
    r"|^(?:(?:&gt;){3}|>>>).*\Z|^(?:&gt;|>)(?-s:.*)$",
    re.DOTALL | re.MULTILINE,
)
# What may cling to a mention without being part of the request.
_OPENERS: Final = " \t\n,:;-–—([{\"'“‘*_~"  # noqa: RUF001 - quotes as people type them
_CLOSERS: Final = re.compile(r"[)\]}\"'”’*_~:,;.!?…]*\s*")  # noqa: RUF001 - the same
_SENTENCE_END: Final = re.compile(r"[?!.…]")
_KEPT: Final = re.compile("\0([0-9]+)\0")
_KEPT_BLOCK: Final = re.compile("\0\0([0-9]+)\0\0")


def to_markdown(text: str, *, names: Mapping[str, str], own_id: str) -> str:
    """Return the text without mentions of ourselves, and with names for other people.

    Who has no name is shown by id.
    """
    return _MarkupReader(names, own_id).read(text)


def mentions_us(text: str, own_id: str) -> bool:
    """Tell whether a text calls us outside code and quotes.

    Slack makes no mention of what is typed there, but keeps those that are pasted.
    """
    return _mention(text, own_id) is not None


def request_in(text: str, own_id: str) -> str:
    """Return as Markdown what follows the first mention of us, or else precedes it."""
    found = _mention(text, own_id)
    if found is None:
        return to_markdown(text, names={}, own_id=own_id)
    clinging = _CLOSERS.match(text, found.end())
    begin = clinging.end() if clinging else found.end()
    after = to_markdown(text[begin:], names={}, own_id=own_id)
    if re.search(r"\w", after):
        return after
    before = to_markdown(
        text[: found.start()].rstrip(_OPENERS), names={}, own_id=own_id
    )
    ending = "".join(_SENTENCE_END.findall(text[found.end() : begin]))
    return before + ending if before else ""


def _mention(text: str, own_id: str) -> re.Match[str] | None:
    if not own_id:
        return None
    prose = _NO_PROSE.sub(lambda found: "\0" * len(found[0]), text)
    return mention_of(own_id).search(prose)


class _MarkupReader:
    """Reads one text; code and sequences are kept aside until its prose is read."""

    def __init__(self, names: Mapping[str, str], own_id: str) -> None:
        self._names = {one: " ".join(name.split()) for one, name in names.items()}
        self._own = mention_of(own_id) if own_id else None
        self._kept: list[str] = []

    def read(self, text: str) -> str:
        text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
        text = _FENCE.sub(lambda found: f"\0{self._keep(self._code(found[1]))}\0", text)
        text = _CODE.sub(lambda found: self._keep(self._span(found[1])), text)
        text = _without(self._own, text) if self._own else text
        text = SEQUENCE.sub(lambda found: self._keep(self._shown(found[1])), text)
        return "\n".join(self._lines(text)).strip()

    def _lines(self, text: str) -> Iterator[str]:
        quoting = was_quoted = False
        for line in text.split("\n"):
            all_of_it = None if quoting else _QUOTE_OF_ALL.match(line)
            quoting = quoting or all_of_it is not None
            quote = all_of_it or _QUOTE.match(line)
            words = line[quote.end() :] if quote else line
            is_quoted = quoting or quote is not None
            if was_quoted and not is_quoted and words.strip():
                # A line right below a quote would belong to it.
                yield ""
            was_quoted = is_quoted
            yield from self._read_line(words, "> " if is_quoted else "")

    def _read_line(self, line: str, prefix: str) -> Iterator[str]:
        """Give each block of code lines of its own."""
        prose, *others = _KEPT_BLOCK.split(line)
        if prose.strip() or not others:
            prose = prose.rstrip() if others else prose
            yield prefix + self._restored(read_line(prose))
        for index, words in zip(others[::2], others[1::2], strict=True):
            yield from (prefix + row for row in self._kept[int(index)].split("\n"))
            if words.strip():
                yield prefix + self._restored(read_line(words.lstrip()))

    def _restored(self, text: str) -> str:
        return _KEPT.sub(lambda found: self._kept[int(found[1])], text)

    def _keep(self, markdown: str) -> str:
        self._kept.append(markdown)
        return f"\0{len(self._kept) - 1}\0"

    def _shown(self, sequence: str) -> str:
        return escape_markdown(sequence_text(sequence, self._names))

    def _typed(self, code: str) -> str:
        return decode(SEQUENCE.sub(self._escaped_typed, code))

    def _escaped_typed(self, found: re.Match[str]) -> str:
        """Return it as Slack would have written it, to be decoded with the rest."""
        return sequence_as_typed(found[1], self._names).replace("&", "&amp;")

    def _span(self, code: str) -> str:
        return inline_code(self._typed(code))

    def _code(self, code: str) -> str:
        ticks = "```"
        text = self._typed(code).removeprefix("\n").removesuffix("\n")
        return f"{ticks}\n{text}\n{ticks}"


def _without(mention: re.Pattern[str], text: str) -> str:
    """Take mentions out, and the blanks that would be left around them."""
    first = rf"^[ \t]*{mention.pattern}[,:]?[ \t]*"
    later = rf"(?<![ \t])[ \t]*{mention.pattern}"
    return re.sub(f"{first}|{later}", "", text, flags=re.MULTILINE)
