"""What was spent, added up, and the warnings that a ceiling is nearly used up."""

from datetime import date, timedelta

import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from patchwright.core.llm.errors import OverBudgetError
from patchwright.core.settings.limits import LimitSettings
from patchwright.core.types.base import AccountId, JobId, RandomIds
from patchwright.core.types.threads import RepoRef
from patchwright.core.types.work import Usage
from patchwright.workers.ops.service_metrics import ServiceMetrics
from patchwright.workers.runs.spend import (
    SpendOverview,
    SpendReader,
    SpendRow,
    SpendScope,
    SpendTotal,
    fullest,
    make_spend_report,
)
from patchwright.workers.store.accounts import AccountStore
from patchwright.workers.store.reservations import (
    BudgetScope,
    Ceilings,
    CeilingUse,
    Reservation,
    ReservationStore,
    Spender,
)
from patchwright.workers.store.shared_budget import SharedBudget
from patchwright.workers.store.spend_alerts import SpendAlertStore
from tests.adapters.store.world import ALICE, REPO, World

TODAY = date(2030, 1, 1)
OTHER = RepoRef(forge="github", full_name="acme/other")
LIMITS = LimitSettings(
    max_cost_usd=3, per_user_day_usd=10, per_repo_day_usd=20, per_day_usd=40
)


class Till:
    """Has people spend money, each in a run of their own."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.money = ReservationStore(world.database, RandomIds())
        self.job_id = world.ask()

    def spend(
        self,
        usd: float | None,
        *,
        by: str = "alice",
        repo: RepoRef = REPO,
        day: date = TODAY,
        assumed_usd: float = 0.0,
        job_id: JobId | None = None,
    ) -> None:
        """Spend so much; None is set aside and not settled."""
        spender = Spender(
            job_id=job_id or self.job_id, account_id=AccountId(by), repo=repo, day=day
        )
        reserved = self.money.reserve(spender, 1.0 if usd is None else usd, Ceilings())
        assert isinstance(reserved, Reservation)
        if usd is not None:
            self.money.settle(reserved, usd, assumed_usd=assumed_usd)


@pytest.fixture
def till(world: World) -> Till:
    return Till(world)


def report_of(
    till: Till, days: int = 7, view: SpendScope | None = None, today: date = TODAY
) -> SpendOverview:
    since = today - timedelta(days=days - 1)
    rows = SpendReader(till.world.database).rows(since, today)
    chosen = view or SpendScope()
    names = {"alice": "Alice", "bob": "Bob"}
    return make_spend_report(rows, names, LIMITS, since=since, today=today, view=chosen)


def test_the_spend_is_added_up_by_day_repository_and_person(till: Till) -> None:
    till.spend(1.5)
    till.spend(0.5, by="bob", job_id=till.world.ask("k2"))
    till.spend(2.0, repo=OTHER, day=TODAY - timedelta(days=6))
    till.spend(9.0, day=TODAY - timedelta(days=7))
    till.spend(0.0, by="carol", assumed_usd=0.25)
    till.spend(None)
    report = report_of(till)
    assert report.total.replace(runs=0) == SpendTotal(
        name="", spent_usd=4.0, assumed_usd=0.25, reserved_usd=1.0
    )
    assert [(one.name, one.spent_usd) for one in report.days] == [
        ("2029-12-26", 2.0),
        *((f"2029-12-{day}", 0.0) for day in (27, 28, 29, 30, 31)),
        ("2030-01-01", 2.0),
    ]
    assert [(one.name, one.spent_usd) for one in report.repositories] == [
        ("acme/shop", 2.0),
        ("acme/other", 2.0),
    ]
    assert [(one.name, one.spent_usd) for one in report.people] == [
        ("Alice", 3.5),
        ("Bob", 0.5),
        ("carol", 0.0),
    ]


def test_the_ceilings_of_today_count_what_is_set_aside_and_assumed(till: Till) -> None:
    till.spend(4.0)
    till.spend(None)
    till.spend(0.0, by="bob", repo=OTHER, assumed_usd=2.0)
    till.spend(30.0, day=TODAY - timedelta(days=1))
    used = [(one.scope, one.name, one.percent) for one in report_of(till).ceilings]
    assert used == [
        (BudgetScope.DAY, "", 17),
        (BudgetScope.REPO_DAY, "acme/shop", 25),
        (BudgetScope.REPO_DAY, "acme/other", 10),
        (BudgetScope.USER_DAY, "Alice", 50),
        (BudgetScope.USER_DAY, "Bob", 20),
    ]


def test_the_fullest_ceilings_of_each_kind_are_shown(till: Till) -> None:
    for number in range(4):
        till.spend(1.0 + number, by=f"p{number}")
    shown, left = fullest(report_of(till).ceilings, 2)
    assert [one.name for one in shown] == ["", "acme/shop", "p3", "p2"]
    assert left == 2


def test_a_member_is_told_of_what_they_may_read_and_of_their_own_ceiling(
    till: Till,
) -> None:
    till.spend(4.0)
    till.spend(2.0, repo=OTHER)
    till.spend(1.0, by="bob")
    view = SpendScope(repositories=frozenset({str(REPO)}), own=AccountId("alice"))
    report = report_of(till, view=view)
    assert report.total.spent_usd == 5.0
    assert [one.name for one in report.repositories] == ["acme/shop"]
    assert [(one.scope, one.name, one.taken_usd) for one in report.ceilings] == [
        (BudgetScope.REPO_DAY, "acme/shop", 5.0),
        (BudgetScope.USER_DAY, "Alice", 6.0),
    ]


def test_people_of_one_name_keep_their_own_ceilings(till: Till) -> None:
    till.spend(4.0, by="id1")
    till.spend(2.0, by="id2")
    rows = SpendReader(till.world.database).rows(TODAY, TODAY)
    names = {"id1": "Sam", "id2": "Sam"}
    report = make_spend_report(rows, names, LIMITS, since=TODAY, today=TODAY)
    assert [(one.name, one.spent_usd) for one in report.people] == [
        ("Sam", 4.0),
        ("Sam", 2.0),
    ]
    theirs = [one for one in report.ceilings if one.scope is BudgetScope.USER_DAY]
    assert [one.percent for one in theirs] == [40, 20]


def test_days_that_are_over_are_remembered_and_newer_ones_are_read_again(
    till: Till,
) -> None:
    reader, since = SpendReader(till.world.database), TODAY - timedelta(days=6)
    long_ago = TODAY - timedelta(days=5)
    till.spend(1.0, day=long_ago)
    assert spent(reader.rows(since, TODAY)) == 1.0
    till.spend(8.0, day=long_ago)
    till.spend(2.0, day=TODAY - timedelta(days=1))
    till.spend(4.0)
    assert spent(reader.rows(since, TODAY)) == 7.0
    assert spent(SpendReader(till.world.database).rows(since, TODAY)) == 15.0
    assert spent(reader.rows(since - timedelta(days=9), TODAY)) == 7.0
    tomorrow = TODAY + timedelta(days=1)
    till.spend(16.0, day=tomorrow)
    assert spent(reader.rows(since, tomorrow)) == 23.0


def spent(rows: tuple[SpendRow, ...]) -> float:
    return sum(one.spent_usd for one in rows)


def test_people_are_called_by_the_names_of_their_accounts(till: Till) -> None:
    accounts = AccountStore(till.world.database, RandomIds(), till.world.clock)
    account_id = accounts.account_of(ALICE, "github.com")
    found = SpendReader(till.world.database).names_of([account_id, "nobody"])
    assert found == {account_id: "alice"}


def test_a_ceiling_is_warned_of_once_for_each_step_and_day(till: Till) -> None:
    alerts = SpendAlertStore(till.world.database, till.world.clock)
    spender = Spender(
        job_id=till.job_id, account_id=AccountId("alice"), repo=REPO, day=TODAY
    )

    def note(taken_usd: float, *, is_used_up: bool = False) -> int | None:
        use = CeilingUse(
            scope=BudgetScope.USER_DAY, ceiling_usd=10.0, taken_usd=taken_usd
        )
        return alerts.note(spender, use, is_used_up=is_used_up)

    with capture_logs() as logs:
        found = [note(usd) for usd in (4.99, 5.0, 6.0, 8.5, 9.0)]
        found.append(note(9.9, is_used_up=True))
        # Another process, which has not warned of anything yet.
        alerts = SpendAlertStore(till.world.database, till.world.clock)
        found.append(note(10.0))
    assert found == [None, 50, None, 80, None, 100, None]
    assert [(one["event"], one["percent"]) for one in logs] == [
        ("spend_alert", 50),
        ("spend_alert", 80),
        ("spend_alert", 100),
    ]
    assert logs[0]["log_level"] == "warning"
    kept = alerts.list_since(TODAY)
    assert [(one.percent, one.subject, one.taken_usd) for one in kept] == [
        (100, "alice", 9.9),
        (80, "alice", 8.5),
        (50, "alice", 5.0),
    ]
    assert alerts.list_since(TODAY + timedelta(days=1)) == ()
    spender = spender.replace(day=TODAY + timedelta(days=1))
    assert note(9.0) == 80


def test_a_run_warns_as_it_spends_and_when_it_is_refused(till: Till) -> None:
    world = till.world
    alerts = SpendAlertStore(world.database, world.clock)
    run_budget = SharedBudget(
        till.money,
        alerts,
        LIMITS.replace(max_cost_usd=100.0),
        world.clock,
        job_id=till.job_id,
        account_id=AccountId("alice"),
        repo=REPO,
    )
    run_budget.reserve(Usage(cost_usd=7.0))(Usage(cost_usd=5.0))
    with pytest.raises(OverBudgetError):
        run_budget.reserve(Usage(cost_usd=6.0))
    assert [(one.scope, one.percent) for one in alerts.list_since(TODAY)] == [
        (BudgetScope.USER_DAY, 100),
        (BudgetScope.USER_DAY, 80),
        (BudgetScope.USER_DAY, 50),
    ]
    registry = CollectorRegistry()
    registry.register(ServiceMetrics(world.database, world.clock))
    labels = {"scope": "user-day", "percent": "80"}
    assert registry.get_sample_value("patchwright_spend_alerts_today", labels) == 1


class CountingStore(ReservationStore):
    """Counts how often the ceilings of a day are looked up."""

    lookups = 0

    def day_uses(self, spender: Spender, ceilings: Ceilings) -> tuple[CeilingUse, ...]:
        self.lookups += 1
        return super().day_uses(spender, ceilings)


def test_ceilings_are_looked_up_where_one_may_be_reached_and_no_warning_is_lost(
    till: Till,
) -> None:
    world = till.world
    money = CountingStore(world.database, RandomIds())
    alerts = SpendAlertStore(world.database, world.clock)
    first, second = (
        SharedBudget(
            money,
            alerts,
            LIMITS.replace(max_cost_usd=100.0),
            world.clock,
            job_id=job_id,
            account_id=AccountId("alice"),
            repo=REPO,
        )
        for job_id in (till.job_id, world.ask("k2"))
    )
    first.reserve(Usage(cost_usd=2.0))(Usage(cost_usd=1.0))
    assert money.lookups == 0
    # Each stays below half of the ten dollars, as far as the first one knows.
    settle_first = first.reserve(Usage(cost_usd=2.0))
    settle_second = second.reserve(Usage(cost_usd=3.0))
    settle_first(Usage(cost_usd=2.0))
    assert (money.lookups, alerts.list_since(TODAY)) == (0, ())
    settle_second(Usage(cost_usd=3.0))
    assert money.lookups == 1
    assert [one.percent for one in alerts.list_since(TODAY)] == [50]
    # It was warned of that, so the next call asks nothing.
    second.reserve(Usage(cost_usd=1.0))(Usage(cost_usd=0.5))
    assert money.lookups == 1
    # A call may cost more than was set aside for it.
    second.reserve(Usage(cost_usd=1.0))(Usage(cost_usd=1.5))
    assert [one.percent for one in alerts.list_since(TODAY)] == [80, 50]


def test_the_ceiling_of_a_run_is_nothing_to_warn_of(till: Till) -> None:
    world = till.world
    alerts = SpendAlertStore(world.database, world.clock)
    run_budget = SharedBudget(
        till.money,
        alerts,
        LIMITS,
        world.clock,
        job_id=till.job_id,
        account_id=AccountId("alice"),
        repo=REPO,
    )
    with pytest.raises(OverBudgetError):
        run_budget.reserve(Usage(cost_usd=4.0))
    assert alerts.list_since(TODAY) == ()
