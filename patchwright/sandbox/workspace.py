"""The repository in a sandbox: commits go in and come out as bundles."""

import json
import shlex
from importlib.resources import files
from typing import Self

from patchwright.core.errors import SandboxError
from patchwright.core.events.types import (
    CommandOutput,
    ControlAct,
    ControlCommand,
    RunCommand,
)
from patchwright.core.runtime import Runtime
from patchwright.core.types.ids import Ids, RandomIds

PROGRAM = "carry/carry.py"
FOLDER = "/workspace/carry"
GIT_S = 600.0
MAX_BUNDLE_BYTES = 64 << 20
MESSAGE = "Work tree of a Patchwright run"


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
    ) -> Self:
        """Put the commit `sha` out of the bundle into `/workspace/repo`, on a branch.

        The bundle holds its whole history. Raises `SandboxError`, also when the image
        has no git.
        """
        workspace = cls(runtime, ids or RandomIds())
        runtime.upload(f"{FOLDER}/base.bundle", bundle)
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

    def export(
        self,
        base_sha: str,
        message: str = MESSAGE,
        max_bytes: int = MAX_BUNDLE_BYTES,
    ) -> bytes | None:
        """Return the work tree as a bundle of one commit on top of `base_sha`.

        The bundle offers it as `HEAD`. None means that nothing differs. Submodules stay
        at their commits, and what the agent committed counts only by its content.
        """
        head = self._run("export", base_sha, str(max_bytes), message)
        return (
            self._runtime.download(f"{FOLDER}/head.bundle", max_bytes) if head else None
        )

    def _run(self, *words: str) -> str:
        """Run the program inside; return the commit it names, or an empty text."""
        source = files("patchwright.sandbox.inside").joinpath("carry.py").read_bytes()
        # Each time anew: what lies in a sandbox may have been changed there.
        self._runtime.upload(f"/workspace/{PROGRAM}", source)
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


def _read_answer(output: CommandOutput) -> str:
    last_line = output.output.strip().rpartition("\n")[2]
    try:
        answer = json.loads(last_line)
    except ValueError as error:
        text = f"git could not be run in the sandbox: {output.output[-1000:]}"
        raise SandboxError(text) from error
    if "error" in answer:
        raise SandboxError(answer["error"])
    return str(answer["head"])
