"""Read wiki markup, the texts of Jira's webhooks and of data centers.

https://jira.atlassian.com/secure/WikiRendererHelpAction.jspa?section=all
"""

from collections.abc import Iterator
from typing import assert_never

from patchwright.core.text.document.types import (
    Block,
    Blocks,
    CodeBlock,
    Paragraph,
    BlockQuote,
    Strong,
    PlainText,
)
from patchwright.integrations.jira.text.markdown_blocks import write_markdown
from patchwright.integrations.jira.text.wiki_lines import read_lines
from patchwright.integrations.jira.text.wiki_macros import (
    MacroBox,
    WikiPart,
    Prose,
    Verbatim,
    split_macros,
)


def wiki_to_markdown(text: str) -> str:
    return write_markdown(wiki_blocks(text))


def wiki_blocks(text: str) -> Blocks:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _blocks(split_macros(text))


def _blocks(parts: tuple[WikiPart, ...]) -> Blocks:
    return tuple(block for part in parts for block in _part(part))


def _part(part: WikiPart) -> Iterator[Block]:
    match part:
        case Prose(text):
            yield from read_lines(text)
        case Verbatim(text, language):
            yield CodeBlock(text, language)
        case MacroBox("quote", _, parts):
            yield BlockQuote(_blocks(parts))
        case MacroBox(_, title, parts):
            if title:
                yield Paragraph((Strong((PlainText(title),)),))
            yield from _blocks(parts)
        case _:
            assert_never(part)
