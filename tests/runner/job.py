"""One job on a runner: its machine, what it knows, and what its steps left."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.runner.artifacts import Artifacts
from tests.runner.expressions.evaluate import Status
from tests.runner.expressions.values import Value, to_text
from tests.runner.log import Log
from tests.runner.processes import Processes

# What is in the `github` context alone.
# https://docs.github.com/en/actions/reference/workflows-and-actions/variables
_NOT_IN_ENVIRONMENT: Final = frozenset({"event", "token"})


@dataclass(frozen=True)
class Machine:
    """The folders of a runner. `path` finds the programs that it has."""

    root: Path
    path: str = os.defpath

    @property
    def temp(self) -> Path:
        return self.root / "_temp"

    @property
    def workspace(self) -> Path:
        return self.root / "shop" / "shop"

    @property
    def commands(self) -> Path:
        return self.temp / "_runner_file_commands"

    @property
    def event_file(self) -> Path:
        return self.temp / "_github_workflow" / "event.json"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "CI": "true",
            "HOME": str(self.root),
            "LANG": "C.UTF-8",
            "PATH": self.path,
            "RUNNER_ARCH": "X64",
            "RUNNER_NAME": "runner-1",
            "RUNNER_OS": "Linux",
            "RUNNER_TEMP": str(self.temp),
            "RUNNER_TOOL_CACHE": str(self.root / "_tool"),
        }


@dataclass
class Job:
    """What happens in one job; `github` is the context of that name, event included.

    Each value of `secrets` is masked in log and summary from the beginning.
    """

    machine: Machine
    github: Mapping[str, Value]
    secrets: Mapping[str, str]
    log: Log = field(default_factory=Log)
    artifacts: Artifacts = field(default_factory=Artifacts)
    processes: Processes = field(default_factory=Processes)
    summaries: list[str] = field(default_factory=list)
    status: Status = Status.SUCCESS
    added_environment: dict[str, str] = field(default_factory=dict)
    added_path: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        machine = self.machine
        for folder in (machine.temp, machine.workspace, machine.commands):
            folder.mkdir(parents=True, exist_ok=True)
        machine.event_file.parent.mkdir(exist_ok=True)
        machine.event_file.write_text(json.dumps(self.github["event"]))
        for secret in (*self.secrets.values(), to_text(self.github["token"])):
            self.log.add_secret(secret)

    @property
    def summary(self) -> str:
        return self.log.masked("\n".join(self.summaries))

    @property
    def environment(self) -> dict[str, str]:
        """What every script finds set, before `env:` of workflow and action."""
        own = self.machine.environment
        path = os.pathsep.join((*reversed(self.added_path), own["PATH"]))
        return {
            **own,
            **self._github_variables(),
            **self.added_environment,
            "PATH": path,
        }

    def contexts(self, env: Mapping[str, str]) -> dict[str, Value]:
        """Return the contexts that are there in each step."""
        runner = {"os": "Linux", "arch": "X64", "temp": str(self.machine.temp)}
        return {
            "github": dict(self.github),
            "runner": dict(runner),
            "job": {"status": self.status.value},
            "env": {**self.added_environment, **env},
        }

    def cancel(self) -> None:
        """Press "Cancel workflow"."""
        self.status = Status.CANCELLED
        self.processes.cancel()

    def _github_variables(self) -> dict[str, str]:
        known = {
            f"GITHUB_{name.upper()}": to_text(value)
            for name, value in self.github.items()
            if name not in _NOT_IN_ENVIRONMENT
        }
        return {
            "GITHUB_ACTIONS": "true",
            "GITHUB_EVENT_PATH": str(self.machine.event_file),
            "GITHUB_WORKSPACE": str(self.machine.workspace),
            **known,
        }
