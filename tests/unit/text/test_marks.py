"""Marks of ours in a text, and who is called by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.text.document.reader import read_document
from patchwright.core.text.document.types import Mention, Paragraph
from patchwright.core.text.escape import (
    MENTION_LINK,
    Marked,
    mention_link,
    split_marks,
    without_mentions,
)

STATE = "<!-- patchwright:state=needs-input run=7f3a -->"
PING = "<!-- patchwright:ping=done run=7f3a -->"


def test_marks_are_taken_out_as_they_were_written() -> None:
    marked = split_marks(f"**Done**\n\nIt works.\n\n{PING}\n{STATE}")
    assert marked == Marked(text="**Done**\n\nIt works.", marks=(PING, STATE))
    assert (marked.state, marked.run_id) == ("needs-input", "7f3a")


@pytest.mark.parametrize(
    "text",
    [
        "  A text without any.\n",
        "<!-- a comment of somebody else's -->",
        "<!-- patchwright:state=done\nrun=1 -->",
        "",
    ],
)
def test_a_text_without_marks_stays_as_it_is(text: str) -> None:
    marked = split_marks(text)
    assert marked == Marked(text=text)
    assert (marked.state, marked.run_id) == ("", "")


def test_a_mark_of_something_else_shows_no_state() -> None:
    marked = split_marks(f"Called. {PING}")
    assert (marked.text, marked.state, marked.run_id) == ("Called.", "", "")


@pytest.mark.parametrize(
    ("name", "person_id", "link"),
    [
        ("jo", "U1", "[@jo](patchwright-call:U1)"),
        ("Jo M.", "5b10:a-b", "[@Jo M.](patchwright-call:5b10:a-b)"),
        ("*[jo](x)*", "U1", "[@jo(x)](patchwright-call:U1)"),
        ("<!`_>", "U1", "[@!](patchwright-call:U1)"),
        ("", "U1", "[@you](patchwright-call:U1)"),
        ("jo", "a b)c/ä", "[@jo](patchwright-call:a%20b%29c%2F%C3%A4)"),
    ],
)
def test_a_call_is_a_link_that_is_ours_alone(
    name: str, person_id: str, link: str
) -> None:
    assert mention_link(name, person_id) == link


IDS = st.text(
    st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), min_size=1
)
NAMES = st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=1)


@given(NAMES, IDS)
def test_whoever_is_called_is_read_back(name: str, person_id: str) -> None:
    [block] = read_document(mention_link(name, person_id))
    assert isinstance(block, Paragraph)
    [found] = block.children
    assert isinstance(found, Mention)
    assert found.person_id == person_id


@pytest.mark.parametrize(
    "scheme", [MENTION_LINK, MENTION_LINK.upper(), "Patchwright-Call:"]
)
def test_the_words_of_others_call_nobody(scheme: str) -> None:
    text = f"[all of you]({scheme}U1) and [@x]( {scheme}U2 )"
    quiet = without_mentions(text)
    assert MENTION_LINK not in quiet.casefold()
    assert not any(
        isinstance(inline, Mention)
        for block in read_document(quiet)
        if isinstance(block, Paragraph)
        for inline in block.children
    )


def test_other_links_stay() -> None:
    text = "[the call](https://bot.test/patchwright-call) of `patchwright`"
    assert without_mentions(text) == text
