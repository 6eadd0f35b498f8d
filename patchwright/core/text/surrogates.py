"""Make text fit for UTF-8 and for people: half a surrogate pair is no character."""

import re
from typing import Final

from pydantic import JsonValue

# Git, PostgreSQL and XML refuse some of these, and nobody reads any of them.
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_LINE_END: Final = re.compile(r"\r\n?|[\u2028\u2029]")


def readable(text: str) -> str:
    """Return the text without control characters, its lines ended by a line feed."""
    return _CONTROLS.sub("", _LINE_END.sub("\n", well_formed(text)))


def well_formed(text: str) -> str:
    """Return the text with surrogate pairs joined and lone halves as U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def well_formed_tree(value: JsonValue) -> JsonValue:
    """Do the same for every key and text of a JSON value."""
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, list):
        return [well_formed_tree(item) for item in value]
    if isinstance(value, dict):
        return {well_formed(key): well_formed_tree(item) for key, item in value.items()}
    return value
