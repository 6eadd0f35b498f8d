"""Stop, pause and letting go take effect at once, whatever is under way."""

from pathlib import Path

import pytest

from patchwright.core.events.actions import ChangeState, Message
from patchwright.core.events.observations import CommandOutput, ErrorObservation
from patchwright.core.events.payload import AgentState, Source
from patchwright.core.events.types import Event
from patchwright.core.llm.errors import ModelUnavailableError
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.errors import LeaseLostError
from patchwright.core.types.outcome_kind import OutcomeKind
from tests.fakes.scripted_model import Step, reply
from tests.unit.agent.scene import FINISH, Hang, Scene, playing

ECHO = reply(calls=[("shell", {"command": "echo hello"})])
SLEEP = reply(
    calls=[
        ("shell", {"command": "echo first"}),
        ("shell", {"command": "sleep 600"}),
        ("shell", {"command": "echo last"}),
    ]
)
CALLS = ("call_1", "call_2", "call_3")
PATIENCE_S = 20.0
monotonic = SystemClock().monotonic


def stop_on_request(event: Event) -> ChangeState | None:
    assert isinstance(event.payload, Message)
    if event.payload.text != "stop":
        return None
    return ChangeState(state=AgentState.STOPPED, reason="@alice")


def wait_for_wish(scene: Scene) -> float:
    """Say stop, and return how long it took to be acknowledged, in seconds."""
    with scene.log.listen() as wakeup:
        began = monotonic()
        scene.log.append(Source.USER, Message(text="stop"))
        while not scene.payloads("change_state"):
            assert wakeup.wait(PATIENCE_S)
            wakeup.clear()
        return monotonic() - began


def test_stop_during_a_command_is_heard_at_once_and_ends_it(tmp_path: Path) -> None:
    with playing(tmp_path, [SLEEP], hear=stop_on_request) as scene:
        with scene.running() as run:
            assert scene.sandbox.sleeps.wait(PATIENCE_S)
            began = monotonic()
            assert wait_for_wish(scene) < 0.1
            ending = run.result(PATIENCE_S)
            assert monotonic() - began < 1.0
        [_, command] = scene.payloads("run_command")
        assert scene.sandbox.cancelled == [str(command.id)]
        assert ending.kind is OutcomeKind.STOPPED
        assert ending.text == "Stopped by @alice."
        assert [len(scene.results(call_id)) for call_id in CALLS] == [1, 1, 1]
        [partial] = scene.results("call_2")
        assert isinstance(partial, CommandOutput)
        assert partial.output == "So far."


def test_stop_during_a_hanging_model_call_is_heard_at_once(tmp_path: Path) -> None:
    hang = Hang()
    with playing(tmp_path, [ECHO, hang], hear=stop_on_request) as scene:
        with scene.running() as run:
            assert hang.began.wait(PATIENCE_S)
            began = monotonic()
            assert wait_for_wish(scene) < 0.1
            assert run.result(PATIENCE_S).kind is OutcomeKind.STOPPED
            assert monotonic() - began < 1.0
        hang.release_wait()
    assert scene.states()[-1] is AgentState.STOPPED
    assert len(scene.payloads("model_reply")) == 1


def test_stop_wins_over_a_model_call_that_fails_meanwhile(tmp_path: Path) -> None:
    hang = Hang(ModelUnavailableError("No answer."))
    with playing(tmp_path, [hang]) as scene, scene.running() as run:
        assert hang.began.wait(PATIENCE_S)
        scene.want(AgentState.STOPPED)
        hang.release_wait()
        assert run.result(PATIENCE_S).kind is OutcomeKind.STOPPED


def test_an_answer_that_came_in_time_for_the_stop_is_kept(tmp_path: Path) -> None:
    hang = Hang(ECHO)
    with playing(tmp_path, [hang]) as scene:
        with scene.running() as run:
            assert hang.began.wait(PATIENCE_S)
            scene.want(AgentState.STOPPED)
            hang.release_wait()
            run.result(PATIENCE_S)
        assert len(scene.results("call_1")) == 1
        assert scene.run_log.state.usage.tokens_in == 10
    assert scene.sandbox.ran == []


def test_a_paused_run_goes_on_where_it_was(tmp_path: Path) -> None:
    with playing(tmp_path, [ECHO, FINISH]) as scene:
        scene.want(AgentState.PAUSED)
        ending = scene.run()
        assert (ending.kind, ending.waits_as) == (
            OutcomeKind.NEEDS_INPUT,
            AgentState.PAUSED,
        )
        assert ending.text == "Paused by @alice."
        assert scene.model.requests == []
        scene.want(AgentState.RUNNING)
        assert scene.next_worker().run().kind is OutcomeKind.RESOLVED


def test_pause_in_mid_reply_leaves_the_rest_for_later(tmp_path: Path) -> None:
    with playing(tmp_path, [SLEEP, FINISH]) as scene:
        with scene.running() as run:
            assert scene.sandbox.sleeps.wait(PATIENCE_S)
            scene.want(AgentState.PAUSED)
            assert run.result(PATIENCE_S).waits_as is AgentState.PAUSED
        assert [len(scene.results(call_id)) for call_id in CALLS] == [1, 1, 0]
        scene.want(AgentState.RUNNING)
        resumed = scene.next_worker()
        assert resumed.run().kind is OutcomeKind.RESOLVED
        assert [len(scene.results(call_id)) for call_id in CALLS] == [1, 1, 1]
    assert len(scene.sandbox.ran) == 3


def test_a_paused_run_stays_so_when_another_worker_takes_it_up(tmp_path: Path) -> None:
    with playing(tmp_path, [ECHO]) as scene:
        scene.want(AgentState.PAUSED)
        scene.run()
        ending = scene.next_worker().run()
        assert ending.waits_as is AgentState.PAUSED
    assert scene.model.requests == []


def test_a_paused_run_can_be_stopped(tmp_path: Path) -> None:
    with playing(tmp_path, [SLEEP]) as scene:
        with scene.running() as run:
            assert scene.sandbox.sleeps.wait(PATIENCE_S)
            scene.want(AgentState.PAUSED)
            run.result(PATIENCE_S)
        scene.want(AgentState.STOPPED)
        assert scene.next_worker().run().kind is OutcomeKind.STOPPED
        assert [len(scene.results(call_id)) for call_id in CALLS] == [1, 1, 1]


@pytest.mark.parametrize("what", ["model", "command"])
def test_who_must_let_go_leaves_what_is_under_way(tmp_path: Path, what: str) -> None:
    hang = Hang()
    steps: list[Step] = [hang] if what == "model" else [SLEEP]
    with playing(tmp_path, steps) as scene:
        under_way = hang.began if what == "model" else scene.sandbox.sleeps
        with scene.running() as run:
            assert under_way.wait(PATIENCE_S)
            began = monotonic()
            scene.dependencies.release_signal.set_result(None)
            with pytest.raises(LeaseLostError):
                run.result(PATIENCE_S)
            assert monotonic() - began < 0.1
        assert scene.sandbox.cancelled == []
        assert scene.states()[-1] is AgentState.RUNNING
        scene.sandbox.cancel("the end of the test")
        hang.release_wait()


def test_letting_go_is_heard_even_while_the_bell_is_silenced(tmp_path: Path) -> None:
    hang = Hang()
    with playing(tmp_path, [hang]) as scene:

        def let_go_while_it_listens(event: Event) -> None:
            del event
            scene.dependencies.release_signal.set_result(None)
            scene.run_log.wakeup.clear()

        release_signal = scene.dependencies.release_signal
        worker = scene.next_worker(
            let_go_while_it_listens, release_signal=release_signal
        )
        with worker.running() as run:
            assert hang.began.wait(PATIENCE_S)
            scene.log.append(Source.USER, Message(text="hello?"))
            with pytest.raises(LeaseLostError):
                run.result(PATIENCE_S)
        hang.release_wait()


def test_a_result_that_another_worker_waits_for_is_not_lost(tmp_path: Path) -> None:
    with playing(tmp_path, [SLEEP, FINISH]) as scene:
        with scene.running() as run:
            assert scene.sandbox.sleeps.wait(PATIENCE_S)
            scene.dependencies.release_signal.set_result(None)
            with pytest.raises(LeaseLostError):
                run.result(PATIENCE_S)
        scene.sandbox.cancel("it ends by itself")
        assert scene.next_worker().run().kind is OutcomeKind.RESOLVED
        assert [len(scene.results(call_id)) for call_id in CALLS] == [1, 1, 1]
        assert not isinstance(scene.results("call_2")[0], ErrorObservation)
