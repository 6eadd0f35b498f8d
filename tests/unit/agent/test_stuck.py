"""A loop is the same step with the same result, whatever differs by accident."""

from datetime import UTC, datetime

import pytest

from patchwright.core.agent.loop_finder import (
    TOOL_NAMES,
    LoopFinder,
    RepeatedSteps,
    describe_step,
)
from patchwright.core.agent.tools import WORKING
from patchwright.core.events.actions import (
    CallMcpTool,
    ControlAct,
    ControlCommand,
    ReadFile,
    RunCommand,
    WriteTodos,
)
from patchwright.core.events.observations import (
    CommandOutput,
    Condensed,
    ErrorObservation,
    LoopDetected,
    ModelReply,
    UserRejected,
)
from patchwright.core.events.payload import Source, Todo, ToolCall
from patchwright.core.events.types import Action, AgentStep, Event, Known, Observation

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
RUN = RunCommand(command="make test")
POLL = ControlCommand(handle="h1", act=ControlAct.POLL)
Step = tuple[AgentStep | None, Observation]


def output(text: str) -> CommandOutput:
    return CommandOutput(exit_code=1, output=text)


def running(text: str) -> CommandOutput:
    return CommandOutput(exit_code=None, output=text, still_running=True, handle="h1")


class Story:
    """Tells a finder of one event after the other."""

    def __init__(self) -> None:
        self.finder = LoopFinder()
        self._next_id = 1

    def tell(self, payload: Known) -> None:
        event_id, self._next_id = self._next_id, self._next_id + 1
        self.finder.follow(
            Event(id=event_id, at=NOON, source=Source.AGENT, payload=payload)
        )

    def step(self, action: AgentStep | None, result: Observation) -> bool:
        """Make one call; without an action it was broken. Tell if that is a loop."""
        call_id = f"c{self._next_id}"
        call = ToolCall(id=call_id, name="shell", arguments="{}")
        self.tell(ModelReply(tool_calls=(call,)))
        if action is not None:
            self.tell(action.replace(call_id=call_id))
        self.tell(result.replace(call_id=call_id))
        return self.finder.found is not None


def first_loop(*steps: Step) -> int | None:
    """Return the number of the step that closes a loop."""
    story = Story()
    numbered = enumerate(steps, start=1)
    return next((number for number, step in numbered if story.step(*step)), None)


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
    assert first_loop(*runs) == 4


def test_a_number_that_means_something_differs() -> None:
    runs = [(RUN, output(f"{number} tests failed")) for number in range(1, 7)]
    assert first_loop(*runs) is None


def test_the_same_error_counts_sooner() -> None:
    failed = ErrorObservation(reason="not-found", text="no such file")
    assert first_loop(*[(ReadFile(path="a"), failed)] * 3) == 3


def test_a_failing_loop_says_how_it_fails() -> None:
    story = Story()
    for _ in range(3):
        story.step(ReadFile(path="a"), ErrorObservation(reason="x", text="Gone."))
    assert story.finder.found == RepeatedSteps(step="read a", times=3, error="Gone.")


def test_the_same_refusal_counts_as_an_error() -> None:
    assert first_loop(*[(None, UserRejected(text="No."))] * 3) == 3


def test_broken_calls_are_steps_too() -> None:
    failed = ErrorObservation(reason="not-run", text="broken")
    assert first_loop(*[(None, failed)] * 3) == 3


def test_anything_else_in_between_starts_the_count_anew() -> None:
    same, other = (RUN, output("x")), (RUN, output("y"))
    assert first_loop(same, same, same, other, same, same, same) is None


@pytest.mark.parametrize("period", [2, 3])
def test_s65_a_cycle_is_found_when_it_comes_the_third_time(period: int) -> None:
    cycle = [(ReadFile(path=f"{n}.py"), output("x")) for n in range(period)]
    assert first_loop(*cycle * 3) == 3 * period
    assert first_loop(*cycle * 2, (RUN, output("x")), *cycle) is None


def test_a_cycle_says_with_what_it_ends() -> None:
    story = Story()
    for path in ("a", "b") * 3:
        story.step(ReadFile(path=path), output("x"))
    assert story.finder.found == RepeatedSteps(
        step="a cycle that ends with read b", times=3
    )


def test_polling_a_command_that_prints_is_no_loop() -> None:
    assert first_loop(*[(POLL, running("compiling"))] * 9) is None


def test_polling_a_command_that_is_silent_is_one() -> None:
    assert first_loop(*[(POLL, running("\n"))] * 9) == 4


def test_the_exit_code_is_part_of_the_result() -> None:
    codes = [CommandOutput(exit_code=code, output="x") for code in (0, 1, 0, 1, 0)]
    assert first_loop(*[(RUN, code) for code in codes]) is None


def test_a_loop_says_what_is_repeated() -> None:
    story = Story()
    for _ in range(4):
        story.step(RUN, output("x"))
    assert story.finder.found == RepeatedSteps(step="shell make test", times=4)


def test_what_was_written_down_is_over_and_counted_from_one() -> None:
    story = Story()
    for _ in range(4):
        story.step(RUN, output("x"))
    story.tell(LoopDetected(pattern="p", text="t"))
    assert story.finder.was_warned
    assert [story.step(RUN, output("x")) for _ in range(4)] == [False] * 3 + [True]


def test_condensing_three_times_without_an_action_is_a_loop() -> None:
    story = Story()
    for _ in range(2):
        story.tell(Condensed(first_id=1, last_id=2))
        story.tell(ModelReply(stop_reason="context-window"))
    assert story.finder.found is None
    story.tell(Condensed(first_id=1, last_id=3))
    assert story.finder.found == RepeatedSteps(step="condense", times=3)


def test_an_action_in_between_shows_that_condensing_helps() -> None:
    story = Story()
    for number in range(5):
        story.tell(Condensed(first_id=1, last_id=2))
        assert not story.step(RUN, output(f"{number} left"))


def test_the_rounds_of_one_condensation_count_once() -> None:
    story = Story()
    for number in range(4):
        story.tell(Condensed(masked_to=number))
    assert story.finder.found is None


def test_texts_in_a_row_are_counted_until_a_call_comes() -> None:
    story = Story()
    story.tell(ModelReply(text="Shall I?"))
    story.tell(ModelReply(stop_reason="model-unavailable"))
    story.tell(ModelReply(text="Well?"))
    assert story.finder.texts_in_a_row == 2
    story.step(RUN, output("x"))
    assert story.finder.texts_in_a_row == 0


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (RunCommand(command="  ls -la\npwd"), "shell ls -la"),
        (RunCommand(command="x" * 200), f"shell {'x' * 80}"),
        (ReadFile(path="src/a.py"), "read src/a.py"),
        (ToolCall(id="c", name="deploy", arguments="{}"), "deploy"),
        (CallMcpTool(server="s", tool="s__now", arguments={}), "s__now"),
        (
            WriteTodos(todos=(Todo(text="Look", state="done"), Todo(text="Fix it"))),
            "todo Fix it",
        ),
        (WriteTodos(todos=()), "todo"),
    ],
)
def test_a_step_is_named_in_one_line(step: Action | ToolCall, text: str) -> None:
    assert describe_step(step) == text


def test_steps_have_the_names_of_the_tools() -> None:
    tools = {tool.name for tool in WORKING}
    assert set(TOOL_NAMES.values()) <= tools
    others = {"think", "browse"}
    assert tools - set(TOOL_NAMES.values()) == others
