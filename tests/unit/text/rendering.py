"""What GitHub's own renderer of Markdown makes of a text, as a reference to hold to."""

import re
from collections import Counter
from html.parser import HTMLParser
from typing import Final

from cmarkgfm.cmark import (  # type: ignore[import-untyped] # it has no types
    Options,
    markdown_to_html_with_extensions,
)

_EXTENSIONS: Final = ["table", "autolink", "strikethrough", "tasklist"]
_USUAL: Final = Options.CMARK_OPT_FOOTNOTES | Options.CMARK_OPT_GITHUB_PRE_LANG
# A browser reads one that is never closed to the end of the page.
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_NO_PROSE: Final = ("blockquote", "code", "pre", "a")


class _Prose(HTMLParser):
    """Hears the text of a page that stands outside quotes, code and links."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: Counter[str] = Counter()
        self.heard: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self._open[tag] += 1

    def handle_endtag(self, tag: str) -> None:
        self._open[tag] = max(0, self._open[tag] - 1)

    def handle_data(self, data: str) -> None:
        if not any(self._open[tag] for tag in _NO_PROSE):
            self.heard.append(data)


def is_prose(text: str, word: str) -> bool:
    """Tell whether a word is shown as prose that was written as Markdown.

    The page without raw HTML has no HTML blocks, the whole one knows about elements.
    """
    whole = _render(text, _USUAL | Options.CMARK_OPT_UNSAFE)
    return all(word in _prose(page) for page in (_render(text, _USUAL), whole))


def _render(text: str, options: int) -> str:
    rendered: str = markdown_to_html_with_extensions(
        text, options=options, extensions=_EXTENSIONS
    )
    return rendered


def _prose(page: str) -> str:
    parser = _Prose()
    parser.feed(_COMMENT.sub("", page))
    parser.close()
    return "\n".join(parser.heard)
