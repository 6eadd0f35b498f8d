"""Head and tail of a text stay, and the rest is counted."""

from hypothesis import given
from hypothesis import strategies as st

from patchwright.sandbox.action_server.output import (
    HEAD_CHARACTERS,
    TAIL_CHARACTERS,
    Transcript,
)


@given(st.lists(st.text(max_size=4000), max_size=12))
def test_nothing_is_lost_uncounted(texts: list[str]) -> None:
    transcript = Transcript()
    for text in texts:
        transcript.add(text)
    whole = "".join(texts)
    shown = transcript.text()
    kept = HEAD_CHARACTERS + TAIL_CHARACTERS
    if len(whole) <= kept:
        assert (shown, transcript.dropped_bytes) == (whole, 0)
        return
    middle = whole[HEAD_CHARACTERS:-TAIL_CHARACTERS]
    assert transcript.dropped_bytes == len(middle.encode())
    assert shown.startswith(whole[:HEAD_CHARACTERS])
    assert shown.endswith(whole[-TAIL_CHARACTERS:])
    assert f"{transcript.dropped_bytes} bytes left out" in shown
