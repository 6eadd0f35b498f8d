"""Files survive being read as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchwright.sandbox.action_server.file_actions import decode


@given(st.binary())
def test_reading_and_writing_again_changes_nothing(data: bytes) -> None:
    content = decode(data)
    assert content is None or content.encode(content.text) == data


@given(st.text(), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
def test_texts_are_read_as_they_were_written(text: str, encoding: str) -> None:
    content = decode(text.encode(encoding))
    if content is not None and not text.startswith("\ufeff"):
        assert content.text == text


@pytest.mark.parametrize(
    ("text", "newline"),
    [("a\nb\n", "\n"), ("a\r\nb\r\n", "\r\n"), ("a\r\nb\nc\n", "\n"), ("a", "\n")],
)
def test_the_newline_is_that_of_most_lines(text: str, newline: str) -> None:
    content = decode(text.encode())
    assert content is not None
    assert content.newline() == newline


def test_nul_bytes_make_a_binary() -> None:
    assert decode(b"ELF\0") is None
