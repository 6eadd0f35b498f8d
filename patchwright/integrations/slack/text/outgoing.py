"""Write our Markdown as messages of Slack.

https://docs.slack.dev/reference/block-kit/blocks
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from patchwright.core.text.document.read import read_document
from patchwright.integrations.slack.text.flow import layout_blocks
from patchwright.integrations.slack.text.sections import MessageSection, SectionShape, sections

Block = dict[str, object]

# Slack takes 50; what is offered below a text needs some.
_MAX_BLOCKS: Final = 45
# Slack refuses somewhat more than 13,000 characters with `msg_blocks_too_long`.
# https://github.com/slackapi/bolt-js/issues/2509
_MAX_CHARS: Final = 11_000
_PER_BLOCK: Final = 80
# https://docs.slack.dev/reference/methods/chat.postMessage/#truncating
_MAX_TEXT: Final = 4_000
_MORE: Final = "\n…"
_NOTHING: Final = "…"


@dataclass(frozen=True, slots=True)
class SlackText:
    """A message; `text` is what shows where blocks do not, as in notifications."""

    text: str
    blocks: tuple[Block, ...] = ()


def render(markdown: str) -> tuple[SlackText, ...]:
    """Return one message, or as many as are needed."""
    whole = list(sections(layout_blocks(read_document(markdown))))
    if not any(section.text for section in whole):
        return (SlackText(_NOTHING),)
    return tuple(map(_message, _messages(whole)))


def _messages(whole: list[MessageSection]) -> Iterator[list[MessageSection]]:
    message: list[MessageSection] = []
    chars = 0
    for section in whole:
        cost = len(section.text) + _PER_BLOCK
        if message and (len(message) == _MAX_BLOCKS or chars + cost > _MAX_CHARS):
            yield message
            message, chars = [], 0
        message.append(section)
        chars += cost
    yield message


def _message(parts: Sequence[MessageSection]) -> SlackText:
    return SlackText(_fallback(parts), tuple(map(_block, parts)))


def _block(section: MessageSection) -> Block:
    # Slack would otherwise make calls and links of plain names.
    # https://docs.slack.dev/reference/block-kit/composition-objects/text-object
    text = {"type": "mrkdwn", "text": section.text, "verbatim": True}
    match section.shape:
        case SectionShape.SECTION:
            return {"type": "section", "text": text}
        case SectionShape.CONTEXT:
            return {"type": "context", "elements": [text]}
        case SectionShape.DIVIDER:
            return {"type": "divider"}


def _fallback(parts: Sequence[MessageSection]) -> str:
    texts = [section.text for section in parts if section.text]
    shown = texts[:1]
    for text in texts[1:]:
        if len("\n".join((*shown, text))) + len(_MORE) > _MAX_TEXT:
            return "\n".join(shown) + _MORE
        shown.append(text)
    return "\n".join(shown)
