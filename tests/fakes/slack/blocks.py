"""Refuse the blocks that Slack refuses.

https://docs.slack.dev/reference/block-kit/blocks
"""

from collections.abc import Callable, Iterator
from typing import Any

from tests.fakes.slack.call import RefusedError
from tests.fakes.slack.state import TEXTS, Json, words_in

IN_MESSAGE, IN_VIEW = 50, 100
# Nobody says how many; https://github.com/slackapi/bolt-js/issues/2509 found it out.
MAX_CHARS = 13_000
Problems = Iterator[str]


def check_blocks(blocks: Any, *, is_view: bool = False) -> tuple[Json, ...]:
    """Return them; refuse what is too long, too much, double or unknown."""
    problems = list(_problems(blocks, is_view=is_view))
    if problems:
        raise RefusedError("invalid_blocks", response_metadata={"messages": problems})
    if not is_view and sum(map(len, words_in(blocks))) > MAX_CHARS:
        raise RefusedError("msg_blocks_too_long")
    return tuple(blocks)


def _problems(blocks: Any, *, is_view: bool) -> Problems:
    if not isinstance(blocks, list):
        yield "blocks must be a list"
        return
    most = IN_VIEW if is_view else IN_MESSAGE
    if not is_view and not blocks:
        return
    if not 1 <= len(blocks) <= most:
        yield f"no more than {most} items allowed"
    ids = [block["block_id"] for block in blocks if "block_id" in block]
    if len(set(ids)) < len(ids):
        yield "block_id must be unique"
    for number, block in enumerate(blocks):
        kind = block.get("type")
        known = {**BLOCKS, **IN_VIEWS} if is_view else BLOCKS
        if kind not in known:
            yield f"unsupported type: {kind} [json-pointer:/{number}/type]"
            continue
        yield from (f"{one} [json-pointer:/{number}]" for one in _block(block, known))


def _block(block: Json, known: "dict[str, Check]") -> Problems:
    if len(block.get("block_id", "")) > 255:
        yield "block_id must be no more than 255 characters"
    yield from known[block["type"]](block)
    elements = [
        *block.get("elements", ()),
        block.get("accessory"),
        block.get("element"),
    ]
    ids = [one.get("action_id") for one in elements if one and one.get("action_id")]
    if len(set(ids)) < len(ids):
        yield "action_id must be unique"


def _section(block: Json) -> Problems:
    if "text" not in block and "fields" not in block:
        yield "text or fields are required"
    if "text" in block:
        yield from _text(block["text"], 3000)
    if len(block.get("fields", ())) > 10:
        yield "no more than 10 fields"
    for one in block.get("fields", ()):
        yield from _text(one, 2000)
    if "accessory" in block:
        yield from _element(block["accessory"])


def _context(block: Json) -> Problems:
    if not 1 <= len(block.get("elements", ())) <= 10:
        yield "1 to 10 elements"
    for one in block.get("elements", ()):
        if one.get("type") != "image":
            yield from _text(one, 3000)


def _header(block: Json) -> Problems:
    yield from _text(block.get("text"), 150, "plain_text")


def _actions(block: Json) -> Problems:
    if not 1 <= len(block.get("elements", ())) <= 25:
        yield "1 to 25 elements"
    for one in block.get("elements", ()):
        yield from _element(one)


def _input(block: Json) -> Problems:
    yield from _text(block.get("label"), 2000, "plain_text")
    if "hint" in block:
        yield from _text(block["hint"], 2000, "plain_text")
    yield from _element(block.get("element") or {})


def _image(block: Json) -> Problems:
    if not block.get("alt_text"):
        yield "alt_text is required"
    if len(block.get("image_url", "")) > 3000:
        yield "image_url must be no more than 3000 characters"


def _markdown(block: Json) -> Problems:
    if not 1 <= len(block.get("text", "")) <= 12_000:
        yield "text must be 1 to 12000 characters"


def _anything(_block: Json) -> Problems:
    return iter(())


def _text(text: Any, longest: int, kind: str = "") -> Problems:
    if not isinstance(text, dict) or text.get("type") not in TEXTS:
        yield "a text object is required"
        return
    if kind and text["type"] != kind:
        yield f"must be {kind}"
    if set(text) - {"type", "text", "emoji", "verbatim"}:
        yield "a text object has other fields"
    if not 1 <= len(text.get("text", "")) <= longest:
        yield f"text must be 1 to {longest} characters"


def _element(element: Json) -> Problems:
    kind = element.get("type")
    if kind not in ELEMENTS:
        yield f"unsupported element: {kind}"
        return
    if len(element.get("action_id", "")) > 255:
        yield "action_id must be no more than 255 characters"
    if "placeholder" in element:
        yield from _text(element["placeholder"], 150, "plain_text")
    yield from ELEMENTS[kind](element)


def _button(element: Json) -> Problems:
    yield from _text(element.get("text"), 75, "plain_text")
    if len(element.get("value", "")) > 2000:
        yield "value must be no more than 2000 characters"
    if len(element.get("url", "")) > 3000:
        yield "url must be no more than 3000 characters"
    if element.get("style") not in (None, "primary", "danger"):
        yield "style must be primary or danger"


def _external_select(element: Json) -> Problems:
    if not isinstance(element.get("min_query_length", 3), int):
        yield "min_query_length must be a number"
    if "initial_option" in element:
        yield from check_option(element["initial_option"])


def _static_select(element: Json) -> Problems:
    if not 1 <= len(element.get("options", ())) <= 100:
        yield "1 to 100 options"
    for one in element.get("options", ()):
        yield from check_option(one)


def check_option(option: Json) -> Problems:
    """https://docs.slack.dev/reference/block-kit/composition-objects/option-object."""
    yield from _text(option.get("text"), 75, "plain_text")
    if not 1 <= len(option.get("value", "")) <= 150:
        yield "value must be 1 to 150 characters"


def _plain_text_input(element: Json) -> Problems:
    if not 1 <= element.get("max_length", 3000) <= 3000:
        yield "max_length must be 1 to 3000"


Check = Callable[[Json], Problems]
BLOCKS: dict[str, Check] = {
    "section": _section,
    "context": _context,
    "header": _header,
    "actions": _actions,
    "divider": _anything,
    "image": _image,
    "markdown": _markdown,
    "rich_text": _anything,
}
IN_VIEWS: dict[str, Check] = {"input": _input}
ELEMENTS: dict[str, Check] = {
    "button": _button,
    "external_select": _external_select,
    "static_select": _static_select,
    "plain_text_input": _plain_text_input,
}
