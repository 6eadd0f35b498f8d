"""Write words and code so that Markdown shows them as they are."""

import re
from typing import Final

# https://spec.commonmark.org/0.31.2/#backslash-escapes; what cannot become markup stays
# bare, as a model reads the source: `snake_case`, `a < b`, `C:\dir`.
_MARKUP: Final = re.compile(
    r"""
      \\(?=[!-/:-@\[-`{-~]|\Z)      # a backslash that would escape something
    | (?<!\s)\* | \*(?!\s)
    | (?<![^\W_])_ | _(?![^\W_])
    | `
    | \](?=[(:\[])                   # the end of a label
    | !(?=\[)
    | <(?=[A-Za-z/!?])
    | (?<=<)!                        # a comment: our marks are found in the source
    | &(?=\#?\w{1,31};)
    | ~(?=~) | (?<=~)~
    """,
    re.VERBOSE,
)
_STARTS_A_BLOCK: Final = re.compile(
    r"(?P<before>)(?P<sign>[-+*](?=\s|-|\Z)|\#{1,6}(?=\s|\Z)|>|\||=+(?=\s*\Z)|:(?=-))"
    r"|(?P<number>\d{1,9})(?P<dot>[.)])(?=\s|\Z)"
)
_TICKS: Final = re.compile("`+")


def escape_words(text: str, *, starts_line: bool) -> str:
    escaped = _MARKUP.sub(r"\\\g<0>", text)
    return _escape_start(escaped) if starts_line else escaped


def escape_label(text: str) -> str:
    """Escape words inside the brackets of a link."""
    bare = re.sub(r"\\(?=\])", "", escape_words(text, starts_line=False))
    return re.sub(r"[\[\]]", r"\\\g<0>", bare)


def code_span(text: str) -> str:
    """Return text as code in a line; line ends become blanks, as they would anyway."""
    text = text.replace("\n", " ")
    if not text:
        return ""
    ticks = _ticks_beyond(text, least=0)
    clings = text.startswith("`") or text.endswith("`")
    padded = text.strip(" ") and text.startswith(" ") and text.endswith(" ")
    pad = " " if clings or padded else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def fence(text: str) -> str:
    """Return a fence that nothing in the text closes."""
    return _ticks_beyond(text, least=2)


def _ticks_beyond(text: str, *, least: int) -> str:
    return "`" * (max([least, *map(len, _TICKS.findall(text))]) + 1)


def _escape_start(text: str) -> str:
    found = _STARTS_A_BLOCK.match(text)
    if found is None:
        return text
    if found["number"]:
        return f"{found['number']}\\{text[found.start('dot') :]}"
    return f"\\{text}"
