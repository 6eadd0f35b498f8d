"""Build inlines out of what opens, stands alone and closes, in this order."""

from collections.abc import Callable

from patchwright.core.text.document.plain import join_texts
from patchwright.core.text.document.types import Inline, Inlines, PlainText

# Whoever reads the document later does so with a stack of its own.
_DEEPEST = 40

Make = Callable[[Inlines], Inlines]


class _OpenInline:
    """What was opened; `literal` stands for a tag that nothing closes."""

    def __init__(self, name: str, make: Make, literal: str) -> None:
        self.name = name
        self.make = make
        self.literal = literal
        self.children: list[Inline] = []

    def add(self, inline: Inline) -> None:
        self.children.append(inline)


class InlineStack:
    """Markdown's own parts always match; tags do only where people wrote them well."""

    def __init__(self) -> None:
        self._open = [_OpenInline("", tuple, "")]

    def add(self, inline: Inline) -> None:
        self._open[-1].add(inline)

    def open(self, name: str, make: Make) -> None:
        self._open.append(_OpenInline(name, make, ""))

    def close(self) -> None:
        """Close the last part of Markdown, and tags that were left open in it."""
        self._dissolve_tags()
        self._finish(self._open.pop())

    def open_tag(self, name: str, make: Make, literal: str) -> None:
        if len(self._open) >= _DEEPEST:
            self.add(PlainText(literal))
        else:
            self._open.append(_OpenInline(name, make, literal))

    def close_tag(self, name: str, literal: str) -> None:
        if not self._has_open_tag(name):
            self.add(PlainText(literal))
            return
        while self._open[-1].name != name:
            self._dissolve()
        self._finish(self._open.pop())

    def result(self) -> Inlines:
        self._dissolve_tags()
        return join_texts(self._open[-1].children)

    def _has_open_tag(self, name: str) -> bool:
        for part in reversed(self._open):
            if not part.literal:
                return False
            if part.name == name:
                return True
        return False

    def _dissolve_tags(self) -> None:
        while self._open[-1].literal:
            self._dissolve()

    def _dissolve(self) -> None:
        tag = self._open.pop()
        for inline in (PlainText(tag.literal), *tag.children):
            self.add(inline)

    def _finish(self, part: _OpenInline) -> None:
        for inline in part.make(join_texts(part.children)):
            self.add(inline)
