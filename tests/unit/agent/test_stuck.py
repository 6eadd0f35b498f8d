"""A loop is the same step with the same result, whatever differs by accident."""

import pytest

from patchwright.core.agent.stuck import Loop, LoopFinder, describe
from patchwright.core.events.types import (
    Action,
    CommandOutput,
    ErrorObservation,
    Observation,
    ReadFile,
    RunCommand,
    ToolCall,
)

RUN = RunCommand(command="make test")


def output(text: str, **fields: bool) -> CommandOutput:
    return CommandOutput(exit_code=1, output=text, **fields)


def find(*steps: tuple[Action | ToolCall, Observation]) -> list[int]:
    """Return the numbers of the steps that close a loop."""
    finder = LoopFinder()
    return [
        number
        for number, (step, observation) in enumerate(steps, start=1)
        if finder.add(step, observation)
    ]


@pytest.mark.parametrize(
    "line",
    [
        "Ran 3 tests in {n}.0{n}1s",
        "finished in {n} seconds",
        "took {n}2 ms",
        "at 12:0{n}:31.5",
        "<Cart object at 0x7f00{n}c>",
        "wrote /tmp/tmp{n}abc/result",
        "pid={n}1, done",
    ],
)
def test_what_differs_without_meaning_anything_is_the_same(line: str) -> None:
    runs = [(RUN, output(line.format(n=number))) for number in range(1, 5)]
    assert find(*runs) == [4]


def test_a_number_that_means_something_differs() -> None:
    runs = [(RUN, output(f"{number} tests failed")) for number in range(1, 7)]
    assert find(*runs) == []


def test_call_ids_do_not_count() -> None:
    runs = [
        (
            RUN.model_copy(update={"call_id": f"c{number}"}),
            output("x").model_copy(update={"call_id": f"c{number}"}),
        )
        for number in range(4)
    ]
    assert find(*runs) == [4]


def test_the_same_error_counts_sooner() -> None:
    failed = ErrorObservation(reason="not-found", text="no such file")
    assert find(*[(ReadFile(path="a"), failed)] * 3) == [3]


def test_broken_calls_are_steps_too() -> None:
    failed = ErrorObservation(reason="not-run", text="broken")
    calls = [ToolCall(id=f"c{n}", name="shell", arguments="{}") for n in range(3)]
    assert find(*[(call, failed) for call in calls]) == [3]


def test_anything_else_in_between_starts_the_count_anew() -> None:
    same, other = (RUN, output("x")), (RUN, output("y"))
    assert find(same, same, same, other, same, same, same) == []


def test_waiting_for_a_running_command_is_no_loop() -> None:
    waiting = output("compiling", still_running=True)
    assert find(*[(RUN, waiting)] * 9) == []


def test_the_exit_code_is_part_of_the_result() -> None:
    codes = [CommandOutput(exit_code=code, output="x") for code in (0, 1, 0, 1, 0)]
    assert find(*[(RUN, code) for code in codes]) == []


def test_a_loop_says_what_is_repeated() -> None:
    finder = LoopFinder()
    found = [finder.add(RUN, output("x")) for _ in range(4)]
    assert found[3] == Loop(step="run_command make test", times=4, failing=False)


def test_after_a_reset_it_counts_from_one() -> None:
    finder = LoopFinder()
    for _ in range(3):
        finder.add(RUN, output("x"))
    finder.reset()
    assert finder.add(RUN, output("x")) is None


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (RunCommand(command="  ls -la\npwd"), "run_command ls -la"),
        (RunCommand(command="x" * 200), f"run_command {'x' * 80}"),
        (ReadFile(path="src/a.py"), "read_file src/a.py"),
        (ToolCall(id="c", name="deploy", arguments="{}"), "deploy"),
    ],
)
def test_a_step_is_named_in_one_line(step: Action | ToolCall, text: str) -> None:
    assert describe(step) == text
