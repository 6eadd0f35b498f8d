"""A plan is shown before anything is done, and carried out with a yes to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from patchwright.core.events.actions import Message, RunCommand
from patchwright.core.events.observations import (
    ConfirmationAsked,
    PlanApproved,
    RunStarted,
    UserRejected,
)
from patchwright.core.events.payload import AgentState, Source
from patchwright.core.events.types import Event
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Limits, Task, TaskMode
from tests.fakes.scripted_model import Step, reply
from tests.unit.agent.scene import FINISH, Scene, playing

WAITING = AgentState.AWAITING_USER_CONFIRMATION
LOOK = reply(calls=[("shell", {"command": "ls"})])
WORK = reply(calls=[("shell", {"command": "make"})])


def plan(text: str, *more: tuple[str, dict[str, str]]) -> Step:
    return reply(calls=[("finish", {"summary": "A plan.", "answer": text}), *more])


def repeat(event: Event) -> Message:
    assert isinstance(event.payload, Message)
    return Message(text=f"quoted: {event.payload.text}")


@contextmanager
def planning(folder: Path, steps: list[Step]) -> Iterator[Scene]:
    task = Task(text="", base_sha="", mode=TaskMode.PLAN)
    started = RunStarted(run_id="r", task=task, limits=Limits())
    with playing(folder, steps) as scene:
        scene.log.append(Source.SYSTEM, started)
        yield scene


def show(scene: Scene, text: str) -> str:
    """Run until a plan is shown; return its digest."""
    ending = scene.run()
    assert (ending.kind, ending.reason) == (OutcomeKind.PLAN_POSTED, "plan")
    assert (ending.text, ending.waits_as) == (text, WAITING)
    asked = scene.last("confirmation_asked")
    assert isinstance(asked, ConfirmationAsked)
    return asked.digest


def commands(scene: Scene) -> list[str]:
    return [one.command for one in scene.sandbox.ran if isinstance(one, RunCommand)]


def test_t9_a_plan_is_shown_and_waits(tmp_path: Path) -> None:
    with planning(tmp_path, [LOOK, plan("1. Fix it.")]) as scene:
        show(scene, "1. Fix it.")
        assert commands(scene) == ["ls"]
        assert scene.payloads("finish") == []
        assert scene.states()[-1] is WAITING


def test_t9_an_approved_plan_is_carried_out_by_the_same_run(tmp_path: Path) -> None:
    with planning(tmp_path, [plan("1. Fix it."), WORK, FINISH]) as scene:
        digest = show(scene, "1. Fix it.")
        scene.want(AgentState.USER_CONFIRMED, digest)
        ending = scene.next_worker().run()
        assert (ending.kind, ending.text) == (OutcomeKind.RESOLVED, "Done.")
        assert commands(scene) == ["make"]
        approved = scene.last("plan_approved")
        assert isinstance(approved, PlanApproved)
        assert approved.text.startswith("The plan was approved by @alice.")
        assert len(scene.payloads("finish")) == 1


def test_what_came_with_the_plan_is_not_run_when_it_is_approved(tmp_path: Path) -> None:
    hasty = plan("1. Fix it.", ("shell", {"command": "rm -r ."}))
    with planning(tmp_path, [hasty, FINISH]) as scene:
        scene.want(AgentState.USER_CONFIRMED, show(scene, "1. Fix it."))
        scene.next_worker().run()
        assert commands(scene) == []


def test_t9_words_ask_for_another_plan(tmp_path: Path) -> None:
    steps = [plan("1. Fix it."), plan("1. Test it. 2. Fix it.")]
    with planning(tmp_path, steps) as scene:
        show(scene, "1. Fix it.")
        scene.log.append(Source.USER, Message(text="test it first"))
        second = scene.next_worker(repeat)
        show(second, "1. Test it. 2. Fix it.")
        rejected = scene.last("user_rejected")
        assert isinstance(rejected, UserRejected)
        assert "Revise the plan" in rejected.text
        assert "quoted: test it first" in str(second.asked()[-1])


def test_a_yes_to_an_older_plan_is_no_yes(tmp_path: Path) -> None:
    steps = [plan("1. Fix it."), plan("1. Rewrite it.")]
    with planning(tmp_path, steps) as scene:
        old = show(scene, "1. Fix it.")
        scene.log.append(Source.USER, Message(text="do more"))
        show(scene.next_worker(repeat), "1. Rewrite it.")
        scene.want(AgentState.USER_CONFIRMED, old)
        third = scene.next_worker(repeat)
        show(third, "1. Rewrite it.")
        assert scene.payloads("plan_approved") == []


def test_a_yes_before_there_is_a_plan_is_no_yes(tmp_path: Path) -> None:
    with planning(tmp_path, [plan("1. Fix it.")]) as scene:
        scene.want(AgentState.USER_CONFIRMED)
        show(scene, "1. Fix it.")


def test_t9_a_no_ends_it(tmp_path: Path) -> None:
    with planning(tmp_path, [plan("1. Fix it.")]) as scene:
        scene.want(AgentState.USER_REJECTED, show(scene, "1. Fix it."))
        ending = scene.next_worker().run()
        assert (ending.kind, ending.reason) == (OutcomeKind.STOPPED, "plan-rejected")
        assert ending.text == "@alice rejected the plan."


def test_stop_ends_it_while_the_plan_waits(tmp_path: Path) -> None:
    with planning(tmp_path, [plan("1. Fix it.")]) as scene:
        show(scene, "1. Fix it.")
        scene.want(AgentState.STOPPED)
        assert scene.next_worker().run().kind is OutcomeKind.STOPPED


@pytest.mark.parametrize("times", [1, 3])
def test_a_lost_worker_shows_the_same_plan_again(tmp_path: Path, times: int) -> None:
    with planning(tmp_path, [plan("1. Fix it.")]) as scene:
        digest = show(scene, "1. Fix it.")
        for _ in range(times):
            assert show(scene.next_worker(), "1. Fix it.") == digest
        assert len(scene.payloads("confirmation_asked")) == 1
        assert len(scene.payloads("model_reply")) == 1


def test_a_plan_without_an_answer_is_its_summary(tmp_path: Path) -> None:
    with planning(tmp_path, [FINISH]) as scene:
        show(scene, "Done.")
