"""What was measured, as a table."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from rich.console import Console
from rich.table import Table

from patchwright.core.system.clock import SystemClock

CLOCK = SystemClock()


@dataclass(frozen=True)
class Metric:
    """One line: what was measured, ours, and what it is compared with in this run."""

    what: str
    ours: str
    beside: str = ""


def took_s(act: Callable[[], object]) -> float:
    started = CLOCK.monotonic()
    act()
    return CLOCK.monotonic() - started


def ms(seconds: Iterable[float]) -> str:
    """Write the median."""
    return f"{median(seconds) * 1000:.1f} ms"


def p99_ms(seconds: Sequence[float]) -> str:
    return f"{quantiles(seconds, n=100)[98] * 1000:.1f} ms"


def p50_p95(seconds: Sequence[float]) -> str:
    p95_s = quantiles(seconds, n=20)[18]
    return f"p50 {ms(seconds)}, p95 {p95_s * 1000:.1f} ms"


def rate(count: int, seconds: float) -> str:
    return f"{count / seconds:,.0f}/s"


def show(console: Console, title: str, figures: Iterable[Metric]) -> None:
    table = Table("", "ours", "beside it", title=title, title_justify="left", box=None)
    for metric in figures:
        table.add_row(metric.what, metric.ours, metric.beside)
    console.print(table, "")
