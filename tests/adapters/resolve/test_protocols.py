"""The same task, whichever protocol the provider speaks: the same tree comes of it."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from patchwright.core.types.evidence import Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from tests.adapters.git.workshop import WorkTree
from tests.adapters.resolve.workbench import (
    CART_STEPS,
    RUN_TEST,
    TEST,
    Named,
    bench,
    models_at,
)
from tests.fakes.llm.anthropic import FakeAnthropic
from tests.fakes.llm.gemini import FakeGemini
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import TurnLike, call, status

FIXED = b"""\
def total(prices, pieces):
    return sum(p * n for p, n in zip(prices, pieces))
"""
WRITTEN = (
    f"""\
I reproduce it first.

<call tool="write">
<arg name="path">test_pieces.py</arg>
<arg name="content">
{TEST}</arg>
</call>
<call tool="shell">
<arg name="command">{RUN_TEST}</arg>
</call>""",
    f"""\
<call tool="edit">
<arg name="path">cart.py</arg>
<arg name="edits.0.old">sum(prices)</arg>
<arg name="edits.0.new">sum(p * n for p, n in zip(prices, pieces))</arg>
</call>

<call tool="shell">
<arg name="command">
{RUN_TEST}
</arg>
</call>""",
    f"""\
<call tool="finish">
<arg name="summary">The pieces were ignored.</arg>
<arg name="title">Count every piece</arg>
<arg name="test_commands.0">{RUN_TEST}</arg>
</call>""",
)
THOUGHTS = [f"c2lnbmF0dXJl{number}" for number in range(len(CART_STEPS))]


@dataclass(frozen=True)
class Asked:
    """A provider with its settings; the requests that it took, and why not others."""

    llm: Mapping[str, object]
    requests: list[dict[str, Any]]
    refused: list[str]


Provider = Callable[[], AbstractContextManager[Asked]]


@contextmanager
def openai() -> Iterator[Asked]:
    turns = [[call(name, **given) for name, given in step] for step in CART_STEPS]
    with FakeProvider(turns) as provider:
        llm = {"model": "openai/m", "base_url": provider.base_url}
        yield Asked(llm, provider.requests, provider.refused)


@contextmanager
def anthropic() -> Iterator[Asked]:
    turns = [_anthropic_turn(number, step) for number, step in enumerate(CART_STEPS)]
    with FakeAnthropic(turns) as provider:
        llm = {
            "model": "anthropic/claude-sonnet-4-5",
            "base_url": provider.base_url,
            "reasoning_effort": "low",
        }
        yield Asked(llm, provider.requests, provider.refused)


def _anthropic_turn(number: int, step: tuple[Named, ...]) -> list[dict[str, Any]]:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": THOUGHTS[number]}
    uses = [
        {"type": "tool_use", "id": f"tu_{number}_{at}", "name": name, "input": given}
        for at, (name, given) in enumerate(step)
    ]
    return [thought, *uses]


@contextmanager
def gemini() -> Iterator[Asked]:
    turns = [_gemini_turn(number, step) for number, step in enumerate(CART_STEPS)]
    with FakeGemini(turns) as provider:
        llm = {
            "model": "gemini/gemini-3-flash-preview",
            "base_url": provider.base_url,
            "reasoning_effort": "low",
        }
        yield Asked(llm, provider.requests, provider.refused)


def _gemini_turn(number: int, step: tuple[Named, ...]) -> list[dict[str, Any]]:
    first, *more = [
        {"functionCall": {"name": name, "args": given}} for name, given in step
    ]
    return [{**first, "thoughtSignature": THOUGHTS[number]}, *more]


def in_text(mode: Literal["text", "auto"]) -> Provider:
    """Return a provider that refuses tools, as Ollama does for many models."""

    @contextmanager
    def open_provider() -> Iterator[Asked]:
        texts = iter(WRITTEN)

        def answer(request: dict[str, Any]) -> TurnLike:
            if "tools" in request:
                return status(400, "registry.ollama.ai/m does not support tools")
            return next(texts)

        with FakeProvider(answer) as provider:
            llm = {
                "model": "openai/m",
                "base_url": provider.base_url,
                "tool_calls": mode,
            }
            yield Asked(llm, provider.requests, provider.refused)

    return open_provider


PROVIDERS: dict[str, Provider] = {
    "openai": openai,
    "anthropic": anthropic,
    "gemini": gemini,
    "text": in_text("text"),
    "auto": in_text("auto"),
}


@pytest.fixture
def wanted_tree(tmp_path: Path) -> str:
    """Return what git calls the tree that a person would have made."""
    wanted = WorkTree.start(tmp_path / "wanted")
    wanted.write("cart.py", FIXED)
    wanted.write("test_pieces.py", TEST.encode())
    wanted.commit()
    return wanted.git("rev-parse", "HEAD^{tree}")


@pytest.mark.parametrize("protocol", PROVIDERS)
def test_the_same_task_is_proven_with_the_same_tree(
    protocol: str, tmp_path: Path, wanted_tree: str
) -> None:
    with PROVIDERS[protocol]() as provider:
        models = models_at(tmp_path, provider.llm)
        with bench(tmp_path, models) as scene:
            outcome = scene.resolve()
            results = scene.events("command_output")
    assert (outcome.kind, outcome.proof) == (OutcomeKind.RESOLVED, Proof.PROVEN)
    assert outcome.tree == wanted_tree
    assert outcome.iterations == len(CART_STEPS)
    assert len(results) == 2
    assert provider.refused == []
    last = json.dumps(provider.requests[-1])
    assert "FAILED (failures=1)" in last
    assert "Ran 1 test in" in last


@pytest.mark.parametrize("protocol", ["anthropic", "gemini"])
def test_s61_thinking_of_a_run_is_sent_back_signed(
    protocol: str, tmp_path: Path
) -> None:
    with PROVIDERS[protocol]() as provider:
        with bench(tmp_path, models_at(tmp_path, provider.llm)) as scene:
            assert scene.resolve().kind is OutcomeKind.RESOLVED
        bodies = [json.dumps(request) for request in provider.requests]
    assert [[sign in body for sign in THOUGHTS] for body in bodies] == [
        [False, False, False],
        [True, False, False],
        [True, True, False],
    ]


@pytest.mark.parametrize(("mode", "with_tools"), [("text", 0), ("auto", 1)])
def test_a_provider_without_tools_is_told_of_them_in_words(
    mode: str, with_tools: int, tmp_path: Path
) -> None:
    with (
        PROVIDERS[mode]() as provider,
        bench(tmp_path, models_at(tmp_path, provider.llm)) as scene,
    ):
        assert scene.resolve().proof is Proof.PROVEN
    asked = ["tools" in request for request in provider.requests]
    assert asked == [True] * with_tools + [False] * len(WRITTEN)
