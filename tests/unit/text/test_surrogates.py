"""Text is fit for UTF-8, whatever it was."""

from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.text.strings import well_formed, well_formed_tree

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@given(ANY_TEXT)
def test_any_text_can_be_encoded_afterwards(text: str) -> None:
    well_formed(text).encode()


@given(st.text())
def test_good_text_stays_as_it_is(text: str) -> None:
    assert well_formed(text) == text


def test_a_pair_is_joined_and_a_lone_half_replaced() -> None:
    assert well_formed("\ud83d\ude00 and \ud83d!") == "\U0001f600 and \ufffd!"


def test_keys_and_values_of_a_tree_are_covered() -> None:
    tree = well_formed_tree({"a\ud800": ["b\udc00", 1, None, {"c": "d\udfff"}]})
    assert tree == {"a\ufffd": ["b\ufffd", 1, None, {"c": "d\ufffd"}]}
