"""Run programs of the deployment, and tell what they said when they fail."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from patchwright.core.settings.environment import process_environment
from tests.provision.errors import ProvisionError

MINUTES_10 = 600.0


def run(
    argv: Sequence[str],
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Return standard output; raises `ProvisionError` unless the exit code is 0."""
    ended = subprocess.run(
        argv,
        cwd=cwd,
        env={**process_environment(), **(environment or {})},
        capture_output=True,
        text=True,
        timeout=MINUTES_10,
        check=False,
    )
    if ended.returncode != 0:
        said = f"{ended.stdout[-4000:]}\n{ended.stderr[-4000:]}"
        raise ProvisionError(f"{' '.join(argv)} ended with {ended.returncode}:\n{said}")
    return ended.stdout


def docker(*arguments: str) -> str:
    return run(["docker", *arguments]).strip()


def image_exists(name: str) -> bool:
    listed = docker("image", "ls", "--quiet", name)
    return bool(listed)
