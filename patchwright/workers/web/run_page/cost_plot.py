"""The cost of a run by step, as bars and as the table behind them."""

from collections.abc import Sequence
from math import ceil
from typing import Final

from patchwright.core.text.strings import dollars
from patchwright.core.types.base import Value

_MOST_BARS: Final = 60
# Units of the drawing, which grows with the page.
_WIDTH: Final = 720
_HEIGHT: Final = 120
_GAP: Final = 2
_WIDEST: Final = 24.0


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
    width: float = _WIDTH
    height: float = _HEIGHT
    bars: tuple[Bar, ...] = ()


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
    slot = min(_WIDTH / len(groups), _WIDEST)
    total, bars = 0.0, []
    for index, ((first, group), cost) in enumerate(zip(groups, sums, strict=True)):
        total += cost
        height = round(_HEIGHT * cost / highest, 1)
        bars.append(
            Bar(
                title=_name(first, len(group)),
                cost=dollars(cost),
                total=dollars(total),
                x=round(index * slot, 1),
                y=round(_HEIGHT - height, 1),
                width=round(slot - _GAP, 1),
                height=height,
            )
        )
    steps = "1 step" if len(costs) == 1 else f"{len(costs):,} steps"
    dearest = bars[sums.index(highest)]
    return CostPlot(
        title=f"Cost by step: {bars[-1].total} in {steps}",
        description=f"{dearest.title} cost most, {dearest.cost}.",
        width=round(slot * len(groups), 1),
        bars=tuple(bars),
    )


def _name(first: int, steps: int) -> str:
    return f"Step {first}" if steps == 1 else f"Steps {first} to {first + steps - 1}"
