"""Run the service with the settings of the command line."""

from collections.abc import Mapping

from patchwright.integrations.settings import load_settings_here
from patchwright.workers.ops.lifecycle import ProcessRole
from patchwright.workers.serve import serve


def serve_as(role: ProcessRole, flags: Mapping[str, object]) -> int:
    """Return the exit code when the service has ended."""
    return serve(load_settings_here(flags), role)
