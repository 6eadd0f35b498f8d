"""Read all that people see of a message: text, blocks, attachments and files."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from patchwright.integrations.slack.text.message_content import (
    MessageContent,
    SlackAttachment,
    SlackFile,
)
from patchwright.integrations.slack.text.mrkdwn import escape, people_in, to_markdown

Json = Mapping[str, Any]

# Lists lie in lists, and quotes in them; what is deeper was not made by Slack.
_DEEPEST: Final = 8
_INDENT: Final = "    "
_STYLES: Final = (("strike", "~"), ("italic", "_"), ("bold", "*"))


def markup_of(blocks: Iterable[Json]) -> str:
    """Return what readers see of the blocks; buttons are no text."""
    parts = (_block(block) for block in blocks)
    return "\n".join(part for part in parts if part.strip())


def _block(block: Json) -> str:
    reader = _BLOCKS.get(_word(block, "type"))
    return reader(block) if reader else ""


def _section(block: Json) -> str:
    fields = map(_text_object, _entries(block, "fields"))
    return "\n".join(filter(None, (_text_object(_entry(block, "text")), *fields)))


def _header(block: Json) -> str:
    text = _text_object(_entry(block, "text"))
    return f"*{text}*" if text else ""


def _context(block: Json) -> str:
    parts = (_text_object(one) or _picture(one) for one in _entries(block, "elements"))
    return " ".join(filter(None, parts))


def _picture(block: Json) -> str:
    words = _text_object(_entry(block, "title")) or escape(_word(block, "alt_text"))
    return f"[picture: {words}]" if words else ""


def _video(block: Json) -> str:
    parts = (_entry(block, "title"), _entry(block, "description"))
    return "\n".join(filter(None, map(_text_object, parts)))


def _markdown(block: Json) -> str:
    return escape(_word(block, "text"))


def _table(block: Json) -> str:
    rows = block.get("rows")
    rows = rows if isinstance(rows, list) else []
    cells = [
        [_cell(one) for one in row if isinstance(one, dict)]
        for row in rows
        if isinstance(row, list)
    ]
    lines = [f"| {' | '.join(row)} |" for row in cells if row]
    if lines:
        lines.insert(1, f"|{' --- |' * len(cells[0])}")
    return "\n".join(lines)


def _cell(cell: Json) -> str:
    is_rich = _word(cell, "type") == "rich_text"
    words = _rich(cell) if is_rich else escape(_word(cell, "text"))
    return " ".join(words.split()).replace("|", "\\|")


def _text_object(node: Json) -> str:
    text = _word(node, "text")
    match _word(node, "type"):
        case "mrkdwn":
            return text
        case "plain_text":
            return escape(text)
        case _:
            return ""


def _rich(block: Json) -> str:
    return "\n".join(_parts(_entries(block, "elements"), 0))


def _parts(elements: Sequence[Json], depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    for element in elements:
        match _word(element, "type"):
            case "rich_text_section":
                yield _line(element)
            case "rich_text_preformatted":
                yield f"```\n{_line(element)}\n```"
            case "rich_text_quote":
                yield from (f"&gt; {line}" for line in _line(element).split("\n"))
            case "rich_text_list":
                items = _entries(element, "elements")
                yield from _items(element, items, depth)
            case _:
                pass


def _items(block: Json, items: Sequence[Json], depth: int) -> Iterator[str]:
    indent = block.get("indent")
    level = min(indent, _DEEPEST) if isinstance(indent, int) and indent > 0 else 0
    offset = block.get("offset")
    first = 1 + (offset if isinstance(offset, int) and offset > 0 else 0)
    for number, item in enumerate(items, start=first):
        mark = f"{number}." if _word(block, "style") == "ordered" else "•"
        yield f"{_INDENT * level}{mark} {' '.join(_parts((item,), depth + 1))}"


def _line(element: Json) -> str:
    return "".join(map(_inline, _entries(element, "elements")))


def _inline(node: Json) -> str:
    reader = _INLINES.get(_word(node, "type"))
    words = reader(node) if reader else ""
    style = _entry(node, "style")
    if style.get("code") and words.strip() and "`" not in words:
        words = f"`{words}`"
    for name, mark in _STYLES:
        if style.get(name) and words.strip() == words and words:
            words = f"{mark}{words}{mark}"
    return words


def _link(node: Json) -> str:
    url, text = _word(node, "url"), escape(_word(node, "text"))
    safe = escape(url).replace("|", "%7C")
    return f"<{safe}|{text}>" if text else f"<{safe}>"


def _called(sign: str, name: str) -> Callable[[Json], str]:
    def read(node: Json) -> str:
        known = _word(node, name)
        return f"<{sign}{known}>" if known.replace("_", "").isalnum() else ""

    return read


def _word(node: Json, name: str) -> str:
    value = node.get(name)
    return value if isinstance(value, str) else ""


def _entry(node: Json, name: str) -> Json:
    value = node.get(name)
    return value if isinstance(value, dict) else {}


def _entries(node: Json, name: str) -> list[Json]:
    value = node.get(name)
    return [v for v in value if isinstance(v, dict)] if isinstance(value, list) else []


_BLOCKS: Final[Mapping[str, Callable[[Json], str]]] = {
    "context": _context,
    "header": _header,
    "image": _picture,
    "markdown": _markdown,
    "rich_text": _rich,
    "section": _section,
    "table": _table,
    "video": _video,
}
_INLINES: Final[Mapping[str, Callable[[Json], str]]] = {
    "broadcast": _called("!", "range"),
    "channel": _called("#", "channel_id"),
    "color": lambda node: escape(_word(node, "value")),
    "date": lambda node: escape(_word(node, "fallback")),
    "emoji": lambda node: f":{escape(_word(node, 'name'))}:",
    "link": _link,
    "text": lambda node: escape(_word(node, "text")),
    "user": _called("@", "user_id"),
    "usergroup": _called("!subteam^", "usergroup_id"),
}


# Files that were deleted, or that a free workspace hides.
_GONE: Final = frozenset({"tombstone", "hidden_by_limit"})
# What ends an address in Markdown, and what is markup in a name.
_ADDRESS: Final = str.maketrans({" ": "%20", "(": "%28", ")": "%29", "<": "%3C"})
_MARKUP: Final = str.maketrans(dict.fromkeys("[]()<>\\`*_\r\n", " "))


@dataclass(frozen=True, slots=True)
class MessageReader:
    """Reads messages with these names for people, and without mentions of ourselves."""

    names: Mapping[str, str]
    own_id: str

    def read(self, content: MessageContent) -> str:
        """Return the message as Markdown.

        A message that somebody forwards is a quotation: its author asked for nothing.
        """
        text = self._fullest(content.text, markup_of(content.blocks))
        parts = (
            text,
            *map(self._attachment, content.attachments),
            *map(as_markdown, content.files),
        )
        return _joined(parts)

    def _attachment(self, one: SlackAttachment) -> str:
        if one.is_message:
            return _quoted(self._forwarded(one))
        # The text of a link preview comes from the owner of the page.
        return "" if one.from_url else self._added(one)

    def _forwarded(self, one: SlackAttachment) -> str:
        blocks = (block for some in one.message_blocks for block in some.message.blocks)
        author = self._markdown(escape(one.author_name or one.author_id))
        place = self._markdown(escape(one.channel_name))
        by = f"Forwarded message of {author}" if author else "Forwarded message"
        heading = f"{by} in #{place}:" if place else f"{by}:"
        text = self._fullest(one.text or one.fallback, markup_of(blocks))
        return _joined((heading, text, *map(as_markdown, one.files)))

    def _added(self, one: SlackAttachment) -> str:
        """Return what an app says in the older way."""
        fields = (f"{field.title}: {field.value}" for field in one.fields)
        title = f"{one.title} ({one.title_link})" if one.title_link else one.title
        shown = (one.pretext, one.author_name, title, one.text, *fields)
        markup = "\n".join(filter(None, shown))
        text = self._fullest(markup, markup_of(one.blocks))
        files = map(as_markdown, one.files)
        return _joined((text or self._markdown(one.fallback), *files))

    def _fullest(self, text: str, blocks: str) -> str:
        """Return the text if it says what the blocks say, else the blocks, or both."""
        of_text, of_blocks = self._markdown(text), self._markdown(blocks)
        if _letters(of_blocks) in _letters(of_text):
            return of_text
        if _letters(of_text) in _letters(of_blocks):
            return of_blocks
        return _joined((of_text, of_blocks))

    def _markdown(self, markup: str) -> str:
        return to_markdown(markup, names=self.names, own_id=self.own_id)


def people_of(content: MessageContent) -> frozenset[str]:
    """Return the ids of those whose names are needed to show a message."""
    return people_in("\n".join(_markups(content)))


def files_of(content: MessageContent) -> tuple[SlackFile, ...]:
    """Return the files of a message, also those of a message that it forwards."""
    forwarded = (file for one in content.attachments for file in one.files)
    return (*content.files, *forwarded)


def as_markdown(file: SlackFile) -> str:
    """Name a file as a post would: a picture to be seen, or a link."""
    if not file.url_private or file.mode in _GONE:
        return ""
    name = (file.title or file.name or "file").translate(_MARKUP).strip() or "file"
    link = f"[{name}]({address_of(file)})"
    return f"!{link}" if file.mimetype.startswith("image/") else link


def address_of(file: SlackFile) -> str:
    """Return where it is, as a post links to it."""
    return file.url_private.translate(_ADDRESS)


def _markups(content: MessageContent) -> Iterator[str]:
    yield content.text
    yield markup_of(content.blocks)
    for one in content.attachments:
        yield from (one.pretext, one.title, one.text, one.fallback)
        yield from (field.value for field in one.fields)
        yield markup_of(one.blocks)
        yield from (markup_of(some.message.blocks) for some in one.message_blocks)


def _quoted(markdown: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in markdown.split("\n"))


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()
