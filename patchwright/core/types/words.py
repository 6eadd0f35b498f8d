"""Text that the agent or a service writes for people, and that git must take."""

import re
from typing import Annotated, Final

from pydantic import BeforeValidator

# Git, PostgreSQL and XML refuse some of these, and nobody reads any of them.
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_LINE_END: Final = re.compile(r"\r\n?|[\u2028\u2029]")
_HALF: Final = re.compile(r"[\ud800-\udfff]")


def readable(text: str) -> str:
    """Return the text without control characters, its lines ended by a line feed.

    Half of a surrogate pair, which is no character, becomes U+FFFD.
    """
    whole = _HALF.sub("\N{REPLACEMENT CHARACTER}", text)
    return _CONTROLS.sub("", _LINE_END.sub("\n", whole))


def _read(value: object) -> object:
    return readable(value) if isinstance(value, str) else value


# A control character in what the agent says must not cost its work.
ReadableText = Annotated[str, BeforeValidator(_read)]
