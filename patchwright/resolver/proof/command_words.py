"""Split the text of a shell command into simple commands and their words.

Only what is needed to know whether a command calls a test runner and nothing else: a
text that this cannot split with certainty is not split at all.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple


@dataclass(frozen=True)
class Word:
    """A word as it is written, and its value without the quotation marks.

    `is_plain` is False where the shell would put something else in its place.
    """

    raw: str
    value: str
    is_plain: bool = True


@dataclass(frozen=True)
class SimpleCommand:
    """The words of a command, and the operator behind it (";" at the end).

    `redirects` are its redirections, as they are written.
    """

    words: tuple[Word, ...]
    operator: str
    redirects: tuple[str, ...] = ()

    @property
    def values(self) -> list[str]:
        return [word.value for word in self.words]

    @property
    def text(self) -> str:
        return join_raw(self.words)


def join_raw(words: Sequence[Word]) -> str:
    return " ".join(word.raw for word in words)


_SEGMENT: Final = re.compile(
    r"(?P<single>'[^']*')"
    r'|(?P<double>"(?:[^"\\]|\\.)*")'
    r"|(?P<escaped>\\.)"
    r"|(?P<bare>[^\s'\"\\;|&<>()]+)",
    re.DOTALL,
)
_REDIRECT: Final = re.compile(r"(?:&>>?|\d*(?:>>|>&|>\||>|<&|<))[ \t]*")
_OPERATOR: Final = re.compile(r"&&|\|\||\|&|[;|&\n]")
_SPACE: Final = re.compile(r"[ \t]+|\\\n|(?<![^\s;|&])#[^\n]*")
# The two that tell nothing of the machine, and lead nowhere else.
_EXPANDED: Final = re.compile(r"\$(?!(?:PWD|PYTHONPATH)\b)|[`!]")
_IN_QUOTES: Final = re.compile(r"\$(?:(?!(?:PWD|PYTHONPATH)\b)[\w{(?!@*#$-])|[`\\!]")


def split_command(text: str) -> tuple[SimpleCommand, ...]:
    """Return the simple commands in their order; nothing if it is in doubt."""
    found: list[SimpleCommand] = []
    words: list[Word] = []
    redirects: list[str] = []
    for token in (*_read_tokens(text), _Operator("\n")):
        match token:
            case None:
                return ()
            case Word():
                words.append(token)
            case _Redirect():
                redirects.append(token.text)
            case _Operator() if words:
                operator = ";" if token.text == "\n" else token.text
                found.append(SimpleCommand(tuple(words), operator, tuple(redirects)))
                words, redirects = [], []
            case _Operator():  # an empty line, or an operator without a command
                ends_well = not found or found[-1].operator == ";"
                if token.text != "\n" or redirects or not ends_well:
                    return ()
    return tuple(found)


class _Operator(NamedTuple):
    text: str


class _Redirect(NamedTuple):
    text: str


def _read_tokens(text: str) -> Iterator[Word | _Operator | _Redirect | None]:
    """Yield what the text consists of; None where it cannot be read."""
    at = 0
    while at < len(text):
        if match := _SPACE.match(text, at):
            at = match.end()
        elif match := _REDIRECT.match(text, at):
            target = _read_word(text, match.end())
            yield _Redirect(match[0].strip() + target.raw) if target else None
            at = match.end() + (len(target.raw) if target else 0)
        elif match := _OPERATOR.match(text, at):
            yield _Operator(match[0])
            at = match.end()
        elif word := _read_word(text, at):
            yield word
            at += len(word.raw)
        else:  # a parenthesis, or a quotation that is open
            yield None
            return


def _read_word(text: str, at: int) -> Word | None:
    start, value, is_plain = at, "", True
    while match := _SEGMENT.match(text, at):
        part = match[0]
        if match["single"]:
            value += part[1:-1]
        elif match["double"]:
            value += part[1:-1]
            is_plain = is_plain and not _IN_QUOTES.search(part)
        elif match["escaped"]:
            value += part[1:]
            is_plain = is_plain and part[1:] != "\n"
        else:
            value += part
            is_plain = is_plain and not _EXPANDED.search(part)
        at = match.end()
    return Word(text[start:at], value, is_plain) if at > start else None
