"""A tree of delegates on one budget: what they are billed for never passes it."""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from patchwright.core.agent.budget import Budget, RunBudget
from patchwright.core.settings.limits import LimitSettings
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.base import AccountId, RandomIds
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Limits, Outcome
from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.store.reservations import ReservationStore
from patchwright.workers.store.shared_budget import SharedBudget
from patchwright.workers.store.spend_alerts import SpendAlertStore
from tests.adapters.resolve.workbench import CONDUCT, Bench, bench, models_at
from tests.adapters.store.world import REPO, World
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import TurnLike, call, with_usage
from tests.flow.script import asked

CHILDREN = 3
LEVELS = 2
TOKENS_IN = 1000
TOKENS_OUT = 100
CALL_USD = 0.1
PRICES = {
    "input_cost_per_token": 0.0,
    "output_cost_per_token": CALL_USD / TOKENS_OUT,
    "max_output_tokens": TOKENS_OUT,
}
# One step sends three delegates off and one ends it; nine leaves write, then end.
CALLS_OF_ALL = (1 + CHILDREN) * 2 + CHILDREN**LEVELS * 2
ENOUGH_USD = CALLS_OF_ALL * CALL_USD


OpenPurse = Callable[[Path, float], AbstractContextManager[Budget]]


def answer(request: dict[str, Any]) -> TurnLike:
    """Send three delegates off from each level but the last, where files are made."""
    usage = {"prompt_tokens": TOKENS_IN, "completion_tokens": TOKENS_OUT}
    return with_usage(_step(request), **usage)


def _step(request: dict[str, Any]) -> TurnLike:
    if any(message["role"] == "assistant" for message in request["messages"]):
        return call("finish", summary="Done.", title="Write the parts")
    told = re.search(r"Write part ([0-9.]+)", asked(request))
    place = told[1] if told else "0"
    names = {tool["function"]["name"] for tool in request["tools"]}
    if "delegate" in names:
        return [
            call("delegate", task=f"Write part {place}.{number}")
            for number in range(CHILDREN)
        ]
    return call("write", path=f"part-{place}.txt", content=f"{place}\n")


@contextmanager
def in_memory(_folder: Path, budget_usd: float) -> Iterator[Budget]:
    yield RunBudget(budget_usd, refuse_unknown=False)


@contextmanager
def in_database(folder: Path, budget_usd: float) -> Iterator[Budget]:
    with closing(Database(f"sqlite:///{folder / 'money.db'}")) as database:
        upgrade(database)
        world = World(database)
        yield SharedBudget(
            ReservationStore(database, RandomIds()),
            SpendAlertStore(database, SystemClock()),
            LimitSettings(max_cost_usd=budget_usd),
            SystemClock(),
            job_id=world.ask(),
            account_id=AccountId("alice"),
            repo=REPO,
        )


@contextmanager
def tree(folder: Path, provider: FakeProvider, run_budget: Budget) -> Iterator[Bench]:
    llm = {"model": "openai/m", "base_url": provider.base_url, **PRICES}
    with bench(
        folder,
        models_at(folder, llm),
        run_budget=run_budget,
        limits=Limits(max_iterations=99, max_cost_usd=99.0),
        agent_configuration=replace(CONDUCT, max_delegate_depth=LEVELS),
    ) as scene:
        yield scene


def parts(scene: Bench, outcome: Outcome) -> list[str]:
    """Return which leaves have their work in the commit."""
    names = scene.repository.git("ls-tree", "--name-only", outcome.head_sha)
    return [name for name in names.splitlines() if name.startswith("part-")]


@pytest.mark.parametrize("open_budget", [in_memory, in_database])
@pytest.mark.parametrize("calls_paid", [7, 15.5])
def test_s66_a_tree_of_delegates_ends_at_the_cap_and_its_work_is_kept(
    open_budget: OpenPurse, calls_paid: float, tmp_path: Path
) -> None:
    budget_usd = calls_paid * CALL_USD
    with (
        FakeProvider(answer) as provider,
        open_budget(tmp_path, budget_usd) as run_budget,
        tree(tmp_path, provider, run_budget) as scene,
    ):
        outcome = scene.resolve()
        written = parts(scene, outcome)
        results = scene.events("delegate_result")
    assert (outcome.kind, outcome.reason) == (OutcomeKind.OVER_BUDGET, "budget")
    assert f"of ${budget_usd:.2f}" in outcome.summary
    assert len(provider.requests) == int(calls_paid)
    assert outcome.usage.cost_usd == pytest.approx(int(calls_paid) * CALL_USD)
    assert written
    assert len(written) < CHILDREN**LEVELS
    assert len(results) >= CHILDREN


@pytest.mark.parametrize("open_budget", [in_memory, in_database])
def test_a_tree_of_delegates_ends_well_with_enough_money(
    open_budget: OpenPurse, tmp_path: Path
) -> None:
    with (
        FakeProvider(answer) as provider,
        open_budget(tmp_path, ENOUGH_USD) as run_budget,
        tree(tmp_path, provider, run_budget) as scene,
    ):
        outcome = scene.resolve()
        written = parts(scene, outcome)
    assert outcome.kind is OutcomeKind.RESOLVED
    assert written == [f"part-0.{a}.{b}.txt" for a in range(3) for b in range(3)]
    assert len(provider.requests) == CALLS_OF_ALL
    usage = outcome.usage
    assert usage.cost_usd == pytest.approx(ENOUGH_USD)
    assert usage.tokens_in == TOKENS_IN * CALLS_OF_ALL
    assert usage.tokens_out == TOKENS_OUT * CALLS_OF_ALL
    assert outcome.iterations == CALLS_OF_ALL
