"""Read a comment that mentions nobody of ours: what it says, and whether to us."""

import re
from typing import Final

from patchwright.core.text.document.reader import parse_markdown
from patchwright.core.text.hidden import strip_hidden
from patchwright.core.text.markdown import plain_lines

_TO_SOMEBODY: Final = re.compile(r"[\s*_~(\[]*@[^\W_]")


def own_words(text: str) -> str:
    """Return a comment without what it quotes from others, and what it hides."""
    visible = plain_lines(strip_hidden(text).text)
    lines = visible.split("\n")
    for token in parse_markdown(visible) or ():
        if token.type == "blockquote_open" and token.level == 0 and token.map:
            first, end = token.map
            lines[first:end] = [""] * (end - first)
    return "\n".join(lines).strip()


def is_to_somebody_else(words: str) -> bool:
    """Tell whether a comment without a mention of ours begins with somebody else's."""
    return _TO_SOMEBODY.match(words) is not None
