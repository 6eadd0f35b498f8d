"""Hand a change over as text, where there is no branch to show it."""

import re
from typing import Final

MAX_SHOWN_BYTES: Final = 20_000


def patch_block(patch: bytes) -> str:
    """Fold a patch into a message; empty where it is too long or is no plain text."""
    if len(patch) > MAX_SHOWN_BYTES:
        return ""
    try:
        text = patch.decode()
    except UnicodeDecodeError:
        return ""
    if not _can_be_copied(text):
        return ""
    return (
        "<details><summary>The change as a patch, for <code>git am</code></summary>\n\n"
        f"{_fenced(text)}\n\n</details>"
    )


def _fenced(text: str) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}diff\n{text.rstrip()}\n{ticks}"


def _can_be_copied(text: str) -> bool:
    """Tell whether who copies the text from a page gets the same bytes."""
    return all(sign.isprintable() or sign in "\n\t" for sign in text)
