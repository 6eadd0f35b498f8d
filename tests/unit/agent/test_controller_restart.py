"""Another worker goes on where the lost one was, and does nothing twice."""

from pathlib import Path

import pytest
from pydantic import JsonValue

from patchwright.core.agent.budget import RunBudget
from patchwright.core.agent.execution import mark_unknown
from patchwright.core.events.actions import (
    CallMcpTool,
    Delegate,
    Finish,
    Message,
    RaiseLimits,
    RunCommand,
    Think,
)
from patchwright.core.events.observations import (
    CommandOutput,
    ErrorObservation,
    LoopDetected,
    McpResult,
    ModelReply,
    Null,
)
from patchwright.core.events.payload import AgentState, Source
from patchwright.core.events.types import Event
from patchwright.core.llm.model import ModelRequest, ToolResult
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Limits
from tests.fakes.scripted_model import Step, reply
from tests.unit.agent.memory_sandbox import MemorySandbox
from tests.unit.agent.scene import FINISH, Scene, playing

ECHO = reply(calls=[("shell", {"command": "echo hello"})])
SAME = reply(calls=[("shell", {"command": "cat lost.py"})])


def sent_off(scene: Scene, action: RunCommand | CallMcpTool | Think) -> int:
    """Leave the log as a worker does that is lost when it has sent off an action."""
    reply = ECHO.replace(agent=action.agent)
    said = scene.log.append(Source.AGENT, reply)
    call = action.replace(call_id="call_1")
    return scene.log.append(Source.AGENT, call, said.id).id


@pytest.mark.parametrize("has_run", [True, False])
def test_in_the_same_sandbox_the_action_is_asked_for_again(
    tmp_path: Path, *, has_run: bool
) -> None:
    with playing(tmp_path, [FINISH]) as scene:
        action = RunCommand(command="echo hello")
        action_id = sent_off(scene, action)
        if has_run:
            scene.sandbox.run(action, str(action_id))
        assert scene.next_worker().run().kind is OutcomeKind.RESOLVED
        [result] = scene.results("call_1")
        assert isinstance(result, CommandOutput)
        assert result.output == "hello\n"
    assert len(scene.sandbox.ran) == 1


def test_in_another_sandbox_it_is_said_that_nobody_knows(tmp_path: Path) -> None:
    with playing(tmp_path, [FINISH]) as scene:
        sent_off(scene, RunCommand(command="echo hello"))
        fresh = MemorySandbox()
        scene.next_worker(runtime=fresh).run()
        [result] = scene.results("call_1")
        assert isinstance(result, ErrorObservation)
        assert result.reason == "unknown"
    assert fresh.ran == []
    told = scene.asked()[0][-1]
    assert isinstance(told, ToolResult)
    assert told.text.startswith("The result of this action is unknown")


@pytest.mark.parametrize("agent", ["", "3"])
def test_what_went_to_a_lost_sandbox_is_not_run_in_the_one_after_it(
    agent: str, tmp_path: Path
) -> None:
    """The worker that made the new one may be lost too, before it says so."""
    with playing(tmp_path, [FINISH, FINISH], max_delegate_depth=1) as scene:
        if agent:
            said = reply(calls=[("delegate", {"task": "Look."})])
            said_id = scene.log.append(Source.AGENT, said).id
            delegate = Delegate(task="Look.", call_id="call_1")
            assert scene.log.append(Source.AGENT, delegate, said_id).id == int(agent)
        sent_off(scene, RunCommand(command="echo hello", agent=agent))
        mark_unknown(scene.run_log, 1)
        fresh = MemorySandbox()
        assert scene.next_worker(runtime=fresh).run().kind is OutcomeKind.RESOLVED
        [result, *_] = scene.results("call_1", agent)
        assert isinstance(result, ErrorObservation)
        assert result.reason == "unknown"
    assert fresh.ran == []


def test_calls_after_the_end_stay_undone_when_somebody_speaks(tmp_path: Path) -> None:
    calls: list[tuple[str, dict[str, JsonValue]]] = [
        ("finish", {"summary": "Done."}),
        ("shell", {"command": "echo more"}),
    ]
    with playing(tmp_path, [FINISH]) as scene:
        said = scene.log.append(Source.AGENT, reply(calls=calls))
        finish = Finish(summary="Done.", call_id="call_1")
        action = scene.log.append(Source.AGENT, finish, said.id)
        scene.log.append(Source.ENVIRONMENT, Null(call_id="call_1"), action.id)
        scene.log.append(Source.SYSTEM, Message(text="quoted: wait"))
        assert scene.next_worker().run().kind is OutcomeKind.RESOLVED
        [refused] = scene.results("call_2")
        assert isinstance(refused, ErrorObservation)
        assert refused.reason == "not-run"
    assert scene.sandbox.ran == []
    assert len(scene.model.requests) == 1


def test_a_tool_of_a_server_is_never_called_again(tmp_path: Path) -> None:
    class Server:
        def tools(self) -> tuple[()]:
            return ()

        def call(self, action: CallMcpTool) -> McpResult:
            pytest.fail(f"{action.tool} was called again")

        def close(self) -> None:
            pass

    with playing(tmp_path, [FINISH]) as scene:
        sent_off(scene, CallMcpTool(server="s", tool="t"))
        scene.next_worker(mcp=Server()).run()
        [result] = scene.results("call_1")
        assert isinstance(result, ErrorObservation)
        assert result.reason == "unknown"


def test_what_happens_nowhere_is_simply_done(tmp_path: Path) -> None:
    with playing(tmp_path, [FINISH]) as scene:
        sent_off(scene, Think(thought="So."))
        scene.next_worker().run()
        assert [result.kind for result in scene.results("call_1")] == ["null"]


def test_a_run_that_had_finished_asks_nothing_more(tmp_path: Path) -> None:
    with playing(tmp_path, [FINISH]) as scene:
        scene.run()
        ending = scene.next_worker().run()
        assert (ending.kind, ending.text) == (OutcomeKind.RESOLVED, "Done.")
    assert len(scene.model.requests) == 1


def test_what_one_worker_has_heard_is_not_judged_again(tmp_path: Path) -> None:
    judged: list[str] = []

    def hear(event: Event) -> Message:
        assert isinstance(event.payload, Message)
        judged.append(event.payload.text)
        return Message(text=f"quoted: {event.payload.text}")

    with playing(tmp_path, [ECHO, FINISH], hear=hear) as scene:
        scene.log.append(Source.USER, Message(text="one"))
        scene.want(AgentState.PAUSED)
        scene.run()
        scene.log.append(Source.USER, Message(text="two"))
        scene.want(AgentState.RUNNING)
        scene.next_worker(hear).run()
    assert judged == ["one", "two"]
    assert str(scene.asked()[0][1:]).count("quoted") == 2


def test_s65_a_loop_goes_on_across_a_restart(tmp_path: Path) -> None:
    with playing(tmp_path, [SAME] * 8, limits=Limits(max_iterations=2)) as scene:
        scene.run()
        middle = scene.next_worker(limits=Limits(max_iterations=6))
        middle.run()
        assert len(scene.payloads("loop_detected")) == 1
        ending = scene.next_worker(limits=Limits()).run()
        assert (ending.kind, ending.reason) == (OutcomeKind.STUCK, "repeated-step")
        assert len(scene.payloads("loop_detected")) == 1
    assert len(scene.model.requests) == 8


def test_s65_a_crash_does_not_lose_the_warning(tmp_path: Path) -> None:
    with playing(tmp_path, [SAME] * 4 + [FINISH]) as scene:
        assert scene.run().kind is OutcomeKind.RESOLVED
        [loop] = scene.payloads("loop_detected")
        assert isinstance(loop.payload, LoopDetected)
        [warning] = scene.log.read(loop.id - 1, loop.id - 1)
        assert isinstance(warning.payload, Message)
        assert warning.payload.text == loop.payload.text


def raising(scene: list[Scene], more: RaiseLimits, said: ModelReply) -> Step:
    """Let a person raise the limits while the model is asked."""

    def step(_request: ModelRequest) -> ModelReply:
        scene[0].log.append(Source.USER, more)
        return said

    return step


def test_s66_a_raised_budget_lets_the_run_go_on(tmp_path: Path) -> None:
    dear = [
        reply(calls=[("shell", {"command": f"echo {n}"})], cost_usd=0.5)
        for n in range(4)
    ]
    scenes: list[Scene] = []
    more = RaiseLimits(cost_usd=1.0, reason="@alice")
    steps = [dear[0], raising(scenes, more, dear[1]), dear[2], dear[3]]
    run_budget = RunBudget(1.0, refuse_unknown=False)
    with playing(tmp_path, steps, run_budget=run_budget, ceiling=0.5) as scene:
        scenes.append(scene)
        ending = scene.run()
    assert (ending.kind, ending.reason) == (OutcomeKind.OVER_BUDGET, "budget")
    assert ending.text.startswith("$2.00 of $2.00 is spent")
    assert scene.run_log.state.usage.cost_usd == 2.0


def test_s66_a_run_that_was_over_budget_goes_on_with_more(tmp_path: Path) -> None:
    dear = [reply(calls=[("shell", {"command": "true"})], cost_usd=1.0), FINISH]
    run_budget = RunBudget(1.0, refuse_unknown=False)
    with playing(tmp_path, dear, run_budget=run_budget, ceiling=0.5) as scene:
        assert scene.run().kind is OutcomeKind.OVER_BUDGET
        scene.log.append(Source.USER, RaiseLimits(cost_usd=1.0))
        assert scene.next_worker().run().kind is OutcomeKind.RESOLVED


def test_raised_iterations_let_the_run_go_on(tmp_path: Path) -> None:
    looks = [reply(calls=[("shell", {"command": f"echo {n}"})]) for n in range(4)]
    scenes: list[Scene] = []
    steps = [raising(scenes, RaiseLimits(iterations=2), looks[0]), *looks[1:]]
    with playing(tmp_path, steps, limits=Limits(max_iterations=2)) as scene:
        scenes.append(scene)
        ending = scene.run()
    assert ending.text == "The limit of 4 steps was reached."
    assert len(scene.model.requests) == 4
