"""Each action is judged by what it would touch."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.agent.analyzers import RuleAnalyzer
from patchwright.core.events.actions import (
    AgentAction,
    Browse,
    CallMcpTool,
    Condense,
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
from patchwright.core.events.payload import Risk
from patchwright.core.security.hosts import HostKind, host_of, kind_of_host
from patchwright.core.security.paths import judge_delete, judge_read, judge_write


def _edit(path: str) -> EditFile:
    return EditFile(path=path, edits=(Edit(old="a", new="b"),))


def _tool(**arguments: str) -> CallMcpTool:
    return CallMcpTool(server="files", tool="read", arguments={"deep": [arguments]})


LOW: list[AgentAction] = [
    RunCommand(command="pytest -q"),
    ControlCommand(handle="h", act=ControlAct.POLL),
    ControlCommand(handle="h", act=ControlAct.KILL),
    RunIpython(code="1 + 1"),
    ReadFile(path="src/a.py"),
    ReadFile(path="/usr/lib/python3/os.py"),
    WriteFile(path="src/a.py", content="$(rm -rf /) curl a | sh"),
    WriteFile(path="/workspace/context/notes", content=""),
    WriteFile(path="/tmp/x", content=""),
    _edit("./docs/../a.md"),
    SearchFiles(pattern="/etc/shadow"),
    Browse(url="http://localhost:8000/a"),
    Browse(url="http://[::1]:8000/"),
    Delegate(task="rm -rf /"),
    Recall(query="~/.ssh"),
    Condense(),
    Think(thought="sudo rm -rf /"),
    WriteTodos(todos=()),
    Finish(summary="$(rm -rf /)", title="`rm -rf /`"),
    Reject(reason="x"),
]
MEDIUM: list[AgentAction] = [
    RunCommand(command="pip install a"),
    ControlCommand(handle="h", act=ControlAct.WRITE, text="yes\n"),
    RunIpython(code="exec(code)"),
    WriteFile(path=".github/workflows/ci.yml", content=""),
    _edit("sub/.gitlab-ci.yml"),
    Browse(url="https://a.example/"),
    Browse(url="http://["),
    _tool(path="README.md"),
    AgentAction(),
]
HIGH: list[AgentAction] = [
    RunCommand(command="git push"),
    RunCommand(command="sh", stdin="rm -rf /"),
    ControlCommand(handle="h", act=ControlAct.WRITE, text="rm -rf /\n"),
    RunIpython(code="import os; os.system('rm -rf /')"),
    ReadFile(path="~/.ssh/id_rsa"),
    ReadFile(path="/proc/1/environ"),
    SearchFiles(pattern="key", path="~/.aws"),
    WriteFile(path=".git/hooks/pre-commit", content=""),
    WriteFile(path="../../etc/cron.d/x", content=""),
    WriteFile(path="~/.bashrc", content=""),
    WriteFile(path="/usr/bin/python3", content=""),
    WriteFile(path="/dev/sda", content=""),
    _edit(".git/config"),
    Browse(url="http://169.254.169.254/latest/"),
    Browse(url="file:///etc/shadow"),
    Browse(url="file:///%65tc/shadow"),
    _tool(path="~/.ssh/id_rsa"),
    _tool(url="http://metadata.google.internal/"),
]


@pytest.mark.parametrize(
    ("risk", "actions"), [(Risk.LOW, LOW), (Risk.MEDIUM, MEDIUM), (Risk.HIGH, HIGH)]
)
def test_each_action_has_its_risk(risk: Risk, actions: list[AgentAction]) -> None:
    judged = [RuleAnalyzer().judge(action, Risk.UNKNOWN).risk for action in actions]
    assert list(zip(actions, judged, strict=True)) == [(one, risk) for one in actions]


def test_what_is_not_low_has_a_reason() -> None:
    for action in MEDIUM + HIGH:
        assert RuleAnalyzer().judge(action, Risk.LOW).why.endswith(".")


def test_a_tool_that_only_looks_is_harmless() -> None:
    analyzer = RuleAnalyzer(lambda server, tool: (server, tool) == ("files", "read"))
    assert analyzer.judge(_tool(path="README.md"), Risk.UNKNOWN).risk is Risk.LOW
    assert analyzer.judge(_tool(path="~/.ssh"), Risk.UNKNOWN).risk is Risk.HIGH


def test_s84_what_steers_the_ci_is_not_changed_unnoticed() -> None:
    for path in (".github/workflows/a.yml", "Jenkinsfile", ".circleci/config.yml"):
        assert judge_write(path).risk is Risk.MEDIUM
        assert judge_delete(path).risk is Risk.MEDIUM
        assert judge_read(path).risk is Risk.LOW


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://127.0.0.1:8000/a", HostKind.OWN),
        ("localhost:3000", HostKind.OWN),
        ("http://a.localhost/", HostKind.OWN),
        ("http://0x7f.1/", HostKind.OWN),
        ("http://0.0.0.0/", HostKind.OWN),
        ("http://169.254.169.254/", HostKind.METADATA),
        ("http://0251.0376.0251.0376/", HostKind.METADATA),
        ("http://[fd00:ec2::254]/", HostKind.METADATA),
        ("http://[::ffff:a9fe:a9fe]/", HostKind.METADATA),
        ("http://user@METADATA.google.internal./", HostKind.METADATA),
        ("http://100.100.100.200/", HostKind.METADATA),
        ("https://a.example/127.0.0.1", HostKind.OTHER),
        ("https://127.0.0.1@a.example/", HostKind.OTHER),
        ("https://localhost.a.example/", HostKind.OTHER),
        ("http://10.0.0.1/", HostKind.OTHER),
        ("http://0899/", HostKind.OTHER),
        ("http://4294967296/", HostKind.OTHER),
    ],
)
def test_an_address_is_known_however_it_is_spelled(url: str, kind: HostKind) -> None:
    assert kind_of_host(host_of(url)) is kind


PATHS = st.lists(
    st.sampled_from(
        ["/", ".", "..", "~", "*", "?", "[", "a", ".git", "etc", "\0", " "]
    ),
    max_size=8,
).map("".join)


@given(path=PATHS | st.text(max_size=30), url=st.text(max_size=30))
def test_any_path_and_address_is_judged(path: str, url: str) -> None:
    actions = (
        ReadFile(path=path),
        WriteFile(path=path, content=""),
        Browse(url=url),
        _tool(path=path, url=url),
    )
    for action in actions:
        assert RuleAnalyzer().judge(action, Risk.UNKNOWN).risk in set(Risk)
    assert judge_delete(path).risk in set(Risk)
