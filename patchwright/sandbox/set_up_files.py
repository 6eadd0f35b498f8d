"""Carry the files that a set-up has made from one sandbox to another."""

import json
from dataclasses import dataclass
from typing import IO, Final

from pydantic import JsonValue

from patchwright.core.events.actions import ControlAct, ControlCommand, RunCommand
from patchwright.core.events.observations import CommandOutput
from patchwright.core.runtime import LargeFiles, Runtime
from patchwright.core.types.base import RandomIds
from patchwright.core.types.errors import SandboxError
from patchwright.sandbox.host.bootstrap import pack_snapshot_program

_FOLDER: Final = "/workspace/carry"
_PROGRAM: Final = f"{_FOLDER}/set-up.pyz"
_PACKED: Final = f"{_FOLDER}/set-up.tar"
_ANSWER: Final = f"{_FOLDER}/set-up.json"
_LIMIT_S: Final = 600.0
# The names of the files of a very large repository.
_MAX_ANSWER_BYTES: Final = 64 << 20
# An archive is larger than its files, which are counted inside.
_OVERHEAD: Final = 2


@dataclass(frozen=True)
class PackedSetUp:
    """`read` are the files of the repository that the set-up has read.

    With a `refused` reason nothing was packed: files alone do not make another sandbox
    the same.
    """

    read: tuple[str, ...] = ()
    refused: str = ""


class SetUpFiles:
    """What a set-up makes in one sandbox; each method raises `SandboxError`."""

    def __init__(self, runtime: Runtime, large_files: LargeFiles) -> None:
        self._runtime, self._large_files = runtime, large_files
        self._ids = RandomIds()
        self._session = f"patchwright-{self._ids.new()[:8]}"

    def begin(self) -> None:
        """Note how everything is, before the first command of the set-up."""
        self._run("begin")

    def pack(self, target: IO[bytes], max_bytes: int) -> PackedSetUp:
        """Write what is new since `begin`, as an archive, into the target."""
        answer = self._run("pack", str(max_bytes))
        if refused := str(answer.get("refused", "")):
            return PackedSetUp(refused=refused)
        self._large_files.copy_out(_PACKED, target, max_bytes * _OVERHEAD)
        self._shell("rm -f set-up.tar")
        read = answer.get("read")
        paths = map(str, read) if isinstance(read, list) else ()
        return PackedSetUp(tuple(paths))

    def unpack(self, source: IO[bytes]) -> None:
        """Put the archive's files into this sandbox."""
        # The folder has to be there.
        self._upload_program()
        self._large_files.copy_in(source, _PACKED)
        self._run("unpack")

    def _run(self, *words: str) -> dict[str, JsonValue]:
        self._upload_program()
        self._shell(f"python3 -I -S set-up.pyz {' '.join(words)}")
        answer = json.loads(self._runtime.download(_ANSWER, _MAX_ANSWER_BYTES))
        if not isinstance(answer, dict) or "error" in answer:
            text = answer.get("error") if isinstance(answer, dict) else "no object"
            raise SandboxError(f"the set-up's files could not be carried: {text}")
        return answer

    def _upload_program(self) -> None:
        self._runtime.upload(_PROGRAM, pack_snapshot_program())

    def _shell(self, command: str) -> None:
        """Run a command beside the program, in a session that nobody knows."""
        ids = self._ids
        action = RunCommand(
            command=f'cd "$WORKSPACE"/carry && {command}',
            session=self._session,
            timeout_s=_LIMIT_S,
        )
        output = self._runtime.run(action, ids.new())
        if isinstance(output, CommandOutput) and output.still_running:
            kill = ControlCommand(handle=output.handle, act=ControlAct.KILL)
            self._runtime.run(kill, ids.new())
        if not isinstance(output, CommandOutput) or output.exit_code != 0:
            text = getattr(output, "output", "") or str(output)
            raise SandboxError(
                f"the set-up's files could not be carried: {text[-500:]}"
            )
