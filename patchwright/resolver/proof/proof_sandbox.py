"""Run test commands on one commit, in a fresh sandbox that shows no history."""

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import count
from typing import Final

from patchwright.core.events.actions import RunCommand
from patchwright.core.events.log import EventLog
from patchwright.core.runtime import Runtime, RuntimeFactory, SandboxSpec
from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import SandboxError
from patchwright.core.types.evidence import Evidence, EvidenceRole
from patchwright.integrations.git.objects import ObjectStore
from patchwright.resolver.proof.reported_command import ReportedCommand
from patchwright.resolver.proof.repository_scripts import recipe_paths
from patchwright.resolver.set_up.sandboxes import (
    SetUp,
    close_and_record_blocked,
    run_to_end,
    set_up_unrecorded,
)
from patchwright.sandbox.workspace import Workspace

COMMAND_LIMIT_S: Final = 900.0
_SWAP_LIMIT_S: Final = 60.0
_TAIL_CHARS: Final = 2_000
_MAX_RECIPE_BYTES: Final = 500_000
_SWAP: Final = "/workspace/swap"
# A module that cannot be loaded must not keep pytest from running the others.
_GO_ON: Final = (
    'export PYTEST_ADDOPTS="$PYTEST_ADDOPTS --continue-on-collection-errors"\n'
)


@dataclass(frozen=True)
class FileReplacement:
    """What a file is to be; without `content` it is removed."""

    content: bytes | None
    is_executable: bool = False


@dataclass(frozen=True)
class ProofPlace:
    """Where commands are run, and of which change: `changed` are its paths.

    Scripts through which a command calls its runner are read at `base_sha`.
    """

    sandboxes: RuntimeFactory
    spec: SandboxSpec
    code: ObjectStore
    log: EventLog
    clock: Clock
    set_up: SetUp
    base_sha: str
    changed: frozenset[str]

    @contextmanager
    def open(self, commit: str) -> "Iterator[ProofSandbox]":
        """Check the commit out in a fresh sandbox, which is closed at the end."""
        sandbox = self.start(commit)
        try:
            yield sandbox
        finally:
            sandbox.close()

    def start(self, commit: str) -> "ProofSandbox":
        """Like `open`, but the caller closes it."""
        runtime = self.sandboxes.start(self.spec.replace(role="evidence"))
        try:
            # The sandbox must not show which commit it is: a test could depend on it.
            alike = self.code.without_history(commit)
            packed = self.code.bundle(alike)
            Workspace.check_out(runtime, packed, alike, "evidence")
            set_up_unrecorded(self.set_up, runtime, commit)
        except BaseException:
            close_and_record_blocked(runtime, self.log)
            raise
        return ProofSandbox(self, runtime, commit)

    def scripts(self, command: str) -> Mapping[str, str]:
        """Return the files that say what the repository's scripts run, by their paths.

        Changes to these scripts are reported elsewhere.
        """
        found = self.code.read_files(
            self.base_sha, recipe_paths(command), _MAX_RECIPE_BYTES
        )
        return {
            path: text.decode("utf-8", "replace")
            for path, text in found.items()
            if isinstance(text, bytes)
        }


@dataclass(frozen=True)
class ProofSandbox:
    """A sandbox with the files of `commit`. Not for use by several threads at once."""

    place: ProofPlace
    runtime: Runtime
    commit: str
    _numbers: "count[int]" = field(default_factory=count, repr=False)

    def run(
        self, role: EvidenceRole, command: str, limit_s: float = COMMAND_LIMIT_S
    ) -> Evidence:
        """Run one command in a shell of its own."""
        name = f"proof-{next(self._numbers)}"
        place = self.place
        bench = ReportedCommand.prepare_report(
            self.runtime, command, place.changed, place.scripts(command)
        )
        script = f"{_GO_ON}{bench.script}" if bench.call else bench.script
        action = RunCommand(command=script, session=name, timeout_s=limit_s)
        started = place.clock.monotonic()
        output = run_to_end(self.runtime, action, name)
        seconds = round(place.clock.monotonic() - started, 3)
        report = bench.read(self.runtime, output)
        return Evidence(
            role=role,
            command=bench.command,
            commit=self.commit,
            exit_code=output.exit_code,
            seconds=seconds,
            digest=output.digest or _digest(output.output),
            tail=report.printed[-_TAIL_CHARS:],
            results=report.results,
            status=report.status,
        )

    def replace_files(self, contents: Mapping[str, FileReplacement]) -> None:
        """Replace files of the repository; what was compiled from them is out of date.

        Raises `SandboxError`.
        """
        number = next(self._numbers)
        listed: Sequence[object] = [
            (path, _encoded(one.content), one.is_executable)
            for path, one in contents.items()
        ]
        manifest = json.dumps({"ahead_s": 2 * (number + 1), "files": listed})
        program = files("patchwright.sandbox.inside").joinpath("file_swap.py")
        self.runtime.upload(f"{_SWAP}/file_swap.py", program.read_bytes())
        self.runtime.upload(f"{_SWAP}/manifest.json", manifest.encode("ascii"))
        inside = f'"$WORKSPACE"{_SWAP.removeprefix("/workspace")}'
        script = (
            f"python3 -I -S -X utf8 {inside}/file_swap.py "
            f'"$WORKSPACE"/repo {inside}/manifest.json'
        )
        action = RunCommand(
            command=script, session=f"swap-{number}", timeout_s=_SWAP_LIMIT_S
        )
        output = run_to_end(self.runtime, action, f"swap-{number}")
        if output.exit_code != 0:
            raise SandboxError(f"files could not be replaced: {output.output[-500:]}")

    def close(self) -> None:
        close_and_record_blocked(self.runtime, self.place.log)


def _encoded(content: bytes | None) -> str | None:
    return None if content is None else base64.b64encode(content).decode("ascii")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
