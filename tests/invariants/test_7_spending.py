"""Invariant 7: spend never exceeds the cap, whoever spends when, whatever is lost."""

from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade
from tests.adapters.store.world import World
from tests.invariants.spending import CENT, Spending, SpendingRun

# Most of it happens to one run, or no ceiling would come near.
RUNS = st.sampled_from([0, 0, 0, 1, 2, 3])
Then = Literal["is answered", "loses its worker", "waits"]
THEN: st.SearchStrategy[Then] = st.sampled_from(
    ("is answered", "is answered", "loses its worker", "waits")
)
PRICES = st.sampled_from([1, 20, 33, 50, 70]).map(lambda cents: cents * CENT)
SHARES = st.sampled_from([1.0, 0.5, 0.0])
A_WEEK_S = 7 * 24 * 3600.0


class SpendingMachine(RuleBasedStateMachine):
    """Any schedule of calls, answers, crashes, delegates and raised ceilings."""

    def __init__(self, begin: Callable[[], tuple[World, Spending]]) -> None:
        super().__init__()
        self.world, self.spending = begin()

    @rule(number=RUNS, worst_usd=PRICES, share=SHARES, then=THEN)
    def call(self, number: int, worst_usd: float, share: float, then: Then) -> None:
        run = self.spending.runs[number]
        self.spending.answer(run)
        if self.spending.call(run, worst_usd, share):
            self._go_on(run, then)

    def _go_on(self, run: SpendingRun, then: Then) -> None:
        match then:
            case "is answered":
                self.spending.answer(run)
            case "loses its worker":
                self.spending.lose_worker(run)
            case "waits":
                pass

    @rule(worst_usd=PRICES, share=SHARES)
    def all_call_at_once(self, worst_usd: float, share: float) -> None:
        self.spending.call_at_once(worst_usd, share)

    @rule(number=RUNS, max_usd=PRICES)
    def delegate(self, number: int, max_usd: float) -> None:
        run = self.spending.runs[number]
        self.spending.answer(run)
        run.delegate(max_usd)

    @rule(number=RUNS)
    def end_delegate(self, number: int) -> None:
        run = self.spending.runs[number]
        self.spending.answer(run)
        if run.slices:
            run.slices.pop()

    @rule(number=RUNS, more_usd=PRICES)
    def raise_ceiling(self, number: int, more_usd: float) -> None:
        self.spending.runs[number].more_usd += more_usd

    @rule()
    def day_goes_by(self) -> None:
        self.world.clock.advance(24 * 3600)

    @invariant()
    def no_ceiling_is_passed(self) -> None:
        assert list(self.spending.excesses()) == []


def play(url: str, max_examples: int) -> None:
    numbers = count(4, 4)
    with closing(Database(url)) as database:
        upgrade(database)
        world = World(database)

        def begin() -> tuple[World, Spending]:
            # On days of its own: the ceiling of everybody is that of a day.
            world.clock.advance(A_WEEK_S * 52)
            return world, Spending(world, next(numbers))

        class OnThisDatabase(SpendingMachine):
            def __init__(self) -> None:
                super().__init__(begin)

        run_state_machine_as_test(
            OnThisDatabase,
            settings=settings(
                max_examples=max_examples, stateful_step_count=40, deadline=None
            ),
        )


def test_p4_no_schedule_passes_a_ceiling_on_sqlite(tmp_path: Path) -> None:
    play(f"sqlite:///{tmp_path}/patchwright.db", max_examples=80)


def test_p4_no_schedule_passes_a_ceiling_on_postgresql(postgres_url: str) -> None:
    play(postgres_url, max_examples=20)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_p4_runs_that_spend_in_parallel_share_one_ceiling(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = f"sqlite:///{tmp_path}/patchwright.db"
    if kind == "postgresql":
        url = request.getfixturevalue("postgres_url")
    with closing(Database(url)) as database:
        upgrade(database)
        world = World(database)
        spending = Spending(world, 4)
        for day in range(1, 11):
            world.clock.advance(24 * 3600)
            for run in spending.runs:
                run.more_usd += 1.0
            spending.call_at_once(0.7, 1.0)
            # Three calls fit the day; a fourth would pass its ceiling, and no other.
            assert len(spending.bills) == 3 * day
            for run in spending.runs:
                spending.answer(run)
        assert list(spending.excesses()) == []
