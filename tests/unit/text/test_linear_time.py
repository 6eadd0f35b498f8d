"""Whatever a stranger sends, the time to read it grows with its length at most."""

from collections.abc import Iterable
from time import thread_time

import pytest

from tests.unit.text.hostile import DISTINCT, READERS, TEXTS, WORST, Make, Read

SMALL, LARGE = 2_048, 8_192
FULL = 65_536
# What takes less time than this is not told from chance; the square of it is bearable.
NOTHING_S = 0.005
# Four times the text: 4 times the time, and 16 times if it grew with the square.
MOST_GROWTH = 8.0
MOST_S = 4.0


def _took_s(read: Read, text: str) -> float:
    started = thread_time()
    read(text)
    return thread_time() - started


def _grows(read: Read, make: Make, small: int, large: int) -> float:
    """Return by how much the time grew; the best of three tells the least by chance."""
    few, many = make(small), make(large)
    if _took_s(read, few) < NOTHING_S:
        return 0.0
    least = min(_took_s(read, few) for _ in range(3))
    return min(_took_s(read, many) for _ in range(2)) / least


def _growing(reader: str, names: Iterable[str]) -> dict[str, float]:
    """Return the texts whose time grows by more than their length."""
    read = READERS[reader]
    grown = {name: _grows(read, TEXTS[name], SMALL, LARGE) for name in names}
    return {name: by for name, by in grown.items() if by > MOST_GROWTH}


@pytest.mark.parametrize("reader", DISTINCT)
def test_h11_the_time_to_read_a_text_grows_with_its_length(reader: str) -> None:
    assert _growing(reader, WORST) == {}


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("reader", READERS)
def test_h11_no_text_takes_more_time_than_its_length_explains(reader: str) -> None:
    assert _growing(reader, TEXTS) == {}


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("reader", READERS)
def test_h11_the_longest_text_is_read_in_seconds(reader: str) -> None:
    read = READERS[reader]
    took_s = {name: _took_s(read, make(FULL)) for name, make in TEXTS.items()}
    assert {name: s for name, s in took_s.items() if s > MOST_S} == {}
