"""The figures of the whole service, read from what is stored."""

from datetime import date, datetime, timedelta

import pytest
from prometheus_client import CollectorRegistry

from patchwright.core.types.base import AccountId, JobId, RandomIds
from patchwright.core.types.evidence import Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.triggers import Ignored
from patchwright.core.types.work import Outcome, Usage
from patchwright.resolver.job import JobState, Lease
from patchwright.resolver.publish.effects import FinalMessage
from patchwright.workers.ops.service_metrics import FRESH_S, ServiceMetrics
from patchwright.workers.store.reservations import (
    Ceilings,
    Reservation,
    ReservationStore,
    Spender,
)
from tests.adapters.store.world import LEASE_S, REPO, World

FIXED = Outcome(
    kind=OutcomeKind.RESOLVED,
    proof=Proof.PROVEN,
    seconds=42.0,
    usage=Usage(cost_usd=0.25, tokens_in=1000, tokens_out=200, tokens_cached=600),
)
RUN = {
    "service": "github",
    "trigger": "comment-mention",
    "outcome": "resolved",
    "proof": "proven",
}


class Shown:
    """Reads the figures as they are now."""

    def __init__(self, world: World) -> None:
        self._clock = world.clock
        self._registry = CollectorRegistry()
        self._registry.register(ServiceMetrics(world.database, world.clock))

    def __call__(self, name: str, **labels: str) -> float | None:
        self._clock.advance(FRESH_S)
        return self._registry.get_sample_value(f"patchwright_{name}", labels)


@pytest.fixture
def shown(world: World) -> Shown:
    return Shown(world)


def test_a_run_that_has_ended_is_counted_with_what_it_took(
    world: World, shown: Shown
) -> None:
    job_id = world.ask()
    world.clock.advance(20)
    end_run(world, job_id)
    assert shown("runs_total", **RUN) == 1
    assert shown("run_duration_seconds_sum", outcome="resolved") == 42
    assert shown("run_duration_seconds_bucket", outcome="resolved", le="30.0") == 0
    assert shown("run_duration_seconds_bucket", outcome="resolved", le="60.0") == 1
    assert shown("run_wait_seconds_sum") == 20
    assert shown("run_wait_seconds_bucket", le="+Inf") == 1
    assert shown("tokens_total", direction="out") == 200
    assert shown("tokens_today", direction="cached") == 600


def test_days_that_are_over_still_count_and_are_not_today(
    world: World, shown: Shown
) -> None:
    end_run(world, world.ask("k1"))
    assert shown("runs_total", **RUN) == 1
    for day in (2, 3):
        world.clock.advance(24 * 3600)
        end_run(world, world.ask(f"k{day}"))
        assert shown("runs_total", **RUN) == day
        assert shown("tokens_today", direction="in") == 1000
    assert shown("tokens_total", direction="in") == 3000
    restarted = Shown(world)
    assert restarted("runs_total", **RUN) == 3


def test_what_is_stored_just_before_midnight_is_counted_when_it_comes_late(
    world: World, shown: Shown
) -> None:
    world.clock.advance(12 * 3600 - 60)
    job_id = world.ask()
    lease = world.claim(job_id)
    before_midnight = world.clock.now()
    world.clock.advance(120)
    assert shown("runs_total", **RUN) is None
    _end(world, lease, before_midnight)
    assert shown("runs_total", **RUN) == 1
    assert shown("tokens_today", direction="in") == 0
    world.clock.advance(3600)
    assert shown("runs_total", **RUN) == 1


def test_jobs_are_counted_by_state_and_the_oldest_that_waits_has_its_age(
    world: World, shown: Shown
) -> None:
    assert shown("jobs", state="queued") == 0
    assert shown("oldest_waiting_job_seconds") == 0
    lease = world.claim(world.ask())
    assert shown("jobs", state="running") == 1
    assert shown("oldest_waiting_job_seconds") == 0
    world.clock.advance(LEASE_S)
    assert shown("jobs_lost") == 1
    waited = world.clock.now() - lease.until + timedelta(seconds=FRESH_S)
    assert shown("oldest_waiting_job_seconds") == waited.total_seconds()


def test_effects_are_pending_until_they_are_done_or_given_up(
    world: World, shown: Shown
) -> None:
    lease = world.claim(world.ask())
    lease = world.outcomes.store(
        lease, FIXED, [FinalMessage()], read_up_to=0, now=world.clock.now()
    )
    world.clock.advance(30)
    assert shown("effects_pending") == 1
    age_s = 30 + 2 * FRESH_S
    assert shown("oldest_pending_effect_seconds") == age_s
    [effect] = world.effects.of_job(lease.job_id)
    world.effects.abandon(lease, effect.key, "never")
    assert shown("effects_pending") == 0
    assert shown("effects_abandoned_total") == 1


def test_money_is_spent_or_set_aside(world: World, shown: Shown) -> None:
    spender = Spender(
        job_id=world.ask(),
        account_id=AccountId("a1"),
        repo=REPO,
        day=world.clock.now().date(),
    )
    earlier = spender.replace(day=date(2029, 12, 31))
    money = ReservationStore(world.database, RandomIds())
    for who, spent_usd in ((earlier, 1.5), (spender, 0.5)):
        money.settle(_reserve(money, who), spent_usd)
    _reserve(money, spender)
    assert shown("spent_usd_total") == 2.0
    assert shown("spent_today_usd") == 0.5
    assert shown("reserved_today_usd") == 3.0


def test_deliveries_are_counted_by_what_became_of_them(
    world: World, shown: Shown
) -> None:
    world.ask()
    world.deliver(Ignored(reason="not-for-us"))
    world.deliver(Ignored(reason="not-for-us"))
    assert shown("deliveries_total", service="github", verdict="accepted") == 1
    assert shown("deliveries_total", service="github", verdict="ignored") == 2


def test_a_database_that_is_away_is_told_and_hides_nothing_else(
    world: World, shown: Shown
) -> None:
    assert shown("database_up") == 1
    with world.database.writing() as connection:
        connection.exec_driver_sql("DROP TABLE processes")
    assert shown("database_up") == 0
    assert shown("jobs", state="queued") is None


def end_run(world: World, job_id: JobId) -> None:
    _end(world, world.claim(job_id), world.clock.now())


def _end(world: World, lease: Lease, now: datetime) -> None:
    lease = world.outcomes.store(lease, FIXED, [], read_up_to=0, now=now)
    world.outcomes.finish(lease, JobState.DONE, now)


def _reserve(money: ReservationStore, spender: Spender) -> Reservation:
    reserved = money.reserve(spender, 3.0, Ceilings())
    assert isinstance(reserved, Reservation)
    return reserved
