"""Money for model calls: reserved before each try, settled after it."""

import math
import threading
from typing import Final, Protocol

from patchwright.core.llm.errors import (
    UNKNOWN_COST_PER_TOKEN,
    OverBudgetError,
    Settle,
    assumed_usd,
)
from patchwright.core.text.strings import dollars
from patchwright.core.types.work import Usage

# Sums of floats are not exact. A billionth of a dollar more is not more.
DECIMALS: Final = 9

PRICE_UNKNOWN = "price-unknown"
UNKNOWN_PRICE = (
    'The model\'s price is not known, and `limits.unknown_price` is "refuse". Set '
    "`llm.input_cost_per_token` and `llm.output_cost_per_token`."
)


class Budget(Protocol):
    """Holds one run to its ceilings. Tries are made one at a time, in any thread."""

    def reserve(self, most: Usage, more_usd: float = 0.0) -> Settle:
        """Set aside the most that the next try takes; without a cost it is unknown.

        `more_usd` is what people have added to the run's ceiling. Returns what replaces
        the reservation by what the try did take. Raises `OverBudgetError` when it could
        pass a ceiling.
        """
        ...


def settled_cost(spent: Usage, most_usd: float) -> float | None:
    """Return the cost of a try, or None if it is unknown.

    An invalid amount is not used: the highest cost counts instead.
    """
    if spent.cost_usd is None:
        return None
    may_be = math.isfinite(spent.cost_usd) and spent.cost_usd >= 0
    return spent.cost_usd if may_be else most_usd


class RunBudget:
    """The ceiling of one run, kept in memory.

    Where no price is known, a try is taken to cost as much as its tokens do at
    `unknown_cost_per_token`, or as the dearest one so far. What it did cost counts if
    the provider says it; the run's tokens are bounded besides.
    """

    def __init__(
        self,
        max_cost_usd: float,
        *,
        spent_usd: float = 0.0,
        refuse_unknown: bool,
        unknown_cost_per_token: float = UNKNOWN_COST_PER_TOKEN,
    ) -> None:
        self._max = max_cost_usd
        self._spent = spent_usd
        self._reserved = 0.0
        self._dearest = 0.0
        self._refuse_unknown = refuse_unknown
        self._unknown_cost_per_token = unknown_cost_per_token
        self._lock = threading.Lock()

    def reserve(self, most: Usage, more_usd: float = 0.0) -> Settle:
        if most.cost_usd is None and self._refuse_unknown:
            raise OverBudgetError(UNKNOWN_PRICE, reason=PRICE_UNKNOWN)
        worst_usd = self._worst_usd(most)
        ceiling = self._max + more_usd
        with self._lock:
            left = ceiling - self._spent - self._reserved
            if round(left - worst_usd, DECIMALS) < 0:
                raise OverBudgetError(
                    f"{dollars(self._spent)} of {dollars(ceiling)} is spent, and the "
                    f"next model call could cost up to {dollars(worst_usd)}."
                )
            self._reserved += worst_usd
        return lambda spent: self._settle(worst_usd, spent)

    def _worst_usd(self, most: Usage) -> float:
        if most.cost_usd is not None:
            return most.cost_usd
        return max(self._dearest, assumed_usd(most, self._unknown_cost_per_token))

    def _settle(self, worst_usd: float, spent: Usage) -> None:
        spent_usd = settled_cost(spent, worst_usd) or 0.0
        with self._lock:
            self._reserved -= worst_usd
            self._spent += spent_usd
            self._dearest = max(self._dearest, spent_usd)


class DelegateBudget:
    """A delegate's part of a budget: its own limit, within the limit of the run."""

    def __init__(
        self, run_budget: Budget, max_cost_usd: float, spent_usd: float
    ) -> None:
        self._run_budget = run_budget
        self._own = RunBudget(max_cost_usd, spent_usd=spent_usd, refuse_unknown=False)

    def reserve(self, most: Usage, more_usd: float = 0.0) -> Settle:
        settle_own = self._own.reserve(most)
        try:
            settle = self._run_budget.reserve(most, more_usd)
        except OverBudgetError:
            settle_own(Usage(cost_usd=0.0))
            raise

        def settle_both(spent: Usage) -> None:
            settle_own(spent)
            settle(spent)

        return settle_both
