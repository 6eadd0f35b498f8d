"""Hold what was seen against what a page says."""

import re

ANYTHING = "…"


def is_seen(expected: str, output: str) -> bool:
    """Tell whether these lines are all that was said."""
    return re.fullmatch(_pattern(expected), _tidy(output)) is not None


def is_among(expected: str, output: str) -> bool:
    """Tell whether these lines, one after the other, are in what was said."""
    pattern = rf"(?m)^{_pattern(expected)}$"
    return re.search(pattern, _tidy(output)) is not None


def _pattern(expected: str) -> str:
    lines = [_line(line) for line in _tidy(expected).split("\n")]
    return "\n".join(lines).replace(_LINES + "\n", f"{_LINES}\n?")


_LINES = r"(?:.*\n)*?.*"


def _line(line: str) -> str:
    if line == ANYTHING:
        return _LINES
    return ".*".join(re.escape(part) for part in line.split(ANYTHING))


def _tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))
