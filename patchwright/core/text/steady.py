"""Take out of a text what differs between two runs of the same thing."""

import re
from typing import Final

_MARK: Final = "~"
_VOLATILE: Final = re.compile(
    r"""
      \b\d{4}-\d\d-\d\d(?:[T\ ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?
    | \b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b
    | 0x[0-9a-fA-F]+
    | \b\d+(?:\.\d+)?\s?(?:ns|us|µs|ms|s|secs?|seconds?|minutes?)\b
    | \b\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?\b
    | \b\d+m\d+(?:[.,]\d+)?s\b
    | /tmp/[^\s'":,;()\[\]]+
    | \b(?:pid|PID)[\ =:]*\d+
    | (?m:^\[\d+\]\ \d+$)
    """,
    re.VERBOSE,
)


def normalise_text(text: str) -> str:
    """Put a mark for times, durations, process ids, addresses and temporary paths."""
    return _VOLATILE.sub(_MARK, text)
