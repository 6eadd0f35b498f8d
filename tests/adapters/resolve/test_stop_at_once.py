"""Stop and pause are heard at once, whatever the run waits for, and end it soon."""

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from patchwright.core.events.actions import ChangeState, Message
from patchwright.core.events.observations import CommandOutput, StateChanged
from patchwright.core.events.payload import AgentState, Source
from patchwright.core.events.types import Event, Known
from patchwright.core.types.evidence import Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Outcome
from tests.adapters.resolve.workbench import CART_STEPS, Bench, bench, models_at
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import TurnLike, call, hang
from tests.flow.story import telling
from tests.provision.waiting import wait_until
from tests.service.proc import descendants

HEARD_S = 0.1
ENDED_S = 1.0
PATIENCE_S = 20.0
SLEEP = "sleep 600"
STEPS: list[TurnLike] = [
    [call(name, **given) for name, given in step] for step in CART_STEPS
]
WRITE_TEST, FIX, FINISH = STEPS
ENDS = {
    AgentState.STOPPED: (OutcomeKind.STOPPED, "asked"),
    AgentState.PAUSED: (OutcomeKind.NEEDS_INPUT, "paused"),
}


@dataclass
class Ear:
    """Notes when each event of a log could be read by others."""

    heard: list[tuple[float, Event]] = field(default_factory=list)

    def __call__(self, event: Event) -> None:
        self.heard.append((time.monotonic(), event))

    def judged_at(self) -> float:
        return self._at(lambda payload: isinstance(payload, ChangeState))

    def ended_at(self, state: AgentState) -> float:
        return self._at(
            lambda payload: isinstance(payload, StateChanged) and payload.state is state
        )

    def _at(self, is_wanted: Callable[[Known], bool]) -> float:
        return next(
            at
            for at, event in self.heard
            if isinstance(event.payload, Known) and is_wanted(event.payload)
        )


class FolderCheckpoints:
    """Keeps the work tree in a file."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "checkpoint.bundle"

    def save(self, bundle: bytes) -> None:
        self._file.write_bytes(bundle)

    def load(self) -> bytes | None:
        return self._file.read_bytes() if self._file.exists() else None


def hear(event: Event) -> ChangeState:
    """Take a message for the state that somebody wants."""
    assert isinstance(event.payload, Message)
    return ChangeState(state=AgentState(event.payload.text), reason="@alice")


def sleeps() -> bool:
    return any(seen.command == SLEEP for seen in descendants(os.getpid()))


@dataclass(frozen=True)
class Playing:
    scene: Bench
    provider: FakeProvider
    ear: Ear

    def interrupt(self, state: AgentState, is_under_way: Callable[[], bool]) -> Outcome:
        """Work until that is under way, ask for a state, and return what comes of it.

        It must be heard and ended in time.
        """
        with ThreadPoolExecutor(1) as pool:
            run = pool.submit(self.scene.resolve)
            wait_until(is_under_way, "what is to be interrupted", PATIENCE_S)
            said_at = time.monotonic()
            self.say(state)
            outcome = run.result(PATIENCE_S)
        wait_until(lambda: self.ear.heard[-1][1].payload == self._last(), "the ear", 5)
        assert self.ear.judged_at() - said_at < HEARD_S
        assert self.ear.ended_at(state) - said_at < ENDED_S
        return outcome

    def say(self, state: AgentState) -> None:
        self.scene.dependencies.log.append(Source.USER, Message(text=state))

    def _last(self) -> object:
        return self.scene.events()[-1].payload


@contextmanager
def playing(folder: Path, *turns: TurnLike, **dependencies: Any) -> Iterator[Playing]:
    ear = Ear()
    with FakeProvider(turns) as provider:
        llm = {"model": "openai/m", "base_url": provider.base_url}
        with (
            bench(
                folder, models_at(folder, llm), filter_steering=hear, **dependencies
            ) as scene,
            scene.dependencies.log.subscribe(ear),
        ):
            yield Playing(scene, provider, ear)


@pytest.mark.parametrize("state", ENDS)
def test_a_word_ends_a_command_that_sleeps_and_its_process(
    state: AgentState, tmp_path: Path
) -> None:
    with playing(tmp_path, FIX, call("shell", command=SLEEP)) as play:
        outcome = play.interrupt(state, sleeps)
        assert not sleeps()
        results = play.scene.events("command_output")
        assert "zip(prices, pieces)" in play.scene.show(outcome, "cart.py")
    assert (outcome.kind, outcome.reason) == ENDS[state]
    _, slept = (event.payload for event in results)
    assert isinstance(slept, CommandOutput)
    assert slept.exit_code != 0


@pytest.mark.parametrize("state", ENDS)
def test_a_word_ends_the_wait_for_a_model_that_hangs(
    state: AgentState, tmp_path: Path
) -> None:
    with playing(tmp_path, FIX, hang()) as play:
        outcome = play.interrupt(state, lambda: len(play.provider.requests) == 2)
        assert "zip(prices, pieces)" in play.scene.show(outcome, "cart.py")
    assert (outcome.kind, outcome.reason) == ENDS[state]


@pytest.mark.parametrize("state", ENDS)
def test_a_word_ends_the_proof_of_a_finish(state: AgentState, tmp_path: Path) -> None:
    done = call("finish", summary="Done.", test_commands=[SLEEP])
    with playing(tmp_path, FIX, done) as play:
        outcome = play.interrupt(state, sleeps)
        assert not sleeps()
        assert "zip(prices, pieces)" in play.scene.show(outcome, "cart.py")
        assert play.scene.events("evidence_recorded") == []
    assert (outcome.kind, outcome.reason) == ENDS[state]


@pytest.mark.parametrize("waits", ["command", "model"])
def test_a_paused_run_goes_on_where_it_was(waits: str, tmp_path: Path) -> None:
    long = call("shell", command=SLEEP) if waits == "command" else hang()
    turns = [WRITE_TEST, long, FIX, FINISH]
    kept = FolderCheckpoints(tmp_path)
    with playing(tmp_path, *turns, checkpoints=kept) as play:
        asked = play.provider.requests
        outcome = play.interrupt(
            AgentState.PAUSED,
            sleeps if waits == "command" else lambda: len(asked) == 2,
        )
        assert outcome.waits
        play.say(AgentState.RUNNING)
        done = play.scene.resolve()
    assert (done.kind, done.proof) == (OutcomeKind.RESOLVED, Proof.PROVEN)


def test_stop_in_the_thread_ends_a_command_of_the_service(tmp_path: Path) -> None:
    ear, turns = Ear(), [FIX, call("shell", command=SLEEP)]
    with telling(tmp_path, turns) as story, ThreadPoolExecutor(1) as pool:
        issue = story.ask("@patchwright please fix the sum")
        work = pool.submit(story.work)
        wait_until(sleeps, "the command that is to be stopped", PATIENCE_S)
        [job] = story.jobs()
        with story.base.stores.events.open(job.conversation_id).subscribe(ear):
            story.say(issue, "@patchwright stop")
            taken_at = time.monotonic()
            work.result(PATIENCE_S)
        assert not sleeps()
        assert story.outcome().kind is OutcomeKind.STOPPED
        assert "The work so far is on [`patchwright/1-wrong-sum`]" in story.reply(issue)
        assert story.branches() == ["patchwright/1-wrong-sum"]
    # Who has spoken is looked up at GitHub in between.
    assert ear.judged_at() - taken_at < HEARD_S
    assert ear.ended_at(AgentState.STOPPED) - ear.judged_at() < ENDED_S
