"""What a page that a renderer has made of Markdown shows, and in which elements."""

from html.parser import HTMLParser
from typing import Final

from cmarkgfm.cmark import (  # type: ignore[import-untyped] # it has no types
    Options,
    markdown_to_html_with_extensions,
)

_EXTENSIONS: Final = ["table", "autolink", "strikethrough", "tasklist"]
_OPTIONS: Final = Options.CMARK_OPT_FOOTNOTES | Options.CMARK_OPT_UNSAFE
_VOID: Final = frozenset({"br", "hr", "img", "input"})


class Page(HTMLParser):
    """Reads a page; each stretch of text with the names of the elements around it."""

    def __init__(self, markdown: str) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[str] = []
        self.elements: set[str] = set()
        self.addresses: list[str] = []
        self.texts: list[tuple[tuple[str, ...], str]] = []
        rendered = markdown_to_html_with_extensions(
            markdown, options=_OPTIONS, extensions=_EXTENSIONS
        )
        self.feed(rendered)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.addresses += [
            value or "" for name, value in attrs if name in ("href", "src")
        ]
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_comment(self, data: str) -> None:
        self.elements.add(f"<!--{data}-->")

    def handle_decl(self, decl: str) -> None:
        self.elements.add(f"<!{decl}>")

    def handle_data(self, data: str) -> None:
        self.texts.append((tuple(self._open), data))

    def outside(self, *names: str) -> str:
        """Return the text that stands in none of these elements."""
        found = (data for around, data in self.texts if not {*names} & {*around})
        return "".join(found)

    def outside_code(self) -> list[str]:
        return [data for around, data in self.texts if "code" not in around]
