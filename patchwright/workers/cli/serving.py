"""Run the service with the settings of the command line."""

from collections.abc import Mapping
from pathlib import Path

from patchwright.core.settings.environment import process_environment
from patchwright.core.settings.load import load
from patchwright.workers.roles import Role
from patchwright.workers.serve import serve


def serve_as(role: Role, flags: Mapping[str, object]) -> int:
    """Return the exit code when the service has ended."""
    settings = load(process_environment(), flags=flags, cwd=Path.cwd())
    return serve(settings, role)
