"""A run's purse with the shared ceilings: run, requester, repository and day."""

from datetime import timedelta

from patchwright.core.agent.purse import UNKNOWN_PRICE, OverBudgetError
from patchwright.core.clock import Clock
from patchwright.core.settings.work import LimitSettings
from patchwright.core.text.money import dollars
from patchwright.core.types.ids import AccountId, JobId
from patchwright.core.types.threads import RepoRef
from patchwright.workers.store.reservations import (
    Ceilings,
    Refusal,
    Reservation,
    ReservationStore,
    Scope,
    Spender,
)


class SharedPurse:
    """Reserves in the database, so that parallel runs cannot spend the same money."""

    def __init__(
        self,
        money: ReservationStore,
        limits: LimitSettings,
        clock: Clock,
        *,
        job_id: JobId,
        account_id: AccountId,
        repo: RepoRef,
    ) -> None:
        self._money, self._clock = money, clock
        self._refuse_unknown = limits.unknown_price == "refuse"
        self._job_id, self._account_id, self._repo = job_id, account_id, repo
        self._run_usd = limits.max_cost_usd
        self._ceilings = Ceilings(
            user_day_usd=limits.per_user_day_usd,
            repo_day_usd=limits.per_repo_day_usd,
            day_usd=limits.per_day_usd,
        )
        self._open: Reservation | None = None
        # Where no price is known, the next call is taken to cost as much as the
        # dearest one of these days, whichever run made it.
        today = clock.now().date()
        self._dearest = money.dearest_usd(since=today - timedelta(days=1))
        self._has_price = False

    def reserve(self, worst_usd: float | None, more_usd: float = 0.0) -> float:
        if worst_usd is None and self._refuse_unknown and not self._has_price:
            raise OverBudgetError(UNKNOWN_PRICE)
        worst = self._dearest if worst_usd is None else worst_usd
        run_usd = self._run_usd + more_usd
        ceilings = self._ceilings.model_copy(update={"run_usd": run_usd})
        answer = self._money.reserve(self._spender(), worst, ceilings)
        if isinstance(answer, Refusal):
            raise OverBudgetError(_explain(answer, worst))
        self._open = answer
        return worst

    def settle(self, spent_usd: float | None) -> None:
        if self._open is None:
            return
        self._money.settle(self._open, spent_usd or 0.0)
        self._dearest = max(self._dearest, spent_usd or 0.0)
        self._has_price = self._has_price or spent_usd is not None
        self._open = None

    def _spender(self) -> Spender:
        return Spender(
            job_id=self._job_id,
            account_id=self._account_id,
            repo=self._repo,
            day=self._clock.now().date(),
        )


def _explain(refusal: Refusal, worst_usd: float) -> str:
    taken, ceiling = dollars(refusal.taken_usd), dollars(refusal.ceiling_usd)
    return (
        f"{taken} of {ceiling} {_WHOSE[refusal.scope]} is spent or set aside, and the "
        f"next model call could cost up to {dollars(worst_usd)}."
    )


_WHOSE = {
    Scope.RUN: "for this run",
    Scope.USER_DAY: "for this person today",
    Scope.REPO_DAY: "for this repository today",
    Scope.DAY: "for everybody today",
}
