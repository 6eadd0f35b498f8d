"""An action that waits is run with a yes to this very action, or not at all."""

from pathlib import Path

import pytest

from patchwright.core.events.actions import Message, RunCommand
from patchwright.core.events.observations import (
    ConfirmationAsked,
    StateChanged,
    UserRejected,
)
from patchwright.core.events.payload import AgentState, Risk, Source
from patchwright.core.events.types import Event
from patchwright.core.security.analyzer import ConfirmPolicy, digest_of
from patchwright.core.types.outcome_kind import OutcomeKind
from tests.fakes.scripted_model import Step, reply
from tests.unit.agent.scene import FINISH, Calm, Scene, playing

PUSH = reply(
    calls=[("shell", {"command": "echo push"}), ("shell", {"command": "true"})]
)
DIGEST = digest_of(RunCommand(command="echo push"))
WAITING = AgentState.AWAITING_USER_CONFIRMATION


def repeat(event: Event) -> Message:
    assert isinstance(event.payload, Message)
    return Message(text=f"quoted: {event.payload.text}")


def commands(scene: Scene) -> list[str]:
    return [one.command for one in scene.sandbox.ran if isinstance(one, RunCommand)]


def asked(scene: Scene) -> ConfirmationAsked:
    payload = scene.last("confirmation_asked")
    assert isinstance(payload, ConfirmationAsked)
    return payload


def ask(scene: Scene) -> ConfirmationAsked:
    """Run until a person is to decide."""
    ending = scene.run()
    assert (ending.reason, ending.waits_as) == ("confirmation", WAITING)
    return asked(scene)


@pytest.mark.parametrize(
    ("confirm", "risk", "waits"),
    [
        ("never", Risk.HIGH, False),
        ("risky", Risk.LOW, False),
        ("risky", Risk.MEDIUM, False),
        ("risky", Risk.HIGH, True),
        ("risky", Risk.UNKNOWN, True),
        ("always", Risk.LOW, True),
    ],
)
def test_the_policy_says_what_waits(
    confirm: ConfirmPolicy, risk: Risk, tmp_path: Path, *, waits: bool
) -> None:
    steps = [PUSH, FINISH]
    with playing(tmp_path, steps, confirm=confirm, analyzer=Calm(risk)) as scene:
        ending = scene.run()
    assert (ending.waits_as is WAITING) == waits
    assert (scene.sandbox.ran == []) == waits


def test_the_question_shows_action_risk_and_reasons(tmp_path: Path) -> None:
    analyzer = Calm(Risk.HIGH, "It pushes.")
    steps = [PUSH]
    with playing(tmp_path, steps, confirm="risky", analyzer=analyzer) as scene:
        ending = scene.run()
        question = asked(scene)
    assert ending.text == (
        "May this be done (`shell`, risk: high)? It pushes.\n\n"
        "```\necho push\n```\n\n"
        f"Its digest is `{DIGEST[:12]}`."
    )
    assert question.digest == DIGEST
    assert (question.risk, question.why) == (Risk.HIGH, ("It pushes.",))
    assert question.action["command"] == "echo push"


def test_thinking_and_finishing_are_nobodys_worry(tmp_path: Path) -> None:
    steps = [reply(calls=[("think", {"thought": "So."}), ("todo", {"todos": []})])]
    with playing(tmp_path, [*steps, FINISH], confirm="always") as scene:
        assert scene.run().kind is OutcomeKind.RESOLVED


def test_a_yes_runs_exactly_the_action_that_was_shown(tmp_path: Path) -> None:
    with playing(tmp_path, [PUSH, FINISH], confirm="always") as scene:
        ask(scene)
        scene.want(AgentState.USER_CONFIRMED, DIGEST)
        next_question = scene.next_worker().run()
        assert commands(scene) == ["echo push"]
        assert next_question.waits_as is WAITING
        assert asked(scene).digest == digest_of(RunCommand(command="true"))
        assert AgentState.USER_CONFIRMED in scene.states()


@pytest.mark.parametrize("digest", ["", "0" * 64, DIGEST[:12], DIGEST.upper()])
def test_a_yes_to_something_else_is_no_yes(digest: str, tmp_path: Path) -> None:
    with playing(tmp_path, [PUSH], confirm="always") as scene:
        ask(scene)
        scene.want(AgentState.USER_CONFIRMED, digest)
        assert scene.next_worker().run().waits_as is WAITING
    assert scene.sandbox.ran == []
    assert len(scene.payloads("confirmation_asked")) == 1


def test_a_no_is_told_to_the_model_and_the_run_goes_on(tmp_path: Path) -> None:
    single = reply(calls=[("shell", {"command": "echo push"})])
    with playing(tmp_path, [single, FINISH], confirm="always") as scene:
        ask(scene)
        scene.want(AgentState.USER_REJECTED, DIGEST)
        assert scene.next_worker().run().kind is OutcomeKind.RESOLVED
        [refused] = scene.results("call_1")
        assert isinstance(refused, UserRejected)
        assert refused.text == "Not run: @alice did not allow it."
    assert scene.sandbox.ran == []


def test_words_instead_of_a_yes_are_a_no(tmp_path: Path) -> None:
    single = reply(calls=[("shell", {"command": "echo push"})])
    with playing(tmp_path, [single, FINISH], confirm="always") as scene:
        ask(scene)
        scene.log.append(Source.USER, Message(text="NO"))
        assert scene.next_worker(repeat).run().kind is OutcomeKind.RESOLVED
        [refused] = scene.results("call_1")
        assert isinstance(refused, UserRejected)
        assert refused.text == "Not run: a person answered with a comment instead."
    assert scene.sandbox.ran == []
    assert "quoted: NO" in str(scene.asked()[-1])


def test_words_after_a_yes_take_it_back(tmp_path: Path) -> None:
    single = reply(calls=[("shell", {"command": "echo push"})])
    with playing(tmp_path, [single, FINISH], confirm="always") as scene:
        ask(scene)
        scene.want(AgentState.USER_CONFIRMED, DIGEST)
        scene.log.append(Source.USER, Message(text="Wait, no"))
        scene.next_worker(repeat).run()
    assert scene.sandbox.ran == []


def test_a_yes_from_before_the_question_answers_nothing(tmp_path: Path) -> None:
    single = reply(calls=[("shell", {"command": "echo push"})])
    with playing(tmp_path, [single, single], confirm="always") as scene:
        ask(scene)
        scene.want(AgentState.USER_CONFIRMED, DIGEST)
        scene.want(AgentState.USER_CONFIRMED, DIGEST)
        assert scene.next_worker().run().waits_as is WAITING
        assert scene.next_worker().run().waits_as is WAITING
    assert commands(scene) == ["echo push"]


def test_a_yes_outlives_the_worker_that_heard_it(tmp_path: Path) -> None:
    with playing(tmp_path, [PUSH, FINISH], confirm="always") as scene:
        ask(scene)
        scene.want(AgentState.USER_CONFIRMED, DIGEST)
        for state in (AgentState.LOADING, AgentState.RUNNING):
            scene.log.append(Source.SYSTEM, StateChanged(state=state))
        heard = StateChanged(state=AgentState.USER_CONFIRMED, reason="@alice")
        scene.log.append(Source.SYSTEM, heard)
        scene.next_worker().run()
    assert commands(scene) == ["echo push"]


def test_stop_while_a_person_is_to_decide_runs_nothing(tmp_path: Path) -> None:
    steps: list[Step] = [PUSH]
    with playing(tmp_path, steps, confirm="always") as scene:
        ask(scene)
        scene.want(AgentState.STOPPED)
        assert scene.next_worker().run().kind is OutcomeKind.STOPPED
        assert [len(scene.results(one)) for one in ("call_1", "call_2")] == [1, 1]
    assert scene.sandbox.ran == []


def test_the_action_of_a_delegate_waits_for_a_person_too(tmp_path: Path) -> None:
    delegating = reply(calls=[("delegate", {"task": "Push it."})])
    single = reply(calls=[("shell", {"command": "echo push"})])
    steps = [delegating, single, FINISH, FINISH]
    with playing(
        tmp_path,
        steps,
        confirm="risky",
        analyzer=Calm(Risk.HIGH, only="run_command"),
        max_delegate_depth=1,
    ) as scene:
        assert ask(scene).digest == DIGEST
        scene.want(AgentState.USER_CONFIRMED, DIGEST)
        assert scene.next_worker().run().kind is OutcomeKind.RESOLVED
    assert commands(scene) == ["echo push"]
