"""Read the blocks of a message as Slack's markup, so that one reader serves them all.

Apps put into blocks what their text only sums up, and people put tables there.
https://docs.slack.dev/reference/block-kit/blocks
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from patchwright.integrations.slack.text.escaping import escape

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
