"""Find in a text what a parser read from its lines."""

from bisect import bisect_right
from collections.abc import Callable

from markdown_it.token import Token


class SourceLines:
    """The lines of a text, and where each begins."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.size = len(text)

    def span(self, token: Token) -> tuple[int, int]:
        first, last = token.map or [0, 0]
        return self.starts[first], min(self.starts[last], self.size)

    def locate(self, content: str, first_line: int) -> Callable[[int], int]:
        """Return what maps an offset in a block's content to one in the text.

        A line of the content is its line of the text without what the containers put
        in front of it (`> `, `- `, indentation) and without closing `#`s.
        """
        cuts: list[int] = []
        shifts: list[int] = []
        offset = 0
        for number, line in enumerate(content.split("\n"), first_line):
            column = self.lines[number].rfind(line.lstrip())
            begin = offset + len(line) - len(line.lstrip())
            cuts.append(offset)
            shifts.append(self.starts[number] + column - begin)
            offset += len(line) + 1
        return lambda at: at + shifts[bisect_right(cuts, at) - 1]
