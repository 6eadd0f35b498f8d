"""What no summary may lose is remembered from the events."""

from datetime import UTC, datetime
from inspect import cleandoc

import pytest

from patchwright.core.condense.condenser import LastingFacts, is_test_command
from patchwright.core.events.actions import (
    ControlAct,
    ControlCommand,
    RunCommand,
    WriteTodos,
)
from patchwright.core.events.observations import CommandOutput, FileEdited
from patchwright.core.events.payload import Source, Todo
from patchwright.core.events.types import Event, Known

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


class Diary:
    """Makes events and folds each into the facts."""

    def __init__(self) -> None:
        self.facts = LastingFacts()
        self._last_id = 0

    def add(self, payload: Known, cause: int | None = None) -> int:
        self._last_id += 1
        event = Event(
            id=self._last_id,
            at=NOON,
            source=Source.AGENT,
            cause=cause,
            payload=payload,
        )
        self.facts.add(event)
        return self._last_id

    def run(self, command: str, exit_code: int, output: str = "") -> None:
        action_id = self.add(RunCommand(command=command))
        self.add(CommandOutput(exit_code=exit_code, output=output), action_id)

    def edit(self, path: str, diff: str = "") -> None:
        self.add(FileEdited(path=path, diff=diff))

    def plan(self, *todos: Todo, agent: str = "") -> None:
        self.add(WriteTodos(todos=todos, agent=agent))


def test_nothing_is_known_at_first() -> None:
    assert LastingFacts().text() == ""


def test_the_facts_are_told_in_full() -> None:
    diary = Diary()
    diary.edit("src/sum.py", "-1\n+2")
    diary.edit("tests/test_sum.py", "-a\n+b")
    diary.edit("src/sum.py")
    diary.run("python -m pytest -q", 1, "FAILED test_sum\nassert 1 == 2\n")
    diary.plan(
        Todo(text="look", state="done"),
        Todo(text="fix it", state="doing"),
        Todo(text="add\na line"),
    )
    assert diary.facts.text() == cleandoc("""
        Files written so far: tests/test_sum.py, src/sum.py
        The last test that failed (exit code 1): python -m pytest -q
            FAILED test_sum
            assert 1 == 2
        What is left of the plan:
        - [doing] fix it
        - [open] add a line
        The last diff:
            -a
            +b
        """)


def test_a_test_that_passes_later_is_no_longer_failing() -> None:
    diary = Diary()
    diary.run("pytest a", 1, "E")
    diary.run("pytest b", 0)
    assert "pytest a" in diary.facts.text()
    diary.run("pytest a", 0)
    assert diary.facts.text() == ""


def test_a_test_that_outlived_its_call_is_judged_when_it_ends() -> None:
    diary = Diary()
    action = diary.add(RunCommand(command="make test"))
    running = CommandOutput(exit_code=None, output="", still_running=True, handle="h1")
    diary.add(running, action)
    assert diary.facts.text() == ""
    poll = diary.add(ControlCommand(handle="h1", act=ControlAct.POLL))
    diary.add(CommandOutput(exit_code=2, output="boom", handle="h1"), poll)
    assert diary.facts.text() == cleandoc("""
        The last test that failed (exit code 2): make test
            boom
        """)


def test_the_diff_is_the_newest_one_shown() -> None:
    diary = Diary()
    diary.edit("a.py", "+old")
    diary.run("cd src && git --no-pager diff HEAD", 0, "+all of it\n")
    assert diary.facts.text().endswith("The last diff:\n    +all of it")
    diary.run("git diff", 0, "")
    assert diary.facts.text().endswith("The last diff:\n    +all of it")


def test_each_agent_has_its_own_plan() -> None:
    diary = Diary()
    diary.plan(Todo(text="the whole"))
    diary.plan(Todo(text="a part"), agent="7")
    assert diary.facts.text() == "What is left of the plan:\n- [open] the whole"
    assert diary.facts.text("7") == "What is left of the plan:\n- [open] a part"


def test_the_text_is_bounded() -> None:
    diary = Diary()
    for number in range(300):
        diary.edit(f"{number}/" + "p" * 1_000, "d" * 100_000)
    diary.run("pytest " + "a" * 10_000, 1, "e" * 100_000)
    diary.plan(*(Todo(text="t" * 1_000) for _ in range(200)))
    text = diary.facts.text()
    assert "and 260 more" in text
    assert len(text) < 12_000


@pytest.mark.parametrize(
    "command",
    [
        "pytest",
        "python3 -m pytest -q tests/a.py::test_b",
        "cd app && npm run test -- --watch=false",
        "npm test",
        "yarn -s test",
        "go test ./...",
        "cargo test --all",
        "cargo nextest run",
        ".venv/bin/pytest -x",
        "./gradlew check",
        "make -j4 test",
        "FOO=1 python manage.py test shop",
        "bundle exec rspec spec/a_spec.rb",
        "python -m unittest discover",
    ],
)
def test_a_command_that_runs_tests_is_known(command: str) -> None:
    assert is_test_command(command)


@pytest.mark.parametrize(
    "command",
    ["ls tests", "cat pytest.ini", "pip install pytest-cov", "make build", "go vet"],
)
def test_other_commands_are_not_taken_for_tests(command: str) -> None:
    assert not is_test_command(command)
