"""Long texts keep head and tail."""

from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.text.strings import truncate_middle


def test_s44_a_very_long_comment_keeps_head_and_tail() -> None:
    text = "start " + "x" * 64_000 + " end"
    cut = truncate_middle(text, 1000)
    assert cut.startswith("start x")
    assert cut.endswith("x end")
    assert "characters cut ...]" in cut
    assert len(cut) <= 1000


def test_s44_the_note_tells_how_much_is_missing() -> None:
    cut = truncate_middle("x" * 200, 100)
    missing = int(cut.split("[... ")[1].split(" ")[0])
    assert cut.count("x") == 200 - missing


def test_s44_one_visible_character_is_not_split() -> None:
    family = "👨\u200d👩\u200d👧"
    for size in range(40, 80):
        cut = truncate_middle(family * 30, size)
        head, *rest = cut.split("\n\n[")
        assert head == family * (len(head) // len(family))
        assert all(part.endswith((family, "\n\n")) for part in rest)


def test_s44_surrogate_halves_stay_together() -> None:
    for size in range(40, 60):
        head = truncate_middle("\ud83d\ude00" * 50, size).split("\n")[0]
        assert len(head) % 2 == 0


@given(st.text(max_size=300), st.integers(min_value=0, max_value=200))
def test_the_result_fits(text: str, size: int) -> None:
    cut = truncate_middle(text, size)
    assert len(cut) <= max(size, 0)
    assert len(text) > size or cut == text
