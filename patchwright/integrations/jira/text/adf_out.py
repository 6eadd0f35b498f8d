"""Write Markdown as an ADF document, which Jira Cloud wants.

https://developer.atlassian.com/cloud/jira/platform/apis/document/structure/
"""

import json

from patchwright.core.text.document.read import read_document
from patchwright.core.text.document.types import Blocks
from patchwright.integrations.jira.text.adf_blocks_out import write_blocks
from patchwright.integrations.jira.text.adf_inlines_out import AdfNode
from patchwright.integrations.jira.text.fitting import truncate_document, length_in_jira


def to_adf(markdown: str) -> AdfNode:
    """Return a document that fits into a comment."""
    return _document(truncate_document(read_document(markdown), _size))


def _document(blocks: Blocks) -> AdfNode:
    return {"type": "doc", "version": 1, "content": write_blocks(blocks)}


def _size(blocks: Blocks) -> int:
    # What of a document is counted isn't said; this much it is never more than.
    text = json.dumps(_document(blocks), ensure_ascii=False, separators=(",", ":"))
    return length_in_jira(text)
