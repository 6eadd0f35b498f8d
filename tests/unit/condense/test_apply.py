"""What a condensation leaves of a chat."""

from patchwright.core.condense.condenser import apply_condensation, size_after
from patchwright.core.events.observations import Condensed
from patchwright.core.llm.model import UserText
from tests.unit.condense.chats import ran, said, size_of, texts, told

LONG = "x" * 12_345
TURNS = (
    said(1, "Fix it."),
    ran(3, "ls", "a.py"),
    said(5, "And the docs."),
    ran(7, "cat a.py", LONG),
    ran(9, "cat b.py", LONG),
)


def test_the_summary_stands_where_the_last_turn_was_that_went() -> None:
    shown = apply_condensation(
        TURNS, Condensed(first_id=3, last_id=7, summary="Read a.py.")
    )
    assert [turn.id for turn in shown] == [1, 5, 7, 9]
    assert shown[2].messages == (UserText(text="Read a.py."),)
    assert not shown[2].is_pinned


def test_pinned_turns_are_never_left_out() -> None:
    shown = apply_condensation(TURNS, Condensed(first_id=1, last_id=9, summary="Done."))
    assert texts(shown) == ["Fix it.", "And the docs.", "Done."]


def test_of_a_masked_result_a_short_line_is_left() -> None:
    shown = apply_condensation(TURNS, Condensed(masked_to=7))
    assert texts(shown)[5] == "[result left out: 12,345 bytes; run it again if needed]"
    assert texts(shown)[7] == LONG
    assert shown[3].messages[0] == TURNS[3].messages[0]


def test_short_results_and_masked_ones_stay() -> None:
    once = apply_condensation(TURNS, Condensed(masked_to=9))
    assert once[1] == TURNS[1]
    assert apply_condensation(once, Condensed(masked_to=9)) == once


def test_a_range_without_turns_brings_no_summary() -> None:
    assert (
        apply_condensation(TURNS, Condensed(first_id=5, last_id=6, summary="Nothing."))
        == TURNS
    )
    assert apply_condensation(TURNS, Condensed(summary="Nothing.")) == TURNS


def test_sizes_stay_those_of_the_messages() -> None:
    turns = (*TURNS, told(11, "ä" * 300))
    condensed = Condensed(first_id=7, last_id=7, summary="Läse.", masked_to=9)
    shown = apply_condensation(turns, condensed)
    assert [turn.size_bytes for turn in shown] == [size_of(t.messages) for t in shown]
    assert size_after(turns, condensed) == sum(turn.size_bytes for turn in shown)


def test_an_earlier_summary_is_condensed_like_any_turn() -> None:
    once = apply_condensation(TURNS, Condensed(first_id=3, last_id=7, summary="First."))
    twice = apply_condensation(
        once, Condensed(first_id=7, last_id=9, summary="Second.")
    )
    assert texts(twice) == ["Fix it.", "And the docs.", "Second."]
