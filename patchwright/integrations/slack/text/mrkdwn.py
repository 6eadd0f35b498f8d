"""Slack's markup: escape it, and read it as Markdown."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from patchwright.core.text.escape import inline_code

_ESCAPES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
# A blank of no width keeps Slack from finding formatting where it stands: a sign opens
# or closes it only beside blanks and punctuation.
NO_WIDTH: Final = "\u200b"
_MARK: Final = re.compile(r"(?<!\w)[*_~]+|[*_~]+(?!\w)")
_QUOTING: Final = re.compile(r"^([ \t]*)(?=>)")
# Of a code block three in a row would be the end.
_BACKTICKS: Final = re.compile("``(?=`)")
_CODE_FENCE: Final = "```"
# There is no way to escape it; in prose nobody misses the sign itself.
_BACKTICK: Final = str.maketrans("`", "\u02cb")
_UNSAFE_IN_URL: Final = re.compile(r"[\s<>|\"`\\]")
_ADDRESS: Final = re.compile(r"(?:https?://|mailto:)[^\s]", re.IGNORECASE)
_MAX_URL: Final = 1_500
MAX_PATH: Final = 200


def escape(text: str) -> str:
    return text.translate(_ESCAPES)


def escape_prose(text: str) -> str:
    """Return text in which nothing is formatting, not even a sign at its beginning."""
    text = _MARK.sub(lambda found: f"{NO_WIDTH}{found[0]}{NO_WIDTH}", text)
    text = _QUOTING.sub(rf"\1{NO_WIDTH}", text)
    return escape(text.translate(_BACKTICK))


def escape_code(text: str) -> str:
    """Return the content of code; only three backticks in it cannot stay together."""
    return escape(_BACKTICKS.sub(f"``{NO_WIDTH}", text))


def code_span(text: str) -> str:
    if not text.strip():
        return escape_prose(text)
    if "`" not in text:
        return f"`{escape_code(text)}`"
    start = NO_WIDTH if text.startswith("`") else ""
    end = NO_WIDTH if text.endswith("`") else ""
    return f"{_CODE_FENCE}{start}{escape_code(text)}{end}{_CODE_FENCE}"


def link_address(url: str) -> str:
    """Return the address for a link, or an empty string if Slack makes none of it."""
    safe = _UNSAFE_IN_URL.sub(_percent, url)
    fits = len(safe) <= _MAX_URL and _ADDRESS.match(safe)
    return escape(safe) if fits else ""


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace"))


SEQUENCE: Final = re.compile(r"<([^<>|\n\0][^<>\n\0]*)>")
_PERSON: Final = re.compile(r"<@([UW][A-Z0-9]+)(?:\|[^<>\n]*)?>")
_ENTITIES: Final = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}
_ENTITY: Final = re.compile("|".join(_ENTITIES))
# What Slack puts before an address that somebody typed without it.
_ADDED: Final = ("", "http://", "https://", "mailto:", "tel:")


def decode(text: str) -> str:
    """Put the three characters back that Slack writes as entities, and no others."""
    return _ENTITY.sub(lambda found: _ENTITIES[found[0]], text)


def people_in(text: str) -> frozenset[str]:
    """Return the ids of those whose names are needed to show a text."""
    return frozenset(_PERSON.findall(text))


def mention_of(person_id: str) -> re.Pattern[str]:
    return re.compile(rf"<@{re.escape(person_id)}(?:\|[^<>\n]*)?>")


def sequence_text(sequence: str, names: Mapping[str, str]) -> str:
    """Return what people see of a sequence, and the address behind other words."""
    target, _, label = map(decode, sequence.partition("|"))
    match target[0]:
        case "@":
            return f"@{names.get(target[1:]) or label or target[1:]}"
        case "#":
            return f"#{label or target[1:]}"
        case "!":
            return _special(target[1:], label)
        case _:
            return _address(target, label)


def sequence_as_typed(sequence: str, names: Mapping[str, str]) -> str:
    """Return it as it was typed, for code: nobody has put a link there."""
    target, _, label = map(decode, sequence.partition("|"))
    if target[0] in "@#!":
        return sequence_text(sequence, names)
    return label if _is_same(target, label) else target


def _special(name: str, label: str) -> str:
    # `here` calls everybody, `subteam^S1` a group; `date^…` is a moment.
    kind, _, rest = name.partition("^")
    if kind == "date":
        return label or rest
    if kind == "subteam":
        return label or f"@{rest}"
    return f"@{kind}"


def _address(url: str, label: str) -> str:
    if _is_same(url, label):
        return label
    return f"{url} ({label})" if label else url.removeprefix("mailto:")


def _is_same(url: str, label: str) -> bool:
    ends = ("", "/")
    return any(url == f"{scheme}{label}{end}" for scheme in _ADDED for end in ends)


# Slack makes bold what stands between two stars with no word beside them.
_BOLD: Final = re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![\w*])")
_STRIKE: Final = re.compile(r"(?<![\w~])~(?=[^\s~])([^~\n]*[^\s~])~(?![\w~])")
_BULLET: Final = re.compile(r"^([ \t]*)[•◦▪]\ufe0e?[ \t]+")
# Slack shows all that, and Markdown would hide it or what it holds.
_HIDES: Final = re.compile(r"(?<!\\)(\\*)(<(?=[A-Za-z/!?])|&(?=#?\w+;)|(?<=!)\[)")
_DEFINES: Final = re.compile(r"^([ \t>*+-]*)\[(?=[^\]\n]*\]:)")


def read_line(line: str) -> str:
    text = escape_markdown(decode(line))
    text = _BULLET.sub(r"\1- ", text)
    text = _DEFINES.sub(r"\1\\[", text)
    text = _BOLD.sub(r"**\1**", text)
    return _STRIKE.sub(r"~~\1~~", text)


def escape_markdown(text: str) -> str:
    """Let Markdown show what would be HTML, an entity or an image as it was typed."""
    return _HIDES.sub(lambda found: f"{found[1] * 2}\\{found[2]}", text)


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
