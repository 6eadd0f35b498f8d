"""Each tool's call stands for one action; a wrong call is explained to the model."""

import json

import pytest
from jsonschema import Draft202012Validator

from patchwright.core.agent.tools import SPECS, read_call
from patchwright.core.events.types import (
    Action,
    ControlAct,
    ControlCommand,
    Edit,
    EditFile,
    ErrorObservation,
    Finish,
    ReadFile,
    Reject,
    RunCommand,
    SearchFiles,
    Think,
    ToolCall,
    WriteFile,
)
from patchwright.core.llm.model import ToolSpec

ACTIONS: dict[str, tuple[dict[str, object], Action]] = {
    "shell": (
        {"command": "ls", "timeout_s": 5},
        RunCommand(command="ls", timeout_s=5, call_id="c"),
    ),
    "shell_control": (
        {"handle": "h1", "act": "write", "text": "y\n"},
        ControlCommand(handle="h1", act=ControlAct.WRITE, text="y\n", call_id="c"),
    ),
    "read": (
        {"path": "a.py", "start_line": 3, "end_line": 9},
        ReadFile(path="a.py", start_line=3, end_line=9, call_id="c"),
    ),
    "write": (
        {"path": "a.py", "content": "x"},
        WriteFile(path="a.py", content="x", call_id="c"),
    ),
    "edit": (
        {"path": "a.py", "edits": [{"old": "x", "new": "y", "occurrence": 2}]},
        EditFile(
            path="a.py", edits=(Edit(old="x", new="y", occurrence=2),), call_id="c"
        ),
    ),
    "search": (
        {"pattern": "def ", "glob": "*.py"},
        SearchFiles(pattern="def ", glob="*.py", call_id="c"),
    ),
    "think": ({"thought": "Hm."}, Think(thought="Hm.", call_id="c")),
    "finish": (
        {"summary": "Done.", "title": "Fix it", "test_commands": ["make test"]},
        Finish(
            summary="Done.", title="Fix it", test_commands=("make test",), call_id="c"
        ),
    ),
    "reject": ({"reason": "No."}, Reject(reason="No.", call_id="c")),
}


def read(name: str, arguments: object) -> Action | ErrorObservation:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return read_call(ToolCall(id="c", name=name, arguments=text))


def test_every_tool_has_a_case_here() -> None:
    assert ACTIONS.keys() == {spec.name for spec in SPECS}


@pytest.mark.parametrize("name", ACTIONS)
def test_a_call_becomes_its_action(name: str) -> None:
    arguments, action = ACTIONS[name]
    assert read(name, arguments) == action


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_the_schema_is_one_that_accepts_the_call(spec: ToolSpec) -> None:
    Draft202012Validator.check_schema(spec.parameters)
    validator = Draft202012Validator(spec.parameters)
    assert validator.is_valid(ACTIONS[spec.name][0])
    assert not validator.is_valid({**ACTIONS[spec.name][0], "colour": "red"})
    assert spec.parameters["type"] == "object"


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_the_schema_carries_no_titles_that_cost_tokens(spec: ToolSpec) -> None:
    without_finish_title = json.dumps(spec.parameters).replace('"title": {', "")
    assert '"title"' not in without_finish_title


def test_finish_has_a_title_to_fill_in() -> None:
    [finish] = [spec for spec in SPECS if spec.name == "finish"]
    properties = finish.parameters["properties"]
    assert isinstance(properties, dict)
    assert "title" in properties


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("shell", {}, "shell was not run. command: Field required."),
        ("shell", {"command": 7}, "command: Input should be a valid string."),
        (
            "shell",
            {"command": "x", "timeout_s": 0},
            "timeout_s: Input should be greate",
        ),
        ("read", {"path": "a", "start_line": 0}, "start_line: Input should be greater"),
        (
            "read",
            {"file": "a"},
            "path: Field required; file: Extra inputs are not perm",
        ),
        (
            "edit",
            {"path": "a", "edits": []},
            "edits: Tuple should have at least 1 item",
        ),
        ("edit", {"path": "a", "edits": [{"old": "x"}]}, "edits.0.new: Field required"),
        ("shell_control", {"handle": "h", "act": "stop"}, "'poll', 'write' or 'kill'"),
        ("think", "[]", "think was not run. arguments: Input should be an object."),
        ("think", "{", "think was not run. arguments: Invalid JSON: EOF"),
    ],
)
def test_wrong_arguments_are_named(name: str, arguments: object, text: str) -> None:
    observation = read(name, arguments)
    assert isinstance(observation, ErrorObservation)
    assert observation.reason == "bad-arguments"
    assert observation.call_id == "c"
    assert text in observation.text


def test_a_misspelt_tool_is_an_error_that_names_the_others() -> None:
    observation = read("bash", {})
    assert isinstance(observation, ErrorObservation)
    assert observation.reason == "unknown-tool"
    assert "There are: shell, " in observation.text
