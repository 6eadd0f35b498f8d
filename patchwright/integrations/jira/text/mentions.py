"""Find out what a text asks of us.

Both kinds of texts become the same document first, so what is code or a quote, where
nobody is called, is decided once.
"""

from patchwright.core.text.document.types import Blocks, Mention
from patchwright.core.text.mentions import find_request
from patchwright.integrations.jira.text.adf_in import adf_blocks
from patchwright.integrations.jira.text.markdown_blocks import write_markdown
from patchwright.integrations.jira.text.wiki_in import wiki_blocks


def request_in_adf(
    document: object, own_ids: frozenset[str], handle: str
) -> str | None:
    """Return what is asked of us, as Markdown, or None if we aren't called.

    We are called by a mention of our user, or by `handle`, written with its @.
    """
    return _request(adf_blocks(document), own_ids, handle)


def request_in_wiki(text: str, own_ids: frozenset[str], handle: str) -> str | None:
    if not _may_call(text, own_ids, handle):
        return None
    return _request(wiki_blocks(text), own_ids, handle)


def _may_call(text: str, own_ids: frozenset[str], handle: str) -> bool:
    """Tell, by a plain search, whether it is worth to read a text.

    An entity or an escaped sign may be a part of a name.
    """
    folded = text.casefold()
    names = (handle[1:].casefold(), *map(str.casefold, own_ids), "&", "\\")
    return any(name in folded for name in names)


def _request(blocks: Blocks, own_ids: frozenset[str], handle: str) -> str | None:
    own = frozenset(map(str.casefold, own_ids))

    def named(call: Mention) -> str:
        """Write a mention of us as our handle, and nobody else's like it."""
        if call.person_id.casefold() in own:
            return handle
        name = f"@{call.name}"
        return name if find_request(name, handle) is None else call.name

    return find_request(write_markdown(blocks, named), handle)
