"""Whatever providers answer and say of it, what they bill stays within the ceilings."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import count, cycle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from patchwright.core.llm.client import LitellmModel
from patchwright.core.llm.errors import LimitError, ModelError
from patchwright.core.llm.model import Model, ModelRequest, ToolSpec, UserText
from patchwright.core.llm.prices import ModelConfig
from patchwright.core.llm.routing import RoutedModel
from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade
from tests.adapters.llm.asking import Waits
from tests.adapters.store.world import World
from tests.fakes.clock import FakeClock
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import Turn, drop, raw, say, status
from tests.invariants.spending import LIMITS, TOLERANCE_USD, Spending, SpendingRun

A_YEAR_S = 365 * 24 * 3600.0
ROUNDS = 2
# What a token costs: in, and out.
PRICES = {
    "first": (0.0001, 0.0003),
    "spare": (0.0002, 0.0001),
    "unpriced": (1e-4, 1e-4),
}
# A count that cannot be one, in place of what was counted.
NO_COUNTS: st.SearchStrategy[Any] = st.sampled_from(
    [None, 0, -1, -(10**9), "x", [], 10**30, 1e300]
)
FORMS = st.sampled_from(
    ["text", "text", "parts", "empty", "thought", "page", "broken", "drops", "refused"]
)
REPORTS = st.sampled_from(
    ["counts", "missing", "nested", "cached above", "no count", "costs", "absurd cost"]
)


@dataclass(frozen=True)
class Answer:
    """How a provider answers: `share` of what it may take is what it bills."""

    form: str
    report: str
    share: float
    no_count: Any = None


ANSWERS = st.builds(Answer, FORMS, REPORTS, st.floats(0.0, 1.0), NO_COUNTS)


@dataclass
class Biller:
    """A provider that bills honestly, and reports as badly as it is told to.

    The bills are kept by the run whose prompt they are for, and whether their price is
    one that the run can know.
    """

    answers: Iterator[Answer]
    lock: threading.Lock = field(default_factory=threading.Lock)
    bills: list[tuple[str, float, bool]] = field(default_factory=list)

    def __call__(self, request: dict[str, Any]) -> Turn:
        with self.lock:
            answer = next(self.answers)
        if answer.form == "refused":
            return status(400, "No, for our content policy.")
        tokens_in = max(1, int(answer.share * _bytes_of(request)))
        tokens_out = max(1, int(answer.share * request["max_tokens"]))
        price_in, price_out = PRICES[request["model"]]
        usd = tokens_in * price_in + tokens_out * price_out
        is_read = answer.form not in ("page", "broken", "drops")
        is_known = request["model"] != "unpriced" or (
            answer.report == "costs" and is_read
        )
        run = request["messages"][0]["content"].split()[0]
        with self.lock:
            self.bills.append((run, usd, is_known))
        return _turn(answer, _report(answer, tokens_in, tokens_out, usd))


def _bytes_of(request: dict[str, Any]) -> int:
    """Return the most tokens that the prompt can have: one for each of its bytes."""
    tools = [tool["function"] for tool in request.get("tools", [])]
    texts = [
        *(str(message["content"]) for message in request["messages"]),
        *(f"{tool['name']}{tool['description']}" for tool in tools),
    ]
    return sum(len(text.encode()) for text in texts)


def _report(answer: Answer, into: int, out: int, usd: float) -> dict[str, Any] | None:
    honest: dict[str, Any] = {"prompt_tokens": into, "completion_tokens": out}
    match answer.report:
        case "missing":
            return None
        case "nested":
            details = {"cached_tokens": into}
            return {**honest, "prompt_tokens": 1, "prompt_tokens_details": details}
        case "cached above":
            return {**honest, "prompt_tokens_details": {"cached_tokens": into * 9}}
        case "no count":
            return {"prompt_tokens": answer.no_count, "completion_tokens": out}
        case "costs":
            return {**honest, "cost": usd}
        case "absurd cost":
            return {**honest, "cost": -5.0}
        case _:
            return honest


def _turn(answer: Answer, usage: dict[str, Any] | None) -> Turn:
    match answer.form:
        case "text":
            return say("Done.", usage=usage)
        case "parts":
            return Turn(extra={"content": [{"text": "Done."}]}, usage=usage)
        case "empty":
            return say("", usage=usage)
        case "thought":
            return Turn(extra={"reasoning_content": "Hm."}, usage=usage)
        case "page":
            return raw(b"<html>", 200, "text/html")
        case "broken":
            return raw(b'{"choices": [{"message": 5}]}')
        case _:
            return drop()


def _model(name: str, base_url: str) -> Model:
    known = name != "unpriced"
    into, out = PRICES[name] if known else (None, None)
    config = ModelConfig(
        model=f"openai/{name}",
        api_key=SecretStr("sk-test"),
        base_url=base_url,
        input_cost_per_token=into,
        output_cost_per_token=out,
        max_output_tokens=700,
    )
    return LitellmModel(config, FakeClock(), jitter=lambda: 1.0)


def _call(run: SpendingRun, model: Model, tools: tuple[ToolSpec, ...]) -> None:
    text = UserText(text=f"{run.job_id} Fix the bug.")
    request = ModelRequest(messages=(text,), tools=tools)
    with suppress(ModelError, LimitError):
        model.complete(request, Waits(run.run_budget))


def _sum(bills: list[tuple[str, float, bool]], run: str = "") -> float:
    """Add up all bills, or those of a run whose price it can know."""
    return sum(usd for who, usd, known in bills if not run or (known and who == run))


NAMES = st.sampled_from(
    [
        ("first",),
        ("first", "spare"),
        ("first", "unpriced"),
        ("unpriced",),
        ("unpriced", "spare"),
    ]
)


class Market:
    """Four runs that spend at once, at providers that answer as they are told to."""

    def __init__(self, database: Database) -> None:
        self.biller = Biller(iter(()))
        self._world = World(database)
        self._numbers = count(4, 4)

    def answer(self, request: dict[str, Any]) -> Turn:
        return self.biller(request)

    def spend(
        self, base_url: str, answers: list[Answer], names: Sequence[str], words: str
    ) -> Spending:
        # On a day of its own: the ceiling of everybody is that of a day.
        self._world.clock.advance(A_YEAR_S)
        self.biller = Biller(cycle(answers))
        spending = Spending(self._world, next(self._numbers))
        models = [_model(name, base_url) for name in names]
        routed = RoutedModel(models, FakeClock())
        tool = ToolSpec(name="look", description=words, parameters={"type": "object"})
        with ThreadPoolExecutor(len(spending.runs)) as pool:
            for _ in range(ROUNDS):
                list(pool.map(lambda run: _call(run, routed, (tool,)), spending.runs))
        return spending


def _check(spending: Spending, bills: list[tuple[str, float, bool]]) -> None:
    for run in spending.runs:
        own = _sum(bills, run.job_id)
        assert own <= LIMITS.max_cost_usd + TOLERANCE_USD
        assert spending.money.spent_usd(run.job_id) >= 0
    assert LIMITS.per_day_usd is not None
    assert _sum(bills) <= LIMITS.per_day_usd + TOLERANCE_USD


@pytest.mark.long
def test_p4_no_answer_of_a_provider_passes_a_ceiling(tmp_path: Path) -> None:
    with closing(Database(f"sqlite:///{tmp_path}/money.db")) as database:
        upgrade(database)
        market = Market(database)
        with FakeProvider(market.answer) as provider:

            @settings(
                max_examples=25, deadline=None, phases=[Phase.explicit, Phase.generate]
            )
            @given(
                st.lists(ANSWERS, min_size=1, max_size=6),
                NAMES,
                st.text(min_size=1, max_size=300),
            )
            def bills_stay_within_the_ceilings(
                answers: list[Answer], names: tuple[str, ...], words: str
            ) -> None:
                spending = market.spend(provider.base_url, answers, names, words)
                _check(spending, market.biller.bills)

            bills_stay_within_the_ceilings()
