"""A sandbox in memory: files in a dictionary, and a shell of three words."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from patchwright.core.events.actions import ReadFile, RunCommand, WriteFile
from patchwright.core.events.observations import (
    CommandOutput,
    ErrorObservation,
    FileContent,
    FileEdited,
    RequestBlocked,
)
from patchwright.core.events.types import SandboxAction, SandboxObservation
from patchwright.core.runtime import Pipe
from patchwright.core.types.errors import RuntimeLostError, SandboxError


@dataclass
class MemorySandbox:
    """Keeps the promises of `Runtime` for a few actions, and refuses the others.

    The shell knows `echo WORDS`, `cat PATH`, `true`, and `sleep`, which has begun when
    `sleeps` is set and lasts until it is cancelled. `ran` lists the actions that were
    carried out.
    """

    kind: str = "memory"
    files: dict[str, str] = field(default_factory=dict)
    ran: list[SandboxAction] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    closed: bool = False
    sleeps: threading.Event = field(default_factory=threading.Event)
    _woken: threading.Event = field(default_factory=threading.Event)
    _results: dict[str, SandboxObservation] = field(default_factory=dict)

    def run(self, action: SandboxAction, action_id: str) -> SandboxObservation:
        self._check_open()
        if action_id not in self._results:
            self.ran.append(action)
            self._results[action_id] = self._carry_out(action)
        return self._results[action_id]

    def cancel(self, action_id: str) -> None:
        self.cancelled.append(action_id)
        self._woken.set()

    def open_pipe(self, command: Sequence[str]) -> Pipe:
        raise SandboxError(f"there is no {command[0]}")

    def blocked(self) -> tuple[RequestBlocked, ...]:
        return ()

    def detach(self) -> None:
        self.closed = True

    def upload(self, path: str, data: bytes) -> None:
        self._check_open()
        self.files[path] = data.decode()

    def download(self, path: str, max_bytes: int) -> bytes:
        self._check_open()
        data = self.files[path].encode()
        if len(data) > max_bytes:
            raise SandboxError(f"{path} is too large")
        return data

    def close(self) -> None:
        self.closed = True

    def _check_open(self) -> None:
        if self.closed:
            raise RuntimeLostError("the sandbox is closed")

    def _carry_out(self, action: SandboxAction) -> SandboxObservation:
        match action:
            case RunCommand(command=command):
                return self._shell(command)
            case ReadFile(path=path) if path in self.files:
                return FileContent(path=path, text=self.files[path])
            case WriteFile(path=path, content=content):
                self.files[path] = content
                return FileEdited(path=path, diff=f"+{content}")
            case _:
                return ErrorObservation(reason="not-found", text="no such thing here")

    def _shell(self, command: str) -> CommandOutput:
        verb, _, rest = command.partition(" ")
        match verb:
            case "true":
                return CommandOutput(exit_code=0, output="")
            case "echo":
                return CommandOutput(exit_code=0, output=f"{rest}\n")
            case "sleep":
                self.sleeps.set()
                self._woken.wait()
                return CommandOutput(exit_code=None, output="So far.")
            case "cat" if rest in self.files:
                return CommandOutput(exit_code=0, output=self.files[rest])
            case "cat":
                return CommandOutput(exit_code=1, output=f"cat: {rest}: no such file")
            case _:
                return CommandOutput(exit_code=127, output=f"{verb}: not found")
