"""Take messages of Slack apart, as its windows do."""

import re
from collections.abc import Iterable

from patchwright.integrations.slack.text.message_writer import Block, SlackText


def texts_of(message: SlackText) -> list[str]:
    """Return the texts of all blocks, from first to last."""
    return [text for block in message.blocks for text in _texts(block)]


def code_in(messages: Iterable[SlackText]) -> list[str]:
    """Return the code blocks as they were before they were escaped."""
    return [
        _decoded(code)
        for message in messages
        for text in texts_of(message)
        for code in re.findall(r"^```\n(.*?)\n```$", text, re.DOTALL | re.MULTILINE)
    ]


def _texts(block: Block) -> list[str]:
    match block:
        case {"type": "section", "text": {"text": str(text)}}:
            return [text]
        case {"type": "context", "elements": [{"text": str(text)}]}:
            return [text]
        case {"type": "divider"}:
            return []
        case _:
            raise AssertionError(block)


def _decoded(text: str) -> str:
    text = text.replace("&lt;", "<").replace("&gt;", ">").replace("\u200b", "")
    return text.replace("&amp;", "&")
