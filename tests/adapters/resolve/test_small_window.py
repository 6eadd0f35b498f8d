"""A task whose reading alone is far larger than the window is proven all the same."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from patchwright.core.condense.condensers import choose_condenser
from patchwright.core.events.observations import Condensed
from patchwright.core.events.types import Event
from patchwright.core.types.evidence import Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Outcome
from tests.adapters.resolve.workbench import CART_STEPS, CONDUCT, bench, models_at
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import TurnLike, call, status, with_usage

WINDOW = 8192
BYTES_PER_TOKEN = 4
# Longer than was asked for, as summaries are.
SUMMARY = "FOUND OUT: the chapters say nothing of use. " + "\n".join(
    f"TRIED: chapter {number}, which is about other things." for number in range(28)
)


@dataclass
class Provider:
    """Has a window of 8k, and reads for long before it does the work."""

    reading: Sequence[TurnLike]
    summaries: int = 0
    too_long: int = 0
    _turns: Iterator[TurnLike] = field(init=False)

    def __post_init__(self) -> None:
        steps = [[call(name, **given) for name, given in step] for step in CART_STEPS]
        first, *rest = steps
        self._turns = iter([first, *self.reading, *rest])

    def answer(self, request: dict[str, Any]) -> TurnLike:
        prompt = len(json.dumps(request, ensure_ascii=False)) // BYTES_PER_TOKEN
        if prompt + request["max_tokens"] > WINDOW:
            self.too_long += 1
            return too_long(prompt, request["max_tokens"])
        return with_usage(self._next(request), prompt_tokens=prompt)

    def _next(self, request: dict[str, Any]) -> TurnLike:
        if "tools" in request:
            return next(self._turns)
        self.summaries += 1
        return SUMMARY


def too_long(prompt: int, output: int) -> TurnLike:
    return status(
        400,
        f"This model's maximum context length is {WINDOW} tokens. However, you "
        f"requested {prompt + output} tokens ({prompt} in the messages, {output} in "
        "the completion). Please reduce the length of the messages or completion.",
        code_name="context_length_exceeded",
    )


def chapter(number: int, size: int) -> str:
    line = f"Chapter {number}: nothing that anybody would have to know about carts.\n"
    return line * (size // len(line))


CHAPTERS = {
    f"chapter-{number}.txt": chapter(number, 3_000 + number % 4 * 1_000)
    for number in range(12)
}


READING = [
    turn
    for number, name in enumerate(CHAPTERS)
    for turn in (
        call("shell", command=f"cat /workspace/context/{name}"),
        call("think", thought=f"{number}. {'Where do the pieces go? ' * 30}"),
    )
]


@dataclass(frozen=True)
class Run:
    outcome: Outcome
    events: list[Event]
    provider: Provider
    last_request: str

    def condensed(self) -> list[Condensed]:
        payloads = (event.payload for event in self.events)
        return [payload for payload in payloads if isinstance(payload, Condensed)]


def run(folder: Path, condensers: tuple[str, ...], **llm: object) -> Run:
    provider = Provider(READING)
    with FakeProvider(provider.answer) as server:
        usual = {"model": "openai/m", "base_url": server.base_url}
        models = models_at(folder, {**usual, "max_output_tokens": 1024, **llm})
        conduct = replace(CONDUCT, condenser=choose_condenser(condensers))
        with bench(
            folder, models, files=CHAPTERS, agent_configuration=conduct
        ) as scene:
            outcome, events = scene.resolve(), scene.events()
        assert server.refused == []
        last = server.raw_requests[-1].decode()
    return Run(outcome, events, provider, last)


PIPELINES = [("recent",), ("amortised",), ("masking", "summary")]


@pytest.mark.parametrize("condensers", PIPELINES, ids="-".join)
def test_the_task_is_proven_in_a_window_of_8k(
    condensers: tuple[str, ...], tmp_path: Path
) -> None:
    done = run(tmp_path, condensers, context_window=WINDOW)
    assert done.outcome.kind is OutcomeKind.RESOLVED
    assert done.outcome.proof is Proof.PROVEN
    assert len(done.condensed()) >= 2
    assert done.provider.too_long == 0
    assert "Fix the sum." in done.last_request
    assert "Files written so far: test_pieces.py" in done.last_request
    assert "AssertionError: 450 != 1350" in done.last_request
    assert "chapter-0.txt" not in done.last_request


def test_masking_and_summaries_take_turns_and_no_summary_is_paid_in_vain(
    tmp_path: Path,
) -> None:
    done = run(tmp_path, ("masking", "summary"), context_window=WINDOW)
    condensed = done.condensed()
    summarised = [one for one in condensed if SUMMARY in one.summary]
    assert any(one.masked_to and not one.summary for one in condensed)
    assert len(summarised) == done.provider.summaries >= 2
    assert SUMMARY in json.loads(done.last_request)["messages"][2]["content"]


@pytest.mark.parametrize("condensers", PIPELINES, ids="-".join)
def test_s62_if_the_window_is_unknown_refusals_show_it(
    condensers: tuple[str, ...], tmp_path: Path
) -> None:
    done = run(tmp_path, condensers)
    assert done.outcome.proof is Proof.PROVEN
    assert 2 <= done.provider.too_long <= 2 * len(done.condensed())
