"""Money: ceilings that hold however many spend at once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date
from typing import Any

import pytest

from patchwright.core.types.base import AccountId, JobId, RandomIds
from patchwright.core.types.threads import RepoRef
from patchwright.resolver.job import JobState
from patchwright.workers.store.reservations import (
    BudgetRefusal,
    BudgetScope,
    Ceilings,
    Reservation,
    ReservationStore,
    Spender,
)
from tests.adapters.store.world import REPO, World

TODAY = date(2030, 1, 1)
OTHER_REPO = RepoRef(forge="github", full_name="acme/other")


@pytest.fixture
def money(world: World) -> ReservationStore:
    return ReservationStore(world.database, RandomIds())


@pytest.fixture
def alice(world: World) -> Spender:
    return Spender(
        job_id=world.ask(), account_id=AccountId("alice"), repo=REPO, day=TODAY
    )


def test_a_ceiling_can_be_reached_and_not_passed(
    money: ReservationStore, alice: Spender
) -> None:
    ceilings = Ceilings(run_usd=0.3)
    for _ in range(3):
        assert isinstance(money.reserve(alice, 0.1, ceilings), Reservation)
    assert money.reserve(alice, 0.000001, ceilings) == BudgetRefusal(
        scope=BudgetScope.RUN, ceiling_usd=0.3, taken_usd=0.3
    )
    assert money.spent_usd(alice.job_id) == 0.3


def test_settling_gives_back_what_was_not_spent(
    money: ReservationStore, alice: Spender
) -> None:
    ceilings = Ceilings(run_usd=1.0)
    reservation = _reserve(money, alice, 1.0, ceilings)
    assert isinstance(money.reserve(alice, 0.5, ceilings), BudgetRefusal)
    money.settle(reservation, 0.4)
    assert money.spent_usd(alice.job_id) == 0.4
    _reserve(money, alice, 0.6, ceilings)


def test_what_was_spent_beyond_the_reservation_counts(
    money: ReservationStore, alice: Spender
) -> None:
    ceilings = Ceilings(run_usd=1.0)
    money.settle(_reserve(money, alice, 0.1, ceilings), 1.5)
    assert isinstance(money.reserve(alice, 0.1, ceilings), BudgetRefusal)


@pytest.mark.parametrize(
    ("change", "refused_by"),
    [
        ({"repo": OTHER_REPO}, BudgetScope.USER_DAY),
        ({"account_id": AccountId("bob")}, BudgetScope.REPO_DAY),
        ({"account_id": AccountId("bob"), "repo": OTHER_REPO}, BudgetScope.DAY),
        ({"day": date(2030, 1, 2)}, None),
    ],
)
def test_each_ceiling_counts_its_own(
    world: World,
    money: ReservationStore,
    alice: Spender,
    change: dict[str, Any],
    refused_by: BudgetScope | None,
) -> None:
    ceilings = Ceilings(user_day_usd=1.0, repo_day_usd=1.0, day_usd=1.0)
    _reserve(money, alice, 1.0, ceilings)
    world.outcomes.finish(world.claim(alice.job_id), JobState.DONE, world.clock.now())
    another = alice.replace(job_id=world.ask("k2")).replace(**change)
    answer = money.reserve(another, 0.5, ceilings)
    assert getattr(answer, "scope", None) == refused_by


def test_a_ceiling_holds_when_many_spend_at_once(
    money: ReservationStore, alice: Spender
) -> None:
    ceilings = Ceilings(day_usd=1.0)
    with ThreadPoolExecutor(8) as pool:
        answers = pool.map(lambda _: money.reserve(alice, 0.1, ceilings), range(40))
        granted = [answer for answer in answers if isinstance(answer, Reservation)]
    assert len(granted) == 10
    assert money.spent_usd(alice.job_id) == 1.0


def test_a_run_without_spending_has_spent_nothing(money: ReservationStore) -> None:
    assert money.spent_usd(JobId("unheard of")) == 0


def _reserve(
    money: ReservationStore, spender: Spender, amount_usd: float, ceilings: Ceilings
) -> Reservation:
    answer = money.reserve(spender, amount_usd, ceilings)
    assert isinstance(answer, Reservation)
    return answer


def test_h7_what_is_assumed_counts_for_the_day_and_not_for_the_run(
    money: ReservationStore, alice: Spender
) -> None:
    ceilings = Ceilings(run_usd=1.0, user_day_usd=1.0, repo_day_usd=1.0, day_usd=1.0)
    reservation = _reserve(money, alice, 0.9, ceilings)
    money.settle(reservation, 0.0, assumed_usd=0.7)
    assert money.spent_usd(alice.job_id) == 0.0
    answer = money.reserve(alice, 0.4, ceilings)
    assert isinstance(answer, BudgetRefusal)
    assert (answer.scope, answer.taken_usd) == (BudgetScope.USER_DAY, 0.7)
    _reserve(money, alice, 0.3, ceilings)


@pytest.mark.parametrize("amount", [-0.01, float("inf"), float("nan")])
def test_h6_what_is_no_amount_is_neither_reserved_nor_settled(
    money: ReservationStore, alice: Spender, amount: float
) -> None:
    with pytest.raises(ValueError, match="not an amount of money"):
        money.reserve(alice, amount, Ceilings())
    reservation = _reserve(money, alice, 0.1, Ceilings())
    with pytest.raises(ValueError, match="not an amount of money"):
        money.settle(reservation, amount)
    assert money.spent_usd(alice.job_id) == 0.1
