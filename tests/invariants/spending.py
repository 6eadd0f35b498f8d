"""Runs that spend money at the same time, and what they have really spent."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from patchwright.core.agent.budget import Budget, DelegateBudget
from patchwright.core.llm.errors import OverBudgetError, Settle, settle_nothing
from patchwright.core.settings.limits import LimitSettings
from patchwright.core.types.base import AccountId, JobId, RandomIds
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind
from patchwright.core.types.work import Usage
from patchwright.workers.store.reservations import ReservationStore
from patchwright.workers.store.shared_budget import SharedBudget
from patchwright.workers.store.spend_alerts import SpendAlertStore
from tests.adapters.store.world import World, trigger

CENT: Final = 0.01
# A sum of floats is not exact; a microdollar is.
TOLERANCE_USD: Final = 1e-6
LIMITS: Final = LimitSettings(
    max_cost_usd=1.0,
    per_user_day_usd=1.5,
    per_repo_day_usd=1.8,
    per_day_usd=2.5,
    unknown_cost_per_token=0.0001,
)


@dataclass(frozen=True)
class Bill:
    """What the provider asks for a call, whether its answer arrived or not."""

    run: "SpendingRun"
    day: date
    usd: float


@dataclass(eq=False)
class Slice:
    """A delegate's part, and the calls that were made from it."""

    run_budget: DelegateBudget
    max_usd: float
    spent_usd: float = 0.0


@dataclass(eq=False)
class SpendingRun:
    """A run with its worker; `bill` is that of the call under way."""

    job_id: JobId
    account_id: AccountId
    repo: RepoRef
    run_budget: SharedBudget
    more_usd: float = 0.0
    slices: list[Slice] = field(default_factory=list)
    bill: Bill | None = None
    settle: Settle = settle_nothing

    @property
    def innermost(self) -> Budget:
        return self.slices[-1].run_budget if self.slices else self.run_budget

    def delegate(self, max_usd: float) -> None:
        run_budget = DelegateBudget(self.innermost, max_usd, spent_usd=0.0)
        self.slices.append(Slice(run_budget, max_usd))


class Spending:
    """Four runs of two people in two repositories, on one set of ceilings."""

    def __init__(self, world: World, first_number: int) -> None:
        self._world = world
        self.money = ReservationStore(world.database, RandomIds())
        self.alerts = SpendAlertStore(world.database, world.clock)
        self.bills: list[Bill] = []
        self.runs = [
            self._open_run(first_number + place, f"u{first_number}.{place % 2}", repo)
            for place, repo in enumerate(("acme/a", "acme/a", "acme/b", "acme/b"))
        ]

    def _open_run(self, number: int, account: str, name: str) -> SpendingRun:
        repo = RepoRef(forge="github", full_name=f"{name}{number // 4}")
        thread = ForgeThread(repo=repo, kind=ThreadKind.ISSUE, number=number)
        asked = trigger(f"k{number}").replace(thread=thread)
        job_id = self._world.deliver(asked).job_id
        assert job_id is not None
        account_id = AccountId(account)
        run_budget = self._open_purse(job_id, account_id, repo)
        return SpendingRun(job_id, account_id, repo, run_budget)

    def _open_purse(
        self, job_id: JobId, account_id: AccountId, repo: RepoRef
    ) -> SharedBudget:
        return SharedBudget(
            self.money,
            self.alerts,
            LIMITS,
            self._world.clock,
            job_id=job_id,
            account_id=account_id,
            repo=repo,
        )

    def call(self, run: SpendingRun, worst_usd: float, share: float) -> bool:
        """Make a call if it is paid for; it costs a share of what it may at most."""
        try:
            settle = run.innermost.reserve(Usage(cost_usd=worst_usd), run.more_usd)
        except OverBudgetError:
            return False
        day = self._world.clock.now().date()
        run.bill = Bill(run, day, share * worst_usd)
        run.settle = settle
        self.bills.append(run.bill)
        for part in run.slices:
            part.spent_usd += run.bill.usd
        return True

    def call_at_once(self, worst_usd: float, share: float) -> None:
        """Have every run that does not wait for an answer make a call, in threads."""
        idle = [run for run in self.runs if run.bill is None]
        with ThreadPoolExecutor(len(self.runs)) as pool:
            list(pool.map(lambda run: self.call(run, worst_usd, share), idle))

    def answer(self, run: SpendingRun) -> None:
        if run.bill is not None:
            run.settle(Usage(cost_usd=run.bill.usd))
            run.bill = None

    def lose_worker(self, run: SpendingRun) -> None:
        """Put another worker in its place, which knows nothing of a call under way."""
        run.run_budget = self._open_purse(run.job_id, run.account_id, run.repo)
        run.slices.clear()
        run.bill = None

    def excesses(self) -> Iterator[str]:
        """Name each ceiling that was passed."""
        for run in self.runs:
            own = [bill for bill in self.bills if bill.run is run]
            if _passes(LIMITS.max_cost_usd + run.more_usd, own):
                yield f"run {run.job_id}"
            for part in run.slices:
                if part.spent_usd > part.max_usd + TOLERANCE_USD:
                    yield f"a delegate of run {run.job_id}"
        for day in {bill.day for bill in self.bills}:
            yield from self._excesses_on(day)

    def _excesses_on(self, day: date) -> Iterator[str]:
        today = [bill for bill in self.bills if bill.day == day]
        for run in self.runs:
            of_account = [b for b in today if b.run.account_id == run.account_id]
            if _passes(LIMITS.per_user_day_usd, of_account):
                yield f"account {run.account_id} on {day}"
            of_repo = [b for b in today if b.run.repo == run.repo]
            if _passes(LIMITS.per_repo_day_usd, of_repo):
                yield f"repository {run.repo} on {day}"
        if _passes(LIMITS.per_day_usd, today):
            yield f"everybody on {day}"


def _passes(max_usd: float | None, bills: list[Bill]) -> bool:
    assert max_usd is not None
    return sum(bill.usd for bill in bills) > max_usd + TOLERANCE_USD
