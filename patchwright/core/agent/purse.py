"""Money for model calls: reserved before each call, settled after it."""

from typing import Protocol

from patchwright.core.errors import PatchwrightError


class OverBudgetError(PatchwrightError):
    """The next call could pass a ceiling; the message names it and what is spent."""

    reason = "budget"


UNKNOWN_PRICE = (
    'The model\'s price is not known, and `limits.unknown_price` is "refuse". Set '
    "`llm.input_cost_per_token` and `llm.output_cost_per_token`."
)


class Purse(Protocol):
    """Holds one run to its ceilings."""

    def reserve(self, worst_usd: float | None) -> float:
        """Set aside what the next call costs at most; None means no price is known.

        Returns what the call may cost with its repeated tries. Raises
        `OverBudgetError` when one try could already pass a ceiling.
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
        self._dearest = 0.0
        self._refuse_unknown = refuse_unknown

    def reserve(self, worst_usd: float | None) -> float:
        if worst_usd is None and self._refuse_unknown and not self._dearest:
            raise OverBudgetError(UNKNOWN_PRICE)
        worst = self._dearest if worst_usd is None else worst_usd
        if self._spent + worst > self._max:
            raise OverBudgetError(
                f"${self._spent:.2f} of ${self._max:.2f} is spent, and the next "
                f"model call could cost up to ${worst:.2f}."
            )
        return self._max - self._spent

    def settle(self, spent_usd: float | None) -> None:
        if spent_usd is None:
            return
        self._spent += spent_usd
        self._dearest = max(self._dearest, spent_usd)
