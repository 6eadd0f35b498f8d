"""Read a line of prose that somebody typed into Slack, as Markdown."""

import re
from typing import Final

from patchwright.integrations.slack.text.sequences import decode

# Slack makes bold what stands between two stars with no word beside them.
_BOLD: Final = re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![\w*])")
_STRIKE: Final = re.compile(r"(?<![\w~])~(?=[^\s~])([^~\n]*[^\s~])~(?![\w~])")
_BULLET: Final = re.compile(r"^([ \t]*)[•◦▪]\ufe0e?[ \t]+")
# Slack shows all that, and Markdown would hide it or what it holds.
_HIDES: Final = re.compile(r"(?<!\\)(\\*)(<(?=[A-Za-z/!?])|&(?=#?\w+;)|(?<=!)\[)")
_DEFINES: Final = re.compile(r"^([ \t>*+-]*)\[(?=[^\]\n]*\]:)")


def read_line(line: str) -> str:
    text = escape_markdown(decode(line))
    text = _BULLET.sub(r"\1- ", text)
    text = _DEFINES.sub(r"\1\\[", text)
    text = _BOLD.sub(r"**\1**", text)
    return _STRIKE.sub(r"~~\1~~", text)


def escape_markdown(text: str) -> str:
    """Let Markdown show what would be HTML, an entity or an image as it was typed."""
    return _HIDES.sub(lambda found: f"{found[1] * 2}\\{found[2]}", text)
