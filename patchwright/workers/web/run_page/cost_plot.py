"""The cost of a run by step, as bars and as the table behind them."""

from collections.abc import Iterable, Sequence
from math import ceil
from typing import Final

from patchwright.core.events import types as ev
from patchwright.core.events.state import read_call
from patchwright.core.types.base import Value

_MOST_BARS: Final = 60
# Units of the drawing, which grows with the page.
WIDTH: Final = 720
HEIGHT: Final = 120
_GAP: Final = 2
_WIDEST: Final = 40.0


class Bar(Value):
    """What some steps cost; x, y and sizes are where its bar is drawn."""

    title: str
    cost: str
    total: str
    x: float
    y: float
    width: float
    height: float


class CostPlot(Value):
    """Bars from the first step to the last; empty where no price is known."""

    title: str = ""
    description: str = ""
    highest: str = ""
    bars: tuple[Bar, ...] = ()

    @property
    def width(self) -> int:
        return WIDTH

    @property
    def height(self) -> int:
        return HEIGHT


def cost_by_step(events: Iterable[ev.Event]) -> tuple[float, ...]:
    """Return what each step cost in USD, with the other calls before the next one.

    What was asked of a model before the first step counts with that.
    """
    costs: list[float] = []
    before = 0.0
    for event in events:
        call = read_call(event)
        if call is None:
            continue
        price = call.usage.cost_usd or 0.0
        if isinstance(event.payload, ev.ModelReply):
            costs.append(price + before)
            before = 0.0
        elif costs:
            costs[-1] += price
        else:
            before += price
    return tuple(costs)


def cost_plot(costs: Sequence[float]) -> CostPlot:
    """Draw it; where there are many steps, each bar is the same number of them."""
    if not any(costs):
        return CostPlot()
    together = ceil(len(costs) / _MOST_BARS)
    groups = [
        (start + 1, costs[start : start + together])
        for start in range(0, len(costs), together)
    ]
    sums = [sum(group) for _, group in groups]
    highest = max(sums)
    slot = min(WIDTH / len(groups), _WIDEST)
    total, bars = 0.0, []
    for index, ((first, group), cost) in enumerate(zip(groups, sums, strict=True)):
        total += cost
        height = round(HEIGHT * cost / highest, 1)
        bars.append(
            Bar(
                title=_name(first, len(group)),
                cost=f"${cost:.4f}",
                total=f"${total:.2f}",
                x=round(index * slot, 1),
                y=round(HEIGHT - height, 1),
                width=round(slot - _GAP, 1),
                height=height,
            )
        )
    dearest = bars[sums.index(highest)]
    return CostPlot(
        title=f"Cost by step: {bars[-1].total} in {_counted(len(costs))}",
        description=f"{dearest.title} cost most, {dearest.cost}.",
        highest=dearest.cost,
        bars=tuple(bars),
    )


def _name(first: int, steps: int) -> str:
    return f"Step {first}" if steps == 1 else f"Steps {first} to {first + steps - 1}"


def _counted(steps: int) -> str:
    return "1 step" if steps == 1 else f"{steps:,} steps"
