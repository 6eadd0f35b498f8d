"""The budget of a run, below the ceilings that runs share."""

from collections.abc import Iterable
from datetime import timedelta
from functools import partial

from patchwright.core.agent.budget import PRICE_UNKNOWN, UNKNOWN_PRICE, settled_cost
from patchwright.core.llm.errors import OverBudgetError, Settle, assumed_usd
from patchwright.core.settings.limits import LimitSettings
from patchwright.core.system.clock import Clock
from patchwright.core.text.strings import dollars
from patchwright.core.types.base import AccountId, JobId
from patchwright.core.types.threads import RepoRef
from patchwright.core.types.work import Usage
from patchwright.workers.store.reservations import (
    BudgetRefusal,
    BudgetScope,
    Ceilings,
    CeilingUse,
    Reservation,
    ReservationStore,
    Spender,
)
from patchwright.workers.store.spend_alerts import SpendAlertStore


class SharedBudget:
    """Reserves in the database, so that parallel runs cannot spend the same money."""

    def __init__(
        self,
        money: ReservationStore,
        alerts: SpendAlertStore,
        limits: LimitSettings,
        clock: Clock,
        *,
        job_id: JobId,
        account_id: AccountId,
        repo: RepoRef,
    ) -> None:
        self._money, self._alerts, self._clock = money, alerts, clock
        self._refuse_unknown = limits.unknown_price == "refuse"
        self._job_id, self._account_id, self._repo = job_id, account_id, repo
        self._limits = limits
        self._unknown_cost_per_token = limits.unknown_cost_per_token
        # If no price is known, assume that the next call costs at least as much as the
        # most expensive recent call of any run.
        today = clock.now().date()
        self._dearest = money.dearest_usd(since=today - timedelta(days=1))

    def reserve(self, most: Usage, more_usd: float = 0.0) -> Settle:
        if most.cost_usd is None and self._refuse_unknown:
            raise OverBudgetError(UNKNOWN_PRICE, reason=PRICE_UNKNOWN)
        worst_usd = self._worst_usd(most)
        answer = self._money.reserve(
            self._spender(), worst_usd, self._ceilings(more_usd)
        )
        if isinstance(answer, BudgetRefusal):
            if answer.scope is not BudgetScope.RUN:
                self._alerts.note(self._spender(), answer, is_used_up=True)
            why = _explain(answer, worst_usd)
            raise OverBudgetError(why, reason=_REASONS[answer.scope])
        return partial(self._settle, answer)

    def _worst_usd(self, most: Usage) -> float:
        if most.cost_usd is not None:
            return most.cost_usd
        return max(self._dearest, assumed_usd(most, self._unknown_cost_per_token))

    def _settle(self, reservation: Reservation, spent: Usage) -> None:
        spent_usd = settled_cost(spent, reservation.amount_usd)
        if spent_usd is None:
            counted = assumed_usd(spent, self._unknown_cost_per_token)
            self._money.settle(reservation, 0.0, assumed_usd=counted)
        else:
            counted = spent_usd
            self._money.settle(reservation, spent_usd)
            self._dearest = max(self._dearest, spent_usd)
        self._warn(reservation.uses_after(counted))

    def _warn(self, at_most: Iterable[CeilingUse]) -> None:
        """Look the ceilings up where one of them may have reached a new part."""
        spender = self._spender()
        if not any(self._alerts.may_be_new(spender, use) for use in at_most):
            return
        for use in self._money.day_uses(spender, self._ceilings(0.0)):
            self._alerts.note(spender, use)

    def _ceilings(self, more_usd: float) -> Ceilings:
        limits = self._limits
        return Ceilings(
            run_usd=limits.max_cost_usd + more_usd,
            user_day_usd=limits.per_user_day_usd,
            repo_day_usd=limits.per_repo_day_usd,
            day_usd=limits.per_day_usd,
        )

    def _spender(self) -> Spender:
        return Spender(
            job_id=self._job_id,
            account_id=self._account_id,
            repo=self._repo,
            day=self._clock.now().date(),
        )


def _explain(refusal: BudgetRefusal, worst_usd: float) -> str:
    taken, ceiling = dollars(refusal.taken_usd), dollars(refusal.ceiling_usd)
    return (
        f"{taken} of {ceiling} {_WHOSE[refusal.scope]} is spent or set aside, and the "
        f"next model call could cost up to {dollars(worst_usd)}."
    )


_WHOSE = {
    BudgetScope.RUN: "for this run",
    BudgetScope.USER_DAY: "for this person today",
    BudgetScope.REPO_DAY: "for this repository today",
    BudgetScope.DAY: "for everybody today",
}
_REASONS = {
    BudgetScope.RUN: "budget",
    BudgetScope.USER_DAY: "budget-of-person",
    BudgetScope.REPO_DAY: "budget-of-repository",
    BudgetScope.DAY: "budget-of-day",
}
