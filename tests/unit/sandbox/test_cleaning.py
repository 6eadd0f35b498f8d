"""Terminal output becomes plain text, however it is cut into pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchwright.sandbox.action_server.output import (
    MAX_LINE,
    OutputCleaner,
    apply_redraws,
)


def clean(*pieces: bytes) -> str:
    cleaner = OutputCleaner()
    return "".join(cleaner.feed(piece) for piece in pieces) + cleaner.flush()


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        (b"plain\n", "plain\n"),
        (b"\x1b[1;31mred\x1b[0m", "red"),
        (b"\x1b[38:2::1:2:3mcolour\x1b[m", "colour"),
        (b"\x1b]0;title\x07text", "text"),
        (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        (b"\x1bP1$r0m\x1b\\after", "after"),
        (b"\x1b(Bascii\x1b7\x1b8\x1b=\x1b>", "ascii"),
        (b"\x1b[2J\x1b[Hhome", "home"),
        (b"a\rb\rc", "c"),
        (b"10%\r20%\r\n", "20%\n"),
        (b"dos\r\nunix\n", "dos\nunix\n"),
        (b"dos\r\r\nx", "dos\nx"),
        (b"ab\bc", "ac"),
        (b"b\bbo\bol\bld\bd", "bold"),
        (b"\b\bx", "x"),
        (b"bell\x07 nul\x00 tab\t.", "bell nul tab\t."),
        (b"\xc3\xa4\xff", "ä\ufffd"),
        ("\x9b31mx\x85".encode(), "31mx"),
    ],
)
def test_what_a_terminal_would_show_is_kept(printed: bytes, shown: str) -> None:
    assert clean(printed) == shown


@given(
    st.lists(
        st.sampled_from(
            [
                *(b"word", b"\n", b"\r", b"\r\n", b"\x08", "ä€😀".encode()),
                *(b"\x1b[31m", b"\x1b]0;t\x07", b"\x1b]8;;x\x1b\\", b"\x1b(B"),
            ]
        )
    ),
    st.integers(1, 7),
)
def test_where_the_output_is_cut_does_not_matter(parts: list[bytes], size: int) -> None:
    data = b"".join(parts)
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    assert clean(*pieces) == clean(data)


@given(st.binary(max_size=3000))
def test_any_bytes_become_printable_text(data: bytes) -> None:
    shown = clean(data)
    assert all(
        character.isprintable() or character in "\t\n" or ord(character) > 0x9F
        for character in shown
    )


def test_a_progress_bar_without_a_newline_does_not_pile_up() -> None:
    cleaner = OutputCleaner()
    for number in range(10_000):
        assert cleaner.feed(b"\rstep %d" % number) == ""
    assert cleaner.flush() == "step 9999"


def test_a_line_without_an_end_is_passed_on() -> None:
    cleaner = OutputCleaner()
    passed = sum(len(cleaner.feed(b"x" * 1000)) for _ in range(100))
    assert passed > 100_000 - MAX_LINE - 1000


def test_a_sequence_that_never_ends_holds_nothing_back() -> None:
    cleaner = OutputCleaner()
    shown = cleaner.feed(b"\x1b]" + b"x" * 5000 + b"\nnext\n")
    assert shown.endswith("x\nnext\n")


def test_folding_keeps_the_last_drawing() -> None:
    assert apply_redraws("one\rtwo\r") == "two"
    assert apply_redraws("\r") == ""
