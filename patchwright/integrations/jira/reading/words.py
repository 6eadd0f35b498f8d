"""Read a text of a ticket: what it asks of us, and how it looks as Markdown."""

from typing import Final

from patchwright.core.text.mentions import find_request
from patchwright.integrations.jira.listening import JiraTriggerRules
from patchwright.integrations.jira.reading.payloads import RichText
from patchwright.integrations.jira.text.adf_in import adf_to_markdown
from patchwright.integrations.jira.text.mentions import (
    request_in_adf,
    request_in_wiki,
)
from patchwright.integrations.jira.text.wiki_in import wiki_to_markdown

# Jira itself takes 32,767 characters unless somebody has raised that; a delivery could
# bring a million, which take a minute to read.
LONGEST_TEXT: Final = 40_000


def read_markdown(text: RichText) -> str:
    match text:
        case None:
            return ""
        case str():
            return wiki_to_markdown(text[:LONGEST_TEXT])
        case _:
            return adf_to_markdown(text)


def find_rich_request(text: RichText, listening: JiraTriggerRules) -> str | None:
    """Return what a text asks of us, None if it does not mention us."""
    match text:
        case None:
            return None
        case str():
            return request_in_wiki(text[:LONGEST_TEXT], listening.own_ids, listening.mention)
        case _:
            return request_in_adf(text, listening.own_ids, listening.mention)


def find_plain_request(text: str, listening: JiraTriggerRules) -> str | None:
    """Do the same for a text without markup, such as a summary."""
    return find_request(text, listening.mention)
