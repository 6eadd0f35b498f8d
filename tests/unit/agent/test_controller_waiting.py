"""What the provider makes us wait for is known, waited out once, and then over."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from patchwright.core.events.actions import ChangeState, Message
from patchwright.core.events.observations import (
    ModelReply,
    ProviderWait,
    StateChanged,
    WaitCause,
)
from patchwright.core.events.payload import AgentState, Source
from patchwright.core.events.types import Event
from patchwright.core.llm.errors import CallWatch
from patchwright.core.llm.model import ModelCapabilities, ModelRequest, Models
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.errors import LeaseLostError
from patchwright.core.types.outcome_kind import OutcomeKind
from tests.fakes.clock import START
from tests.fakes.scripted_model import NOTHING_KNOWN, Step, reply
from tests.unit.agent.scene import FINISH, Scene, playing

PATIENCE_S = 20.0
monotonic = SystemClock().monotonic

WAIT = ProviderWait(cause=WaitCause.RATE_LIMITED, seconds=60)


class Limited:
    """A model whose provider makes each call wait twice for a minute."""

    name = "limited"

    def __init__(self) -> None:
        self.waits, self.ended = threading.Event(), threading.Event()
        self.may_go = threading.Event()

    def complete(
        self, request: ModelRequest, watch: CallWatch | None = None
    ) -> ModelReply:
        del request
        assert watch is not None
        watch.waits(WAIT)
        self.waits.set()
        self.may_go.wait()
        try:
            watch.waits(WAIT)
        finally:
            self.ended.set()
        return FINISH

    def ceiling_usd(self, request: ModelRequest) -> float | None:
        del request
        return 0.0

    def capabilities(self) -> ModelCapabilities:
        return NOTHING_KNOWN


@contextmanager
def limited(folder: Path, *later: Step) -> Iterator[tuple[Scene, Limited]]:
    """Set a scene whose provider makes the first worker wait."""
    model = Limited()
    with playing(folder, later) as scene:
        yield scene.next_worker(models=Models.only(model)), model


def test_s58_waiting_for_the_provider_can_be_seen_and_ends(tmp_path: Path) -> None:
    with limited(tmp_path) as (scene, model):
        with scene.running() as run:
            assert model.waits.wait(PATIENCE_S)
            limit = scene.last("state_changed")
            model.may_go.set()
            assert run.result(PATIENCE_S).kind is OutcomeKind.RESOLVED
        assert limit == StateChanged(
            state=AgentState.RATE_LIMITED,
            reason="rate-limited",
            until=START + timedelta(seconds=60),
            wait=WAIT,
        )
        assert scene.states()[1:] == [
            AgentState.RUNNING,
            AgentState.RATE_LIMITED,
            AgentState.RATE_LIMITED,
            AgentState.RUNNING,
            AgentState.FINISHED,
        ]


def test_s58_the_next_worker_waits_for_the_rest(tmp_path: Path) -> None:
    with limited(tmp_path, FINISH) as (scene, model):
        with scene.running() as run:
            assert model.waits.wait(PATIENCE_S)
            scene.dependencies.release_signal.set_result(None)
            with pytest.raises(LeaseLostError):
                run.result(PATIENCE_S)
        assert scene.states()[-1] is AgentState.RATE_LIMITED
        scene.clock.advance(20)
        another = scene.next_worker(models=Models.only(scene.model))
        assert another.run().kind is OutcomeKind.RESOLVED
        assert scene.clock.slept == [40]
        assert scene.states()[-3:] == [
            AgentState.LOADING,
            AgentState.RUNNING,
            AgentState.FINISHED,
        ]
        model.may_go.set()


def test_s58_a_limit_that_is_over_is_not_waited_for(tmp_path: Path) -> None:
    with limited(tmp_path, FINISH) as (scene, model):
        with scene.running() as run:
            assert model.waits.wait(PATIENCE_S)
            scene.dependencies.release_signal.set_result(None)
            with pytest.raises(LeaseLostError):
                run.result(PATIENCE_S)
        scene.clock.advance(61)
        scene.next_worker(models=Models.only(scene.model)).run()
        assert scene.clock.slept == []
        model.may_go.set()


def test_stop_is_heard_while_the_provider_makes_us_wait(tmp_path: Path) -> None:
    with limited(tmp_path) as (scene, model):
        with scene.running() as run:
            assert model.waits.wait(PATIENCE_S)
            began = monotonic()
            scene.want(AgentState.STOPPED)
            assert run.result(PATIENCE_S).kind is OutcomeKind.STOPPED
            assert monotonic() - began < 1.0
        model.may_go.set()
        assert model.ended.wait(PATIENCE_S)
        # The call that was left behind says nothing more about the run.
        assert scene.states()[-1] is AgentState.STOPPED


def hear_words(event: Event) -> Message | ChangeState:
    assert isinstance(event.payload, Message | ChangeState)
    if isinstance(event.payload, ChangeState):
        return event.payload
    return Message(text=f"quoted: {event.payload.text}")


def test_a_question_waits_for_an_answer_and_goes_on_with_it(tmp_path: Path) -> None:
    with playing(tmp_path, [reply("Which one?")] * 3 + [FINISH]) as scene:
        ending = scene.run()
        assert ending.waits_as is AgentState.AWAITING_USER_INPUT
        scene.log.append(Source.USER, Message(text="The second."))
        assert scene.next_worker(hear_words).run().kind is OutcomeKind.RESOLVED
    assert "quoted: The second." in str(scene.asked()[-1][-1])


QUESTION = "Cents, or euros?"
ASK = ("ask", {"question": QUESTION})


def test_a_question_takes_one_call(tmp_path: Path) -> None:
    with playing(tmp_path, [reply(calls=[ASK]), FINISH]) as scene:
        ending = scene.run()
        assert (ending.kind, ending.reason) == (OutcomeKind.NEEDS_INPUT, "question")
        assert ending.text == QUESTION
        assert ending.waits_as is AgentState.AWAITING_USER_INPUT
        assert scene.states()[-1] is AgentState.AWAITING_USER_INPUT
        assert len(scene.model.requests) == 1
        scene.log.append(Source.USER, Message(text="Euros."))
        assert scene.next_worker(hear_words).run().kind is OutcomeKind.RESOLVED
    assert "Euros." in str(scene.asked()[-1][-1])


def test_a_question_that_was_asked_by_call_goes_on_waiting(tmp_path: Path) -> None:
    with playing(tmp_path, [reply(text="Hm.", calls=[ASK])]) as scene:
        scene.run()
        for _ in range(2):
            ending = scene.next_worker().run()
            assert ending.text == QUESTION
            assert ending.waits_as is AgentState.AWAITING_USER_INPUT
    assert len(scene.model.requests) == 1


def test_what_comes_after_a_question_waits_for_the_answer(tmp_path: Path) -> None:
    shell = ("shell", {"command": "touch made"})
    with playing(tmp_path, [reply(calls=[ASK, shell]), FINISH]) as scene:
        scene.run()
        scene.log.append(Source.USER, Message(text="Euros."))
        scene.next_worker(hear_words).run()
        told = [str(message) for message in scene.asked()[-1]]
        commands = scene.log.read(kinds=frozenset({"run_command"}))
    assert commands == []
    assert any("the question before it was to be answered" in text for text in told)


def test_a_run_that_waits_with_a_question_can_be_stopped(tmp_path: Path) -> None:
    with playing(tmp_path, [reply(calls=[ASK])]) as scene:
        scene.run()
        scene.want(AgentState.STOPPED)
        assert scene.next_worker(hear_words).run().kind is OutcomeKind.STOPPED


def test_a_question_without_an_answer_goes_on_waiting(tmp_path: Path) -> None:
    with playing(tmp_path, [reply("Which one?")] * 3) as scene:
        scene.run()
        ending = scene.next_worker().run()
        assert ending.text == "Which one?"
        assert ending.waits_as is AgentState.AWAITING_USER_INPUT
    assert len(scene.model.requests) == 3
