"""Start one of our own programs with the Python that the image offers the agent."""

from __future__ import annotations

import os
import sys

from patchwright.sandbox.action_server.child import Launch, plan_program
from patchwright.sandbox.action_server.configuration import Config
from patchwright.sandbox.action_server.environment import (
    find_program,
    plan_environment,
)

# Without the folder it runs in, whose files must not pass for modules of Python.
_START_CODE = (
    "import sys; sys.path[:] = [{archive!r}] + [p for p in sys.path if p]; "
    "from patchwright.sandbox.inside.{name} import main; main()"
)


def plan_inside_program(name: str, words: list[str], config: Config) -> Launch:
    """Return how to start a module of `patchwright.sandbox.inside`.

    It runs like anything else of the agent's: with its packages, variables and rights.
    """
    environment = plan_environment(config, dict(os.environ))
    python = find_program("python3", environment["PATH"]) or sys.executable
    start = _START_CODE.format(archive=_archive(), name=name)
    return plan_program([python, "-u", "-c", start, *words], environment)


def _archive() -> str:
    """Return the file that Python was given, from which this was imported too."""
    return os.path.abspath(sys.argv[0])
