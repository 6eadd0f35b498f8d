"""A delegate works in its own chat, on its parent's money, and reports back."""

from collections.abc import Callable
from pathlib import Path

import pytest

from patchwright.core.agent.budget import RunBudget
from patchwright.core.events.actions import Delegate, Message, RunCommand
from patchwright.core.events.observations import (
    DelegateResult,
    ErrorObservation,
    ModelReply,
)
from patchwright.core.events.payload import AgentState, Source
from patchwright.core.llm.model import ModelRequest, UserText
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Limits, Usage
from tests.fakes.scripted_model import reply
from tests.unit.agent.scene import FINISH, TASK, Scene, playing, replies

PATIENCE_S = 20.0
SLEEP = reply(calls=[("shell", {"command": "sleep 600"})])


def give(task: str = "Find it.", **bounds: float) -> ModelReply:
    return reply(calls=[("delegate", {"task": task, **bounds})])


def look(number: int = 0, cost_usd: float = 0.0) -> ModelReply:
    calls = [("shell", {"command": f"echo {number}"})]
    return reply(calls=calls, cost_usd=cost_usd)


def report(summary: str = "It is in a.py.") -> ModelReply:
    return reply(calls=[("finish", {"summary": summary})])


def result(scene: Scene) -> DelegateResult:
    payload = scene.last("delegate_result")
    assert isinstance(payload, DelegateResult)
    return payload


def test_a_delegate_sees_its_task_alone_and_its_parent_the_report(
    tmp_path: Path,
) -> None:
    steps = [look(1), give(), look(2), report(), FINISH]
    with playing(tmp_path, steps, max_delegate_depth=1) as scene:
        assert scene.run().kind is OutcomeKind.RESOLVED
    _, _, first, second, last = scene.asked()
    assert first[1:] == (UserText(text="Find it."),)
    assert "You are a delegate" in first[0].text
    assert len(second) == 4
    assert last[1] == UserText(text=TASK)
    assert last[-1].text == "[resolved]\nIt is in a.py."
    assert "echo 2" not in str(last)


def test_what_a_delegate_took_is_told_and_counts_for_the_run(tmp_path: Path) -> None:
    steps = [give(), look(1, 0.25), report(), FINISH]
    with playing(tmp_path, steps, max_delegate_depth=1) as scene:
        scene.run()
        told = result(scene)
        assert told.iterations == 2
        assert told.usage == Usage(cost_usd=0.25, tokens_in=20, tokens_out=10)
        assert scene.run_log.state.iterations == 4
        assert scene.run_log.state.usage.cost_usd == 0.25


def test_a_delegate_makes_no_more_steps_than_it_is_allowed(tmp_path: Path) -> None:
    steps = [give(max_iterations=2), look(1), look(2), FINISH]
    with playing(tmp_path, steps, max_delegate_depth=1) as scene:
        assert scene.run().kind is OutcomeKind.RESOLVED
        told = result(scene)
    assert (told.outcome, told.iterations) == (OutcomeKind.OVER_LIMIT, 2)
    assert told.summary == "The delegate has made all the steps it was allowed."


def test_a_delegate_spends_no_more_than_it_is_allowed(tmp_path: Path) -> None:
    steps = [give(max_cost_usd=0.5), look(1, 0.2), look(2, 0.2), FINISH]
    with playing(tmp_path, steps, max_delegate_depth=1, ceiling=0.2) as scene:
        assert scene.run().kind is OutcomeKind.RESOLVED
        told = result(scene)
    assert told.outcome is OutcomeKind.OVER_BUDGET
    assert told.usage.cost_usd == pytest.approx(0.4)


def test_no_delegate_goes_deeper_than_allowed(tmp_path: Path) -> None:
    steps = [give("one"), give("two"), give("three"), report(), report(), FINISH]
    with playing(tmp_path, steps, max_delegate_depth=2) as scene:
        assert scene.run().kind is OutcomeKind.RESOLVED
        refused = [
            event.payload
            for event in scene.log.read(kinds=frozenset({"error"}))
            if isinstance(event.payload, ErrorObservation)
        ]
        assert [one.reason for one in refused] == ["unknown-tool"]
        assert len(scene.payloads("delegate")) == 2
    names = [[t.name for t in r.tools] for r in scene.model.requests]
    assert ["delegate" in tools for tools in names[:3]] == [True, True, False]


def test_a_delegates_question_comes_back_as_its_result(tmp_path: Path) -> None:
    steps = [give(), *[reply("Which one?")] * 3, FINISH]
    with playing(tmp_path, steps, max_delegate_depth=1) as scene:
        assert scene.run().kind is OutcomeKind.RESOLVED
        told = result(scene)
    assert (told.outcome, told.summary) == (OutcomeKind.NEEDS_INPUT, "Which one?")


def test_stop_reaches_a_delegate_and_ends_the_run(tmp_path: Path) -> None:
    with playing(tmp_path, [give(), SLEEP], max_delegate_depth=1) as scene:
        with scene.running() as run:
            assert scene.sandbox.sleeps.wait(PATIENCE_S)
            scene.want(AgentState.STOPPED)
            assert run.result(PATIENCE_S).kind is OutcomeKind.STOPPED
        [action] = scene.payloads("delegate")
        assert len(scene.results("call_1", str(action.id))) == 1
        assert len(scene.results("call_1")) == 1
        assert result(scene).outcome is OutcomeKind.STOPPED


def test_pause_reaches_a_delegate_which_goes_on_later(tmp_path: Path) -> None:
    steps = [give(), SLEEP, report(), FINISH]
    with playing(tmp_path, steps, max_delegate_depth=1) as scene:
        with scene.running() as run:
            assert scene.sandbox.sleeps.wait(PATIENCE_S)
            scene.want(AgentState.PAUSED)
            assert run.result(PATIENCE_S).waits_as is AgentState.PAUSED
        assert scene.payloads("delegate_result") == []
        scene.want(AgentState.RUNNING)
        assert scene.next_worker().run().kind is OutcomeKind.RESOLVED
        assert result(scene).summary == "It is in a.py."
        assert result(scene).iterations == 2
    assert len(scene.asked()) == 4


def test_a_delegate_is_taken_up_in_its_middle(tmp_path: Path) -> None:
    steps = [look(2), report(), FINISH]
    with playing(tmp_path, steps, max_delegate_depth=1) as scene:
        agent = begin_delegate(scene, max_iterations=3)
        scene.log.append(Source.SYSTEM, Message(text="Find it.", agent=agent))
        said = look(1).replace(agent=agent)
        said_id = scene.log.append(Source.AGENT, said).id
        command = RunCommand(command="echo 1", call_id="call_1", agent=agent)
        scene.log.append(Source.AGENT, command, said_id)
        assert scene.next_worker().run().kind is OutcomeKind.RESOLVED
        assert result(scene).iterations == 3
        assert [one.kind for one in scene.results("call_1", agent)] == [
            "command_output",  # that the lost worker had waited for
            "command_output",
            "null",
        ]
    assert scene.asked()[0][1].text == "Find it."


def test_a_delegate_that_had_not_begun_gets_its_task_once(tmp_path: Path) -> None:
    with playing(tmp_path, [report(), FINISH], max_delegate_depth=1) as scene:
        begin_delegate(scene)
        assert scene.next_worker().run().kind is OutcomeKind.RESOLVED
        assert [m.text for m in scene.asked()[0][1:]] == ["Find it."]


def begin_delegate(scene: Scene, max_iterations: int | None = None) -> str:
    """Leave the log as a worker does that is lost when it has sent off a delegate."""
    said = scene.log.append(Source.AGENT, give())
    action = Delegate(task="Find it.", max_iterations=max_iterations, call_id="call_1")
    return str(scene.log.append(Source.AGENT, action, said.id).id)


def spending_tree(cost_usd: float) -> Callable[[ModelRequest], ModelReply]:
    """Answer as agents of three children each do, two levels deep, without an end."""

    def step(request: ModelRequest) -> ModelReply:
        may_delegate = "delegate" in {tool.name for tool in request.tools}
        turns = len(request.messages)
        if may_delegate and turns == 2:
            calls = [
                ("delegate", {"task": f"{request.messages[1].text}.{n}"})
                for n in range(3)
            ]
            return reply(calls=calls, cost_usd=cost_usd)
        if turns > 9:
            return reply(calls=[("finish", {"summary": "x"})], cost_usd=cost_usd)
        command = {"command": f"echo {request.messages[1].text} {turns}"}
        return reply(calls=[("shell", command)], cost_usd=cost_usd)

    return step


@pytest.mark.parametrize("budget_usd", [0.35, 1.0, 2.05, 99.0])
def test_s66_a_tree_of_delegates_never_passes_one_budget(
    budget_usd: float, tmp_path: Path
) -> None:
    run_budget = RunBudget(budget_usd, refuse_unknown=False)
    with playing(
        tmp_path,
        [spending_tree(0.1)] * 99,
        run_budget=run_budget,
        ceiling=0.1,
        limits=Limits(max_iterations=99),
        max_delegate_depth=2,
    ) as scene:
        ending = scene.run()
        spent_usd = sum(one.usage.cost_usd or 0.0 for one in replies(scene.log))
    assert spent_usd <= budget_usd + 1e-9
    assert ending.kind is (
        OutcomeKind.RESOLVED if budget_usd == 99 else OutcomeKind.OVER_BUDGET
    )
    if budget_usd != 99:
        assert spent_usd > budget_usd - 0.1
