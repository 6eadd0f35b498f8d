"""How an action server is started, whatever the sandbox around it."""

import re

from patchwright.core.errors import SandboxError
from patchwright.core.runtime import SandboxSpec
from patchwright.sandbox.action_server.configuration import Config

UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
# Isolated from the user's packages and variables, without site: half the start-up time.
PYTHON_OPTIONS = ("-I", "-S", "-X", "utf8")


def read_size(text: str) -> int:
    """Return the bytes in a size such as `512m` or `2g`."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([bkmgt]?)(?:i?b)?", text.strip().lower())
    if found is None:
        raise SandboxError(f"{text!r} is no size; write it like 512m or 4g")
    return int(float(found.group(1)) * UNITS[found.group(2)])


def confined_by_engine(spec: SandboxSpec, workspace: str) -> Config:
    """Configure a server whose container limits memory and processes."""
    return Config(
        workspace=workspace,
        command_timeout_s=spec.command_timeout_s,
        lifetime_s=spec.lifetime_s,
        environment=dict(spec.environment),
        memory_bytes=read_size(spec.memory),
        disk_bytes=read_size(spec.disk),
    )


def confined_by_limits(spec: SandboxSpec, workspace: str) -> Config:
    """Configure a server that has to limit its shells itself."""
    return confined_by_engine(spec, workspace)._replace(
        max_data_bytes=read_size(spec.memory), max_processes=spec.max_processes
    )


def command_line(python: str, archive: str, config: Config) -> list[str]:
    return [python, *PYTHON_OPTIONS, archive, config.to_json()]
