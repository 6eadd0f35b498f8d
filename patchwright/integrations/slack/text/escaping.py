"""Write texts so that Slack finds no markup in them.

https://docs.slack.dev/messaging/formatting-message-text/#escaping
"""

import re
from typing import Final

_ESCAPES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
# A blank of no width keeps Slack from finding formatting where it stands: a sign opens
# or closes it only beside blanks and punctuation.
NO_WIDTH: Final = "\u200b"
_MARK: Final = re.compile(r"(?<!\w)[*_~]+|[*_~]+(?!\w)")
_QUOTING: Final = re.compile(r"^([ \t]*)(?=>)")
# Of a code block three in a row would be the end.
_BACKTICKS: Final = re.compile("``(?=`)")
_CODE_FENCE: Final = "```"
# There is no way to escape it; in prose nobody misses the sign itself.
_BACKTICK: Final = str.maketrans("`", "\u02cb")
_UNSAFE_IN_URL: Final = re.compile(r"[\s<>|\"`\\]")
_ADDRESS: Final = re.compile(r"(?:https?://|mailto:)[^\s]", re.IGNORECASE)
_MAX_URL: Final = 1_500
MAX_PATH: Final = 200


def escape(text: str) -> str:
    return text.translate(_ESCAPES)


def escape_prose(text: str) -> str:
    """Return text in which nothing is formatting, not even a sign at its beginning."""
    text = _MARK.sub(lambda found: f"{NO_WIDTH}{found[0]}{NO_WIDTH}", text)
    text = _QUOTING.sub(rf"\1{NO_WIDTH}", text)
    return escape(text.translate(_BACKTICK))


def escape_code(text: str) -> str:
    """Return the content of code; only three backticks in it cannot stay together."""
    return escape(_BACKTICKS.sub(f"``{NO_WIDTH}", text))


def code_span(text: str) -> str:
    if not text.strip():
        return escape_prose(text)
    if "`" not in text:
        return f"`{escape_code(text)}`"
    start = NO_WIDTH if text.startswith("`") else ""
    end = NO_WIDTH if text.endswith("`") else ""
    return f"{_CODE_FENCE}{start}{escape_code(text)}{end}{_CODE_FENCE}"


def link_address(url: str) -> str:
    """Return the address for a link, or an empty string if Slack makes none of it."""
    safe = _UNSAFE_IN_URL.sub(_percent, url)
    fits = len(safe) <= _MAX_URL and _ADDRESS.match(safe)
    return escape(safe) if fits else ""


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace"))
