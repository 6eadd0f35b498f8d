"""HTML becomes text that a model can read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchwright.sandbox.inside.page import read_html

URL = "https://example.com/docs/page.html"


def text_of(html: str) -> str:
    return read_html(html, URL).text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<h2>Two</h2>words", "## Two\n\nwords"),
        ("<p>a</p><p>b</p>", "a\n\nb"),
        ("a<br>b", "a\nb"),
        ("a\n  b\t c", "a b c"),
        ("<pre>a\n  b</pre>", "a\n  b"),
        ("<ul><li>a<li>b</ul>", "- a\n- b"),
        ("<table><tr><td>a</td><td>b</td></tr></table>", "a | b |"),
        ("a &amp; b &lt;c&gt;", "a & b <c>"),
        ('<img src="x" alt="a cat">', "[a cat]"),
        ('<a href="other.html">o</a>', "o (https://example.com/docs/other.html)"),
        ('<a href="//x.org/y">o</a>', "o (https://x.org/y)"),
        ('<a href="#part">o</a>', "o"),
        ('<a href="javascript:x()">o</a>', "o"),
        ('<a href="http://[bad">o</a>', "o"),
        ('<a href="x"></a>z', "z"),
        ("<a>o</a>", "o"),
        ("<script>if (a < b) x()</script>z", "z"),
        ("<style>p {}</style><svg><title>no</title></svg>z", "z"),
        ("<!-- comment -->z", "z"),
    ],
)
def test_what_a_reader_would_see_is_kept(html: str, text: str) -> None:
    assert text_of(html) == text


@pytest.mark.parametrize(
    "hidden",
    [
        "<div hidden>no</div>",
        '<div aria-hidden="true"><div>no</div>no</div>',
        '<span style="Display: none">no</span>',
        '<p style="color:red;visibility : hidden">no</p>',
        "<template><p>no</p></template>",
    ],
)
def test_hidden_text_is_left_out(hidden: str) -> None:
    assert text_of(f"before {hidden} after") == "before after"


def test_the_title_stands_apart() -> None:
    page = read_html("<title>\n The  title</title><body>words<title>x</title>", URL)
    assert page.title == "The title"


@given(st.text())
def test_any_text_can_be_read(html: str) -> None:
    read_html(html, URL)
    read_html(f"<p {html}><a {html}>{html}</a><!{html}", URL)
