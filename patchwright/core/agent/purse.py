"""Money for model calls: reserved before each call, settled after it."""

import threading
from typing import Final, Protocol

from patchwright.core.errors import PatchwrightError
from patchwright.core.text.money import dollars


class OverBudgetError(PatchwrightError):
    """The next call could pass a ceiling; the message names it and what is spent."""

    reason = "budget"


# Sums of floats are not exact. A billionth of a dollar more is not more.
DECIMALS: Final = 9

UNKNOWN_PRICE = (
    'The model\'s price is not known, and `limits.unknown_price` is "refuse". Set '
    "`llm.input_cost_per_token` and `llm.output_cost_per_token`."
)


class Purse(Protocol):
    """Holds one run to its ceilings. Calls are made one at a time, in any thread."""

    def reserve(self, worst_usd: float | None, more_usd: float = 0.0) -> float:
        """Set aside what the next call costs at most; None means no price is known.

        `more_usd` is what people have added to the run's ceiling. Returns what the call
        may cost with its repeated tries. Raises `OverBudgetError` when one try could
        already pass a ceiling.
        """
        ...

    def settle(self, spent_usd: float | None) -> None:
        """Replace the reservation by what the call did cost."""
        ...


class RunPurse:
    """The ceiling of one run, kept in memory.

    Where no price is known, the dearest call so far stands in for the next one.
    """

    def __init__(
        self, max_cost_usd: float, *, spent_usd: float = 0.0, refuse_unknown: bool
    ) -> None:
        self._max = max_cost_usd
        self._spent = spent_usd
        self._reserved = 0.0
        self._dearest = 0.0
        self._refuse_unknown = refuse_unknown
        self._lock = threading.Lock()

    def reserve(self, worst_usd: float | None, more_usd: float = 0.0) -> float:
        if worst_usd is None and self._refuse_unknown and not self._dearest:
            raise OverBudgetError(UNKNOWN_PRICE)
        worst = self._dearest if worst_usd is None else worst_usd
        ceiling = self._max + more_usd
        with self._lock:
            left = ceiling - self._spent - self._reserved
            if round(left - worst, DECIMALS) < 0:
                raise OverBudgetError(
                    f"{dollars(self._spent)} of {dollars(ceiling)} is spent, and the "
                    f"next model call could cost up to {dollars(worst)}."
                )
            self._reserved += worst
            return max(left, worst)

    def settle(self, spent_usd: float | None) -> None:
        with self._lock:
            self._reserved = 0.0
            self._spent += spent_usd or 0.0
            self._dearest = max(self._dearest, spent_usd or 0.0)


class SlicePurse:
    """A delegate's part of a purse: its own ceiling, within that of the others."""

    def __init__(self, purse: Purse, max_cost_usd: float, spent_usd: float) -> None:
        self._purse = purse
        self._own = RunPurse(max_cost_usd, spent_usd=spent_usd, refuse_unknown=False)

    def reserve(self, worst_usd: float | None, more_usd: float = 0.0) -> float:
        left_usd = self._own.reserve(worst_usd)
        try:
            return min(left_usd, self._purse.reserve(worst_usd, more_usd))
        except OverBudgetError:
            self._own.settle(None)
            raise

    def settle(self, spent_usd: float | None) -> None:
        self._own.settle(spent_usd)
        self._purse.settle(spent_usd)
