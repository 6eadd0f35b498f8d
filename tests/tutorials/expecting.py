"""Hold what was seen against what a page says."""

import re

ANYTHING = "…"


def is_seen(expected: str, output: str) -> bool:
    """Tell whether these lines are all that was said."""
    return re.fullmatch(_pattern(expected), _tidy(output)) is not None


def is_in_networks(expected: str, output: str) -> bool:
    """Tell whether these lines, one after the other, are in what was said."""
    return re.search(f"(?m)^{_pattern(expected)}", _tidy(output)) is not None


def _pattern(expected: str) -> str:
    return "".join(map(_line, expected.splitlines()))


def _line(line: str) -> str:
    if line == ANYTHING:
        return r"(?:.*\n)*?"
    return ".*".join(re.escape(part) for part in line.split(ANYTHING)) + r"\n"


def _tidy(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.strip("\n").splitlines())
