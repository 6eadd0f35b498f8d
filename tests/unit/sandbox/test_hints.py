"""The sentences for the model, and when they are said."""

import pytest

from patchwright.sandbox.action_server.hints import (
    background_hint,
    memory_hint,
    prompt_hint,
)
from patchwright.sandbox.action_server.processes import Process

LIMIT = 512 << 20


@pytest.mark.parametrize(
    ("command", "exit_code", "text", "is_said"),
    [
        ("python3 x.py", 1, "EOFError: EOF when reading a line\n", True),
        ("apt install x", 1, "Do you want to continue? [Y/n] Abort.\n", True),
        ("ssh x", 255, "Password: ", True),
        ("read -p 'sure? ' x", 1, "", True),
        ("if test; then read x; fi", 1, "", True),
        ("python3 x.py", 0, "EOFError\n", False),
        ("pytest", 1, "1 failed\n", False),
        ("bread x", 1, "", False),
        ("if", 2, "syntax error: unexpected end of file\n", False),
    ],
)
def test_a_program_that_asked_is_recognised(
    command: str, exit_code: int, text: str, *, is_said: bool
) -> None:
    assert bool(prompt_hint(command, exit_code, text)) is is_said


@pytest.mark.parametrize(
    ("exit_code", "text", "kills", "said"),
    [
        (137, "", 1, "Killed, memory limit of 512 MiB reached."),
        (1, "MemoryError\n", 0, "Killed, memory limit of 512 MiB reached."),
        (1, "2 failed\n", 1, "A process was killed at the memory limit of 512 MiB."),
        (137, "", 0, ""),
        (0, "MemoryError\n", 0, ""),
    ],
)
def test_memory_is_named_where_it_was_the_reason(
    exit_code: int, text: str, kills: int, said: str
) -> None:
    assert memory_hint(exit_code, text, kills, LIMIT) == said


def test_background_processes_are_listed() -> None:
    process = Process(7, "node", "S", 1, 1, 1)
    assert background_hint([process]) == "Running in the background: 7 node."
    assert background_hint([]) == ""
