"""What the model reads of each observation."""

import pytest

from patchwright.core.agent.view import observation_text
from patchwright.core.events.observations import (
    CommandOutput,
    ErrorObservation,
    FileContent,
    FileEdited,
    LoopDetected,
    Null,
    SearchResult,
    StateChanged,
)
from patchwright.core.events.payload import AgentState
from patchwright.core.events.types import Observation

CASES: list[tuple[Observation, str]] = [
    (
        CommandOutput(exit_code=0, output="hello", cwd="/workspace/repo"),
        "hello\n[exit code 0; in /workspace/repo]",
    ),
    (CommandOutput(exit_code=0, output=""), "[exit code 0]"),
    (
        CommandOutput(
            exit_code=None, output="compiling", still_running=True, handle="h1"
        ),
        "compiling\n[still running, handle h1]",
    ),
    (
        CommandOutput(exit_code=None, output="", note="Killed after 120 s."),
        "[no exit code; Killed after 120 s.]",
    ),
    (
        CommandOutput(
            exit_code=1,
            output="head\n…\ntail",
            dropped_bytes=70_000,
            full_output_path="/all/7",
        ),
        "head\n…\ntail\n[exit code 1; 70000 bytes left out; all of it is in /all/7]",
    ),
    (FileContent(path="a", text="1  x = 1"), "1  x = 1"),
    (FileContent(path="a", text=""), "[the file is empty]"),
    (FileEdited(path="a", diff="-x\n+y"), "-x\n+y"),
    (FileEdited(path="a", diff="-x\n+y", excerpt="     1\ty"), "     1\ty"),
    (FileEdited(path="a", diff=""), "[written; nothing changed]"),
    (SearchResult(text="a.py:1: x", matches=1), "a.py:1: x"),
    (SearchResult(text="", matches=0), "[no match]"),
    (
        SearchResult(text="", matches=0, note="no match in 1 file"),
        "[no match in 1 file]",
    ),
    (
        SearchResult(text="a.py:1: x", matches=200, truncated=True, note="stopped"),
        "a.py:1: x\n[stopped]",
    ),
    (
        ErrorObservation(reason="not-found", text="There is no a.py."),
        "There is no a.py.",
    ),
    (LoopDetected(pattern="p", text="Again."), "Again."),
    (StateChanged(state=AgentState.RUNNING), "[running]"),
    (Null(), "[noted]"),
]


@pytest.mark.parametrize(("observation", "text"), CASES)
def test_an_observation_reads_so(observation: Observation, text: str) -> None:
    assert observation_text(observation) == text
