"""How long it takes to read the longest text that a stranger can send."""

from collections.abc import Iterator
from functools import partial

from bench.figures import Metric, ms, took_s
from tests.unit.text.hostile import READERS, TEXTS, WORST, Read

HALF, FULL = 32_768, 65_536


def measure() -> Iterator[Metric]:
    """Yield the slowest text of each reader, at the full size and at half of it."""
    for name, read in READERS.items():
        slow_s = {text: _read_s(read, text, HALF) for text in WORST}
        worst = max(slow_s, key=slow_s.__getitem__)
        yield Metric(
            f"{name}: {worst!r}, {FULL:,} characters",
            ms([_read_s(read, worst, FULL)]),
            f"{HALF:,}: {ms([slow_s[worst]])}",
        )


def _read_s(read: Read, text: str, size: int) -> float:
    return took_s(partial(read, TEXTS[text](size)))
