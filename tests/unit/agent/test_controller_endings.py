"""Each way a run can end has its own word, and costs no more than it may."""

from pathlib import Path

import pytest

from patchwright.core.agent.budget import RunBudget
from patchwright.core.events.actions import RunCommand
from patchwright.core.events.observations import ModelReply, StateChanged
from patchwright.core.events.payload import AgentState
from patchwright.core.llm.errors import (
    EmptyReplyError,
    ModelCredentialError,
    ModelDeclinedError,
    ModelError,
    ModelRateLimitError,
    ModelRequestError,
    ModelUnavailableError,
    OverBudgetError,
    TokenLimitError,
)
from patchwright.core.llm.model import ModelRequest, UserText
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Limits, Usage
from tests.fakes.clock import FakeClock
from tests.fakes.scripted_model import Step, reply
from tests.unit.agent.scene import FINISH, TASK, Scene, playing, replies


def looks(times: int) -> list[Step]:
    """Look at that many different files, so that nothing is repeated."""
    return [
        reply(calls=[("shell", {"command": f"echo {number}"})])
        for number in range(times)
    ]


def last_state(scene: Scene) -> AgentState:
    payload = scene.payloads("state_changed")[-1].payload
    assert isinstance(payload, StateChanged)
    return payload.state


def test_finish_ends_the_run_with_the_agents_words(tmp_path: Path) -> None:
    with playing(tmp_path, [*looks(1), FINISH]) as scene:
        ending = scene.run()
    assert (ending.kind, ending.reason) == (OutcomeKind.RESOLVED, "")
    assert ending.text == "Done."
    assert ending.finish is not None
    assert scene.model.unplayed == 0
    assert last_state(scene) is AgentState.FINISHED
    assert scene.run_log.state.iterations == 2
    assert scene.run_log.state.usage.tokens_in == 20


def test_the_first_request_holds_the_system_prompt_and_the_task(tmp_path: Path) -> None:
    with playing(tmp_path, [FINISH]) as scene:
        scene.run()
    [(system, task)] = scene.asked()
    assert "You are Patchwright" in str(system)
    assert task == UserText(text=TASK)


def test_reject_ends_the_run_as_refused(tmp_path: Path) -> None:
    declined = reply(calls=[("reject", {"reason": "It would remove the tests."})])
    with playing(tmp_path, [declined]) as scene:
        ending = scene.run()
    assert (ending.kind, ending.reason) == (OutcomeKind.REFUSED, "agent-declined")
    assert ending.text == "It would remove the tests."
    assert last_state(scene) is AgentState.REJECTED


def test_the_limit_of_steps_is_never_passed(tmp_path: Path) -> None:
    with playing(tmp_path, looks(5), limits=Limits(max_iterations=3)) as scene:
        ending = scene.run()
    assert (ending.kind, ending.reason) == (OutcomeKind.OVER_LIMIT, "iterations")
    assert ending.text == "The limit of 3 steps was reached."
    assert len(scene.model.requests) == 3


def test_the_limit_of_tokens_stops_the_next_call(tmp_path: Path) -> None:
    with playing(tmp_path, looks(5), limits=Limits(max_tokens=30)) as scene:
        ending = scene.run()
    assert (ending.kind, ending.reason) == (OutcomeKind.OVER_LIMIT, "tokens")
    assert len(scene.model.requests) == 2


def test_the_limit_of_time_stops_the_next_call(tmp_path: Path) -> None:
    clock = FakeClock()

    def ponder(request: ModelRequest) -> ModelReply:
        assert request.deadline_s == 120
        clock.advance(121)
        return reply(calls=[("shell", {"command": "true"})])

    limits = Limits(max_minutes=2)
    with playing(tmp_path, [ponder], limits=limits, clock=clock) as scene:
        ending = scene.run()
    assert (ending.kind, ending.reason) == (OutcomeKind.TIMED_OUT, "time")
    assert ending.text == "The limit of 2 minutes was reached."


def test_a_call_may_take_no_longer_than_the_run_has_left(tmp_path: Path) -> None:
    clock = FakeClock()

    def ponder(_request: ModelRequest) -> ModelReply:
        clock.advance(45)
        return reply(calls=[("shell", {"command": "true"})])

    limits = Limits(max_minutes=1)
    with playing(tmp_path, [ponder, FINISH], limits=limits, clock=clock) as scene:
        scene.run()
    assert [request.deadline_s for request in scene.model.requests] == [60, 15]


def test_a_command_is_waited_for_no_longer_than_the_run_has_left(
    tmp_path: Path,
) -> None:
    clock = FakeClock()

    def ponder(_request: ModelRequest) -> ModelReply:
        clock.advance(45)
        return reply(calls=[("shell", {"command": "true", "timeout_s": 3600})])

    limits = Limits(max_minutes=1)
    with playing(tmp_path, [ponder, FINISH], limits=limits, clock=clock) as scene:
        scene.run()
    [command] = scene.sandbox.ran
    assert isinstance(command, RunCommand)
    assert command.timeout_s == 15


def test_s66_the_call_that_could_pass_the_budget_is_not_made(tmp_path: Path) -> None:
    dear = [
        reply(calls=[("shell", {"command": f"echo {n}"})], cost_usd=0.3)
        for n in range(5)
    ]
    run_budget = RunBudget(1.0, refuse_unknown=False)
    with playing(tmp_path, dear, run_budget=run_budget, ceiling=0.3) as scene:
        ending = scene.run()
    assert (ending.kind, ending.reason) == (OutcomeKind.OVER_BUDGET, "budget")
    assert ending.text == (
        "$0.90 of $1.00 is spent, and the next model call could cost up to $0.30."
    )
    assert len(scene.model.requests) == 3
    assert scene.run_log.state.usage.cost_usd == pytest.approx(0.9)


def test_p4_an_unknown_price_is_refused_where_the_settings_say_so(
    tmp_path: Path,
) -> None:
    run_budget = RunBudget(1.0, refuse_unknown=True)
    with playing(tmp_path, [FINISH], run_budget=run_budget, ceiling=None) as scene:
        ending = scene.run()
    assert ending.kind is OutcomeKind.OVER_BUDGET
    assert "price is not known" in ending.text
    assert scene.model.requests == []


def test_p4_an_unknown_price_is_not_zero_and_the_token_limit_holds(
    tmp_path: Path,
) -> None:
    steps = [
        reply(calls=[("shell", {"command": f"echo {n}"})], cost_usd=None)
        for n in range(5)
    ]
    limits = Limits(max_tokens=45)
    with playing(tmp_path, steps, limits=limits, ceiling=None) as scene:
        ending = scene.run()
    assert (ending.kind, ending.reason) == (OutcomeKind.OVER_LIMIT, "tokens")
    assert scene.run_log.state.usage.cost_usd is None


def test_h7_a_call_is_told_how_many_tokens_are_left(tmp_path: Path) -> None:
    limits = Limits(max_tokens=100)
    with playing(tmp_path, [*looks(2), FINISH], limits=limits) as scene:
        scene.run()
    # Each reply of the script counts fifteen.
    assert [one.tokens_left for one in scene.model.requests] == [100, 85, 70]


def test_h7_a_call_without_room_for_its_tokens_ends_the_run_by_that_name(
    tmp_path: Path,
) -> None:
    spent = Usage(cost_usd=0.1, tokens_in=7)
    steps = [*looks(1), TokenLimitError("No room.", spent)]
    with playing(tmp_path, steps, limits=Limits(max_tokens=1000)) as scene:
        ending = scene.run()
    assert (ending.kind, ending.reason) == (OutcomeKind.OVER_LIMIT, "tokens")
    assert "1,000 tokens" in ending.text
    assert scene.run_log.state.usage.tokens_in == 17


def test_h5_what_the_tries_took_before_the_money_ended_is_written_down(
    tmp_path: Path,
) -> None:
    spent = Usage(cost_usd=0.4, tokens_in=700)
    with playing(tmp_path, [OverBudgetError("Enough.", spent)]) as scene:
        ending = scene.run()
    assert (ending.kind, ending.text) == (OutcomeKind.OVER_BUDGET, "Enough.")
    assert scene.run_log.state.usage == spent
    assert replies(scene.log)[-1].stop_reason == "budget"


def test_s67_a_model_that_costs_nothing_is_run(tmp_path: Path) -> None:
    run_budget = RunBudget(0.0, refuse_unknown=True)
    with playing(
        tmp_path, [*looks(2), FINISH], run_budget=run_budget, ceiling=0.0
    ) as scene:
        assert scene.run().kind is OutcomeKind.RESOLVED
    assert scene.run_log.state.usage.cost_usd == 0.0


@pytest.mark.parametrize(
    "error",
    [
        ModelCredentialError,
        ModelRequestError,
        ModelRateLimitError,
        ModelUnavailableError,
        ModelDeclinedError,
        EmptyReplyError,
    ],
)
def test_a_failed_model_call_ends_the_run_by_name_and_is_billed(
    error: type[ModelError], tmp_path: Path
) -> None:
    spent = Usage(cost_usd=0.02, tokens_in=700)
    with playing(tmp_path, [*looks(1), error("It failed.", spent)]) as scene:
        ending = scene.run()
    assert (ending.kind, ending.reason) == (OutcomeKind.FAILED, error.reason)
    assert ending.text == "It failed."
    assert scene.run_log.state.usage.tokens_in == 710
    assert scene.run_log.state.usage.cost_usd == pytest.approx(0.02)
    assert replies(scene.log)[-1].stop_reason == error.reason
    assert last_state(scene) is AgentState.ERROR


def test_p4_a_failed_call_is_paid_from_the_purse(tmp_path: Path) -> None:
    run_budget = RunBudget(1.0, refuse_unknown=False)
    error = ModelDeclinedError("It declined.", Usage(cost_usd=0.4, tokens_in=700))
    with playing(tmp_path, [error], run_budget=run_budget) as scene:
        scene.run()
    run_budget.reserve(Usage(cost_usd=0.6))(Usage(cost_usd=0.6))
    with pytest.raises(OverBudgetError):
        run_budget.reserve(Usage(cost_usd=0.01))


def test_s64_an_agent_that_only_talks_ends_with_its_question(tmp_path: Path) -> None:
    steps = [reply("Shall I go on?"), reply("Really?"), reply("Which of the two?")]
    with playing(tmp_path, steps) as scene:
        ending = scene.run()
    assert (ending.kind, ending.reason) == (OutcomeKind.NEEDS_INPUT, "question")
    assert ending.text == "Which of the two?"
    assert last_state(scene) is AgentState.AWAITING_USER_INPUT
    told = [str(messages[-1]) for messages in scene.asked()[1:]]
    assert all("Nobody will answer" in text for text in told)
    assert len(told) == 2


def test_s64_a_tool_call_in_between_starts_the_count_anew(tmp_path: Path) -> None:
    steps = [reply("One."), reply("Two."), *looks(1), reply("Three."), FINISH]
    with playing(tmp_path, steps) as scene:
        assert scene.run().kind is OutcomeKind.RESOLVED


def test_s65_a_loop_is_warned_about_once_and_then_ends_the_run(tmp_path: Path) -> None:
    same = [reply(calls=[("shell", {"command": "cat lost.py"})])] * 10
    with playing(tmp_path, same) as scene:
        ending = scene.run()
    assert (ending.kind, ending.reason) == (OutcomeKind.STUCK, "repeated-step")
    assert ending.text == (
        "`shell cat lost.py` was repeated 4 times with the same result."
    )
    assert len(scene.model.requests) == 8
    assert len(scene.payloads("loop_detected")) == 1
    [warning] = [m for m in scene.asked()[4] if "4 times in a row" in str(m)]
    assert warning == scene.asked()[4][-1]
    assert last_state(scene) is AgentState.ERROR


def test_s65_an_agent_that_follows_the_warning_continues(tmp_path: Path) -> None:
    same: list[Step] = [reply(calls=[("shell", {"command": "cat lost.py"})])] * 4
    with playing(tmp_path, [*same, *looks(3), FINISH]) as scene:
        assert scene.run().kind is OutcomeKind.RESOLVED
