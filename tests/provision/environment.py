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


def reach_loopback_directly() -> None:
    """Say that no proxy is for what the tests ask.

    Asked for each request, whether there is one takes a twentieth of a story's time.
    """
    for name in ("no_proxy", "NO_PROXY"):
        _VARIABLES[name] = "127.0.0.1,::1,localhost"


def run_name() -> str:
    """Return what all processes of one run of the tests have in common."""
    return _VARIABLES.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
