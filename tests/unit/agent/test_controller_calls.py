"""Every tool call of a reply gets exactly one result, whatever becomes of it."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from patchwright.core.events.actions import RunCommand
from patchwright.core.events.observations import CommandOutput, ErrorObservation, Null
from patchwright.core.events.payload import Risk, Source, ToolCall
from patchwright.core.llm.model import AssistantTurn, ChatMessage, ToolResult
from patchwright.core.types.errors import RuntimeLostError
from patchwright.core.types.outcome_kind import OutcomeKind
from tests.fakes.scripted_model import Step, reply
from tests.unit.agent.scene import FINISH, Scene, playing

Calls = list[tuple[str, Mapping[str, JsonValue]]]


def run(folder: Path, *steps: Step) -> Scene:
    with playing(folder, [*steps, FINISH]) as scene:
        scene.run()
    return scene


def error(scene: Scene, call_id: str) -> ErrorObservation:
    [only] = scene.results(call_id)
    assert isinstance(only, ErrorObservation)
    return only


@pytest.mark.parametrize("text", ["{}", '{"command": "echo hello"}'])
def test_s60_a_call_with_broken_arguments_is_never_run(
    text: str, tmp_path: Path
) -> None:
    broken = reply(calls=[("shell", {})]).replace(
        tool_calls=(ToolCall(id="call_1", name="shell", arguments=text),),
        malformed={"call_1": "They end in the middle."},
    )
    scene = run(tmp_path, broken)
    assert scene.sandbox.ran == []
    assert error(scene, "call_1").text == (
        "shell was not run: its arguments are broken. They end in the middle."
    )
    assert scene.asked()[1][-1] == ToolResult(
        call_id="call_1", text=error(scene, "call_1").text
    )


def test_a_tool_that_does_not_exist_is_named_with_those_that_do(tmp_path: Path) -> None:
    scene = run(tmp_path, reply(calls=[("deploy", {})]))
    assert error(scene, "call_1").text == (
        "There is no tool 'deploy'. There are: shell, shell_control, read, write, "
        "edit, search, python, browse, think, todo, ask, finish, reject."
    )


def test_wrong_arguments_are_explained_and_not_run(tmp_path: Path) -> None:
    scene = run(tmp_path, reply(calls=[("read", {"path": "a", "lines": 3})]))
    assert scene.sandbox.ran == []
    assert error(scene, "call_1").text == (
        "read was not run. lines: Extra inputs are not permitted."
    )


def test_calls_of_one_reply_run_in_order(tmp_path: Path) -> None:
    calls: Calls = [
        ("write", {"path": "a.txt", "content": "new"}),
        ("shell", {"command": "cat a.txt"}),
    ]
    scene = run(tmp_path, reply(calls=calls))
    [output] = scene.results("call_2")
    assert isinstance(output, CommandOutput)
    assert output.output == "new"


def test_calls_after_finish_are_not_run_and_get_their_result(tmp_path: Path) -> None:
    calls: Calls = [
        ("finish", {"summary": "Done."}),
        ("shell", {"command": "echo more"}),
        ("think", {"thought": "Hm."}),
    ]
    with playing(tmp_path, [reply(calls=calls)]) as scene:
        ending = scene.run()
    assert ending.kind is OutcomeKind.RESOLVED
    assert scene.sandbox.ran == []
    assert scene.results("call_1") == [Null(call_id="call_1")]
    for call_id in ("call_2", "call_3"):
        assert error(scene, call_id).text == "Not run: the run had ended before it."


def test_an_action_is_in_the_log_before_its_result_and_says_why(tmp_path: Path) -> None:
    scene = run(tmp_path, reply(calls=[("shell", {"command": "echo hello"})]))
    [action] = scene.payloads("run_command")
    [output] = scene.payloads("command_output")
    [first_reply, _] = scene.payloads("model_reply")
    assert action.payload == RunCommand(
        command="echo hello", call_id="call_1", risk=Risk.LOW
    )
    assert (action.source, action.cause) == (Source.AGENT, first_reply.id)
    assert (output.source, output.cause) == (Source.ENVIRONMENT, action.id)


def test_a_lost_sandbox_is_told_to_the_caller(tmp_path: Path) -> None:
    steps = [reply(calls=[("shell", {"command": "echo hello"})])]
    with playing(tmp_path, steps) as scene:
        scene.sandbox.close()
        with pytest.raises(RuntimeLostError):
            scene.run()


CALLS = st.lists(
    st.sampled_from(
        [
            ("shell", {"command": "echo hello"}),
            ("shell", {"command": "cat nothing"}),
            ("read", {"path": "missing"}),
            ("think", {"thought": "So."}),
            ("edit", {"wrong": True}),
            ("no_such_tool", {}),
            ("finish", {"summary": "Done."}),
            ("reject", {"reason": "No."}),
        ]
    ),
    min_size=1,
    max_size=5,
)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(batches=st.lists(CALLS, min_size=1, max_size=4), data=st.data())
def test_every_call_has_exactly_one_result(
    batches: list[Calls], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    steps: list[Step] = []
    for calls in batches:
        ids = [f"call_{number}" for number in range(1, len(calls) + 1)]
        broken = data.draw(st.sets(st.sampled_from(ids)))
        steps.append(reply(calls=calls, malformed=dict.fromkeys(broken, "Broken.")))
    with playing(tmp_path_factory.mktemp("run"), [*steps, FINISH]) as scene:
        scene.run()
        for event in scene.payloads("model_reply"):
            ids = [call.id for call in getattr(event.payload, "tool_calls", ())]
            later = scene.log.read(event.id + 1)
            until = next((e.id for e in later if e.payload.kind == "model_reply"), None)
            got = [
                e.payload.call_id
                for e in scene.log.read(event.id + 1, until)
                if e.source is Source.ENVIRONMENT
            ]
            assert got == ids
    for messages in scene.asked():
        assert _answered(messages)


def _answered(messages: tuple[ChatMessage, ...]) -> bool:
    """Tell whether each turn's calls are followed by their results, in order."""
    at = 0
    while at < len(messages):
        message = messages[at]
        at += 1
        if isinstance(message, AssistantTurn):
            for call in message.tool_calls:
                result = messages[at]
                if not isinstance(result, ToolResult) or result.call_id != call.id:
                    return False
                at += 1
    return True
