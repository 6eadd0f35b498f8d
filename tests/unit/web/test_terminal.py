"""Terminal output on a page: its colors are classes, and it stays text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchwright.workers.web.run_page.terminal import terminal_html


@pytest.mark.parametrize(
    ("output", "html"),
    [
        ("plain", "plain"),
        ("\x1b[31mF\x1b[0m ok", '<span class="t-f1">F</span> ok'),
        (
            "\x1b[91;1mF\x1b[22mG",
            '<span class="t-bold t-f9">F</span><span class="t-f9">G</span>',
        ),
        ("\x1b[2;3;4mx\x1b[m", '<span class="t-dim t-italic t-line">x</span>'),
        (
            "\x1b[41;97mE\x1b[49m!",
            '<span class="t-f15 t-b1">E</span><span class="t-f15">!</span>',
        ),
        (
            "\x1b[7mx\x1b[31my",
            '<span class="t-inverse">x</span><span class="t-b1">y</span>',
        ),
        # 256 colors and 16 million are shown as the most alike of 16.
        ("\x1b[38;5;9mx", '<span class="t-f9">x</span>'),
        ("\x1b[38;5;196mx", '<span class="t-f9">x</span>'),
        ("\x1b[48;5;244mx", '<span class="t-b8">x</span>'),
        ("\x1b[38;2;10;200;10mx", '<span class="t-f2">x</span>'),
        ("\x1b[38:2:255:255:0mx", '<span class="t-f11">x</span>'),
        ("\x1b[38;5mx", '<span class="t-f0">x</span>'),
        ("\x1b[999999999mx", "x"),
        # Everything else is left out.
        ("\x1b[2J\x1b[10;5Hx\x1b(By\x07\x08", "xy"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;javascript:alert(1)\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b31mx\x9d0;t\x9c", '<span class="t-f1">x</span>'),
        ("cut off \x1b[31", "cut off "),
        ("1%\r50%\r100%\ndone\r\n", "100%\ndone\n"),
        # No sequence makes text into anything else.
        (
            "\x1b[31m<b>\"'&\x1b[0m",
            '<span class="t-f1">&lt;b&gt;&#34;&#39;&amp;</span>',
        ),
        ("<scr\x1b[0mipt>", "&lt;script&gt;"),
        ('\x1b[31;"onx=1mx', "nx=1mx"),
    ],
)
def test_output(output: str, html: str) -> None:
    assert str(terminal_html(output)) == html


_TAG = re.compile(r'</?span(?: class="t-[a-z0-9 -]+")?>')
_PIECES = st.sampled_from(
    [
        "\x1b[",
        "\x1b]",
        "\x9b",
        "31",
        "38;5;",
        "48;2;",
        ";",
        "m",
        "<",
        '"',
        "&",
        "\r",
        "a",
    ]
)


@given(st.lists(_PIECES | st.characters(codec="utf-8"), max_size=60).map("".join))
def test_whatever_comes_only_our_own_tags_are_made(output: str) -> None:
    rest = _TAG.sub("", str(terminal_html(output)))
    assert not set("<>\"'\x1b\x9b\r") & set(rest)


def test_an_output_that_only_changes_color_does_not_make_a_huge_page() -> None:
    html = terminal_html("\x1b[31mx\x1b[32my" * 10_000)
    assert html.count("<span") <= 600
    assert len(html) < 50_000
