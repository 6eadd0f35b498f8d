"""Whatever a stranger sends, the time to read it grows with its length at most."""

import gc
from collections.abc import Iterable
from time import thread_time

import pytest
from markdown_it import MarkdownIt

from patchwright.core.text.redaction import Redactor
from tests.unit.text.hostile import DISTINCT, READERS, TEXTS, WORST, Make, Read

SMALL, LARGE = 2_048, 8_192
FULL = 65_536
# What takes less time than this is not told from chance; the square of it is bearable.
NOTHING_S = 0.005
# Four times the text: 4 times the time, up to 8 on a busy machine, and 16 times if it
# grew with the square.
MOST_GROWTH = 11.0
MOST_S = 4.0


def _took_s(read: Read, text: str) -> float:
    """Return the time without that of collections, which the whole process causes."""
    gc.disable()
    try:
        started = thread_time()
        read(text)
        return thread_time() - started
    finally:
        gc.enable()


def _grows(read: Read, make: Make, small: int, large: int) -> float:
    """Return by how much the time grew; the best of three tells the least by chance."""
    few, many = make(small), make(large)
    first = _took_s(read, few)
    if first < NOTHING_S:
        return 0.0
    least = min(first, *(_took_s(read, few) for _ in range(2)))
    grew = _took_s(read, many) / least
    if grew <= MOST_GROWTH:
        return grew
    # Chance makes it longer, never shorter.
    return min(grew, _took_s(read, many) / least)


def _growing(reader: str, names: Iterable[str]) -> dict[str, float]:
    """Return the texts whose time grows by more than their length."""
    read = READERS[reader]

    def grown(name: str) -> float:
        return _grows(read, TEXTS[name], SMALL, LARGE)

    # What is so by its nature is so each time; chance on a busy machine is not.
    suspects = [name for name in names if grown(name) > MOST_GROWTH]
    return {name: by for name in suspects if (by := grown(name)) > MOST_GROWTH}


@pytest.mark.parametrize("reader", DISTINCT)
def test_h11_the_time_to_read_a_text_grows_with_its_length(reader: str) -> None:
    assert _growing(reader, WORST) == {}


def test_h10_secrets_in_one_another_take_time_by_their_length() -> None:
    redact = Redactor(["x[***]y"]).redact

    def nested(length: int) -> str:
        return "x" * (length // 2) + "[***]" + "y" * (length // 2)

    assert _grows(redact, nested, LARGE, 4 * LARGE) <= MOST_GROWTH


@pytest.mark.parametrize("reader", ["mention at the end", "document"])
@pytest.mark.parametrize("text", ["![", "[", "[a|b", "[a](b ["])
def test_h11_brackets_take_less_time_than_the_parser_alone_would(
    reader: str, text: str
) -> None:
    """It looks for the end of a label anew at each bracket, and we do not."""
    brackets = TEXTS[text](2 * SMALL)
    alone = min(_took_s(MarkdownIt("commonmark").parse, brackets) for _ in range(3))
    assert min(_took_s(READERS[reader], brackets) for _ in range(3)) < alone


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
