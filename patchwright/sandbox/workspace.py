"""The repository in a sandbox: commits go in and come out as bundles."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from pydantic import ValidationError

from patchwright.core.events.actions import ControlAct, ControlCommand, RunCommand
from patchwright.core.events.observations import CommandOutput
from patchwright.core.runtime import Runtime
from patchwright.core.types.base import Ids, RandomIds, Value
from patchwright.core.types.errors import SandboxError
from patchwright.core.types.work import LeftOut
from patchwright.sandbox.host.bootstrap import pack_transfer_program

PROGRAM = "carry/carry.pyz"
FOLDER = "/workspace/carry"
GIT_S = 600.0
MAX_BUNDLE_BYTES = 64 << 20
MAX_FILE_BYTES = 5_000_000
MESSAGE = "Work tree of a Patchwright run"


@dataclass(frozen=True)
class Export:
    """What a work tree came to: a bundle of one commit, or None where nothing differs.

    `left_out` is what the bundle lacks, and `conflicts` are files in which a merge was
    not ended. `taken_from` says where the change was, if not in the work tree.
    """

    bundle: bytes | None
    left_out: tuple[LeftOut, ...] = ()
    conflicts: tuple[str, ...] = ()
    taken_from: LeftOut | None = None


class _TransferReply(Value):
    """What the program inside prints last."""

    head: str = ""
    error: str = ""
    left_out: tuple[LeftOut, ...] = ()
    conflicts: tuple[str, ...] = ()
    taken_from: LeftOut | None = None


class Workspace:
    """A checkout in a runtime, worked on from a shell session that nobody knows."""

    def __init__(self, runtime: Runtime, ids: Ids) -> None:
        self._runtime = runtime
        self._ids = ids
        self._session = f"patchwright-{ids.new()[:8]}"

    @classmethod
    def check_out(
        cls,
        runtime: Runtime,
        bundle: bytes,
        sha: str,
        branch: str,
        ids: Ids | None = None,
        *,
        shallow: Sequence[str] = (),
    ) -> Self:
        """Put the commit `sha` out of the bundle into `/workspace/repo`, on a branch.

        The bundle holds its history, up to the commits of `shallow`. Raises
        `SandboxError`, also when the image has no git.
        """
        workspace = cls(runtime, ids or RandomIds())
        runtime.upload(f"{FOLDER}/base.bundle", bundle)
        if shallow:
            ends = "".join(f"{commit}\n" for commit in shallow)
            runtime.upload(f"{FOLDER}/shallow", ends.encode())
        workspace._run("check-out", sha, branch)
        return workspace

    def begin_merge(self, sha: str) -> None:
        """Merge a commit of the bundle into the work tree, without committing.

        What conflicts is left as git leaves it, for the agent.
        """
        self._run("begin-merge", sha)

    def mark_merge(self, sha: str) -> None:
        """Say that the work tree holds a merge of that commit which is not ended."""
        self._run("mark-merge", sha)

    def mark_prepared(self) -> None:
        """Say that what .gitignore covers is there again in every checkout from here.

        So it is with what the repository's own set-up makes.
        """
        self._run("mark-prepared")

    def export(
        self,
        base_sha: str,
        message: str = MESSAGE,
        max_bytes: int = MAX_BUNDLE_BYTES,
        *,
        is_last: bool = False,
        takes_stray_work: bool = False,
    ) -> Export:
        """Return the work tree as a bundle of one commit on top of `base_sha`.

        The bundle offers it as `HEAD`. Submodules stay at their commits, and what the
        agent committed counts only by its content. What cannot be transferred is
        skipped and named; with `is_last` so are changes that the agent may have
        forgotten. With `takes_stray_work` the newest stash, branch or other work tree
        counts if there is no other change.
        """
        answer = self._run(
            "export",
            base_sha,
            message,
            str(max_bytes),
            str(MAX_FILE_BYTES),
            "last" if is_last else "",
            "aside" if takes_stray_work else "",
        )
        bundle = (
            self._runtime.download(f"{FOLDER}/head.bundle", max_bytes)
            if answer.head
            else None
        )
        return Export(bundle, answer.left_out, answer.conflicts, answer.taken_from)

    def _run(self, *words: str) -> _TransferReply:
        """Run the program inside; return what it has to tell."""
        # Written each time: a program in the sandbox may have changed the file.
        self._runtime.upload(f"/workspace/{PROGRAM}", pack_transfer_program())
        command = f'python3 -I -S "$WORKSPACE"/{PROGRAM} {shlex.join(words)}'
        action = RunCommand(command=command, session=self._session, timeout_s=GIT_S)
        output = self._runtime.run(action, self._ids.new())
        if not isinstance(output, CommandOutput):
            raise SandboxError(f"git could not be run in the sandbox: {output}")
        if output.still_running:
            kill = ControlCommand(handle=output.handle, act=ControlAct.KILL)
            self._runtime.run(kill, self._ids.new())
            raise SandboxError(f"git took more than {GIT_S:g} s in the sandbox")
        return _read_answer(output)


def _read_answer(output: CommandOutput) -> _TransferReply:
    last_line = output.output.strip().rpartition("\n")[2]
    try:
        answer = _TransferReply.model_validate_json(last_line)
    except ValidationError as error:
        text = f"git could not be run in the sandbox: {output.output[-1000:]}"
        raise SandboxError(text) from error
    if answer.error:
        raise SandboxError(answer.error)
    return answer
