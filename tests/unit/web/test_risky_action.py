"""A risky action is shown whole before anybody confirms it."""

from patchwright.core.events.actions import RunCommand, WriteFile
from patchwright.core.events.observations import ConfirmationAsked
from patchwright.core.events.payload import Risk
from patchwright.core.events.types import AgentStep
from patchwright.workers.web.run_page.actions import RiskyAction, risky_action


def shown(action: AgentStep) -> RiskyAction:
    asked = ConfirmationAsked(
        action=action.model_dump(mode="json"),
        digest="0123456789abcdef",
        risk=Risk.HIGH,
        why=("It deletes files.",),
    )
    return risky_action(asked)


def test_a_command_is_shown_as_it_is_run() -> None:
    assert shown(RunCommand(command="rm -rf ~/.ssh", timeout_s=5)) == RiskyAction(
        name="run command",
        risk="high",
        why=("It deletes files.",),
        text='rm -rf ~/.ssh\n{\n  "timeout_s": 5\n}'.replace("5", "5.0"),
        digest="0123456789ab",
    )


def test_no_part_of_a_long_action_is_left_out() -> None:
    action = WriteFile(path="run.sh", content="x" * 50_000 + "; rm -rf /")
    assert "x; rm -rf /" in shown(action).text


def test_characters_that_nobody_sees_are_counted() -> None:
    found = shown(RunCommand(command="echo ok\u202e # rm\u200b"))
    assert (found.text, found.hidden) == ("echo ok # rm", 2)


def test_an_action_of_another_version_is_shown_as_it_is_stored() -> None:
    asked = ConfirmationAsked(
        action={"kind": "launch", "rocket": 1}, digest="d", risk=Risk.HIGH
    )
    assert risky_action(asked).text == '{\n  "kind": "launch",\n  "rocket": 1\n}'
