"""What the environment tells the tests."""

import os
from pathlib import Path

_VARIABLES = os.environ  # noqa: TID251 - the tests' own settings, read nowhere else


def corpus() -> Path | None:
    """Return the folder with outside payloads and schemas, if this run has one."""
    folder = _VARIABLES.get("PATCHWRIGHT_CORPUS")
    return Path(folder) if folder else None


def is_ci() -> bool:
    return _VARIABLES.get("CI") == "true"


def run_name() -> str:
    """Return what all processes of one run of the tests have in common."""
    return _VARIABLES.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
