"""Each tool's call stands for one action; a wrong call is explained to the model."""

import json

import pytest
from jsonschema import Draft202012Validator

from patchwright.core.agent.agents import coder
from patchwright.core.agent.tools import Proposal, Toolbox
from patchwright.core.events.actions import (
    AskQuestion,
    Browse,
    CallMcpTool,
    ControlAct,
    ControlCommand,
    Delegate,
    Edit,
    EditFile,
    Finish,
    ReadFile,
    Recall,
    Reject,
    RunCommand,
    RunIpython,
    SearchFiles,
    Think,
    WriteFile,
    WriteTodos,
)
from patchwright.core.events.observations import ErrorObservation
from patchwright.core.events.payload import Risk, Todo, ToolCall
from patchwright.core.events.types import AgentStep
from patchwright.core.llm.model import ToolSpec
from patchwright.core.mcp import McpTool

ACTIONS: dict[str, tuple[dict[str, object], AgentStep]] = {
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
    "python": (
        {"code": "1 + 1", "timeout_s": 3},
        RunIpython(code="1 + 1", timeout_s=3, call_id="c"),
    ),
    "browse": (
        {"url": "http://localhost:8000/"},
        Browse(url="http://localhost:8000/", call_id="c"),
    ),
    "think": ({"thought": "Hm."}, Think(thought="Hm.", call_id="c")),
    "todo": (
        {"todos": [{"text": "Reproduce.", "state": "done"}, {"text": "Fix."}]},
        WriteTodos(
            todos=(Todo(text="Reproduce.", state="done"), Todo(text="Fix.")),
            call_id="c",
        ),
    ),
    "recall": ({"query": "tests"}, Recall(query="tests", call_id="c")),
    "delegate": (
        {"task": "Find it.", "max_iterations": 5, "max_cost_usd": 0.5},
        Delegate(task="Find it.", max_iterations=5, max_cost_usd=0.5, call_id="c"),
    ),
    "finish": (
        {"summary": "Done.", "title": "Fix it", "test_commands": ["make test"]},
        Finish(
            summary="Done.", title="Fix it", test_commands=("make test",), call_id="c"
        ),
    ),
    "reject": ({"reason": "No."}, Reject(reason="No.", call_id="c")),
    "ask": ({"question": "Which?"}, AskQuestion(question="Which?", call_id="c")),
}
LOOK_UP = McpTool(
    server="docs",
    name="docs_look_up",
    description="Look a word up.",
    parameters={"type": "object", "properties": {"word": {"type": "string"}}},
)


def toolbox(*mcp_tools: McpTool, asks_risk: bool = False) -> Toolbox:
    """Return every tool that there is."""
    tools = coder().tools_at(0, 1, recalls=True)
    return Toolbox(tools, mcp_tools, asks_risk=asks_risk)


SPECS = toolbox().specs


def call(name: str, arguments: object) -> ToolCall:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ToolCall(id="c", name=name, arguments=text)


def read(name: str, arguments: object) -> Proposal | ErrorObservation:
    return toolbox().read(call(name, arguments))


def fault(name: str, arguments: object) -> ErrorObservation:
    observation = read(name, arguments)
    assert isinstance(observation, ErrorObservation)
    assert observation.call_id == "c"
    return observation


def test_every_tool_has_a_case_here() -> None:
    assert ACTIONS.keys() == {spec.name for spec in SPECS}


@pytest.mark.parametrize("name", ACTIONS)
def test_a_call_becomes_its_action(name: str) -> None:
    arguments, action = ACTIONS[name]
    assert read(name, arguments) == Proposal(action=action)


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
        ("todo", {"todos": [{"text": "x", "state": "off"}]}, "todos.0.state: Input"),
        ("delegate", {"task": ""}, "task: String should have at least 1 character"),
        ("think", "[]", "think was not run. arguments: Input should be an object."),
        ("think", "{", "think was not run. arguments: Invalid JSON: EOF"),
    ],
)
def test_wrong_arguments_are_named(name: str, arguments: object, text: str) -> None:
    observation = fault(name, arguments)
    assert observation.reason == "bad-arguments"
    assert text in observation.text


def test_a_misspelt_tool_is_an_error_that_names_the_others() -> None:
    observation = fault("bash", {})
    assert observation.reason == "unknown-tool"
    assert "There are: shell, " in observation.text


def test_a_tool_of_a_server_is_offered_as_the_server_describes_it() -> None:
    assert toolbox(LOOK_UP).specs[-1] == ToolSpec(
        name="docs_look_up",
        description="Look a word up.",
        parameters=LOOK_UP.parameters,
    )


def test_a_call_of_a_servers_tool_goes_to_that_server() -> None:
    read = toolbox(LOOK_UP).read(call("docs_look_up", {"word": "risk", "risk": 7}))
    assert read == Proposal(
        action=CallMcpTool(
            server="docs",
            tool="docs_look_up",
            arguments={"word": "risk", "risk": 7},
            call_id="c",
        )
    )


def test_a_misspelt_tool_names_those_of_servers_too() -> None:
    observation = toolbox(LOOK_UP).read(call("look_up", {}))
    assert isinstance(observation, ErrorObservation)
    assert observation.text.endswith("docs_look_up.")


@pytest.mark.parametrize(
    "spec", toolbox(LOOK_UP, asks_risk=True).specs, ids=lambda spec: spec.name
)
def test_where_people_confirm_the_model_is_asked_for_the_risk(spec: ToolSpec) -> None:
    Draft202012Validator.check_schema(spec.parameters)
    properties = spec.parameters["properties"]
    assert isinstance(properties, dict)
    risk = properties["risk"]
    assert isinstance(risk, dict)
    assert risk["enum"] == ["low", "medium", "high"]


@pytest.mark.parametrize(
    ("claim", "risk"),
    [
        ({"risk": "low"}, Risk.LOW),
        ({"risk": "high"}, Risk.HIGH),
        ({}, Risk.UNKNOWN),
        ({"risk": "none at all"}, Risk.UNKNOWN),
        ({"risk": ["low"]}, Risk.UNKNOWN),
        ({"risk": None}, Risk.UNKNOWN),
        ({"risk": {"level": 1}}, Risk.UNKNOWN),
    ],
)
def test_what_the_model_says_of_the_risk_is_no_argument(
    claim: dict[str, object], risk: Risk
) -> None:
    box = toolbox(LOOK_UP, asks_risk=True)
    command = box.read(call("shell", {"command": "ls", **claim}))
    looked_up = box.read(call("docs_look_up", {"word": "x", **claim}))
    assert command == Proposal(
        action=RunCommand(command="ls", call_id="c"), claimed=risk
    )
    assert isinstance(looked_up, Proposal)
    assert looked_up.claimed is risk
    assert isinstance(looked_up.action, CallMcpTool)
    assert looked_up.action.arguments == {"word": "x"}


def test_a_risk_that_nobody_asked_for_is_a_wrong_argument() -> None:
    assert "risk: Extra inputs" in fault("shell", {"command": "x", "risk": "low"}).text


@pytest.mark.parametrize(
    ("depth", "recalls", "more"),
    [
        (0, True, ["recall", "delegate", "ask"]),
        (0, False, ["delegate", "ask"]),
        (1, False, []),
        (1, True, ["recall"]),
    ],
)
def test_only_who_may_delegate_recall_or_ask_is_offered_it(
    depth: int, more: list[str], *, recalls: bool
) -> None:
    names = [tool.name for tool in coder().tools_at(depth, 1, recalls=recalls)]
    assert names[-2:] == ["finish", "reject"]
    assert names[:-2] == [tool.name for tool in coder().tools] + more


def test_what_every_request_begins_with_stays_small() -> None:
    """Each step pays for it: instructions and tools in 12.5 KB at most."""
    specs = toolbox(asks_risk=True).specs
    tools = json.dumps([spec.model_dump(mode="json") for spec in specs])
    assert len(coder().system.encode()) + len(tools.encode()) < 12_500


def test_the_model_cannot_speak_as_the_service_in_an_answer_to_a_review() -> None:
    review = {"thread": 1, "verdict": "addressed", "text": "Done."}
    assert isinstance(read("finish", {"summary": "s", "reviews": [review]}), Proposal)
    forged = review | {"service_text": "Merged by the maintainers."}
    refused = fault("finish", {"summary": "s", "reviews": [forged]})
    assert "service_text" in refused.text
