"""Clean many texts of what is hidden in them, and remember what that was."""

import re
from collections import Counter

from patchwright.core.text.cut import truncate_middle
from patchwright.core.text.hidden import Removal, describe_removals, strip_hidden
from patchwright.core.text.invisible import strip_invisible
from patchwright.core.text.markup import HiddenKind

MAX_NAME_CHARS = 300
# By these we know our own posts again; nobody has hidden anything with them.
_OWN_MARKS = re.compile(r"<!-- patchwright:[\w:=@. -]{1,160}-->")


class TextCleaner:
    """Counts over all texts that it is given."""

    def __init__(self) -> None:
        self._removed: Counter[HiddenKind] = Counter()

    def clean(self, text: str) -> str:
        """Return a text, which may be Markdown, as its readers see it."""
        cleaned = strip_hidden(_OWN_MARKS.sub("", text))
        for removal in cleaned.removed:
            self._removed[removal.kind] += removal.count
        return cleaned.text

    def clean_code(self, text: str) -> str:
        """Return source code without invisible characters: markup in it is code."""
        lines = text.replace("\r\n", "\n").replace("\r", "\n")
        cleaned, invisible = strip_invisible(lines)
        self._removed[HiddenKind.CHARACTER] += invisible
        return cleaned

    def clean_name(self, name: str) -> str:
        """Return the name of a file or branch on one line, without what nobody sees.

        Git allows line ends and all else but NUL in names.
        """
        words = self.clean_code(name).split()
        return truncate_middle(" ".join(words), MAX_NAME_CHARS)

    @property
    def removed(self) -> int:
        """Return how many things were removed so far."""
        return self._removed.total()

    def describe(self) -> str:
        """Say what was removed: "1 HTML comment"; empty if it was nothing."""
        return describe_removals(
            tuple(
                Removal(kind=kind, count=count)
                for kind, count in self._removed.items()
                if count
            )
        )
