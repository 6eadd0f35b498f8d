"""Prove a change: run its tests in fresh sandboxes, without it and with it."""

import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from patchwright.core.background import carrying
from patchwright.core.events.types import (
    EvidenceRecorded,
    RunCommand,
    Source,
)
from patchwright.core.runtime import Runtime
from patchwright.core.text.fence import inline_code
from patchwright.core.types.work import Evidence, EvidenceRole, Proof, Task
from patchwright.integrations.git.changes import ChangedPath
from patchwright.integrations.git.paths import find_tests
from patchwright.resolver.blocked import close_and_tell
from patchwright.resolver.guards.tampering import changed_tests
from patchwright.resolver.setup import run_to_end, set_up_quietly
from patchwright.resolver.toolkit import Toolkit, set_up_of
from patchwright.sandbox.workspace import Workspace

MAX_COMMANDS = 5
COMMAND_LIMIT_S = 900.0
_TAIL_CHARS = 2_000
# What a shell answers when it cannot run a command at all: no test has failed then.
# https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#tag_19_08_02
_NOT_RUN = (126, 127)


def judge(evidence: Sequence[Evidence]) -> Proof:
    """Return what the evidence amounts to: red on base and green on head, or not."""
    before = [one for one in evidence if one.role is EvidenceRole.BEFORE]
    after = [one for one in evidence if one.role is EvidenceRole.AFTER]
    if not before or not after:
        return Proof.NOT_PROVEN
    red = all(one.exit_code not in (0, None, *_NOT_RUN) for one in before)
    green = all(one.exit_code == 0 for one in after)
    return Proof.PROVEN if red and green else Proof.NOT_PROVEN


def find_regressions(evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """Say which commands the change breaks when the tests are as they were."""
    return tuple(
        f"{inline_code(one.command)} fails on the changed code with the tests of the "
        "base. It passed before the change."
        for one in evidence
        if one.role is EvidenceRole.BASE_TESTS and one.exit_code != 0
    )


def prove(
    task: Task, kit: Toolkit, head_sha: str, commands: Sequence[str]
) -> tuple[Evidence, ...]:
    """Run the commands on base plus the new tests, and on head; record what came of it.

    The repository's own tests, and those of a merge, are run on head alone: they need
    not have failed before. Where tests of the base were changed, they are run as they
    were, too. The runs know nothing of each other, so they run side by side.
    """
    named = [command for command in commands if command.strip()][:MAX_COMMANDS]
    chosen = list(dict.fromkeys([*named, *task.tests]))
    if not chosen:
        return ()
    base_sha = task.base_sha
    changes = kit.code.changed_paths(base_sha, head_sha)
    runs = _Runs(task, kit)
    red = [] if task.merge_sha else named
    with ThreadPoolExecutor(2, thread_name_prefix="evidence") as pool:
        before_sha = _with_new_tests(kit, base_sha, head_sha, changes)
        before = pool.submit(carrying(runs.run), EvidenceRole.BEFORE, before_sha, red)
        after = pool.submit(carrying(runs.run), EvidenceRole.AFTER, head_sha, chosen)
        then = pool.submit(carrying(runs.run_old_tests), head_sha, chosen, changes)
        evidence = (*before.result(), *after.result(), *then.result())
    for one in evidence:
        kit.log.append(Source.SYSTEM, EvidenceRecorded(evidence=one))
    return evidence


def _with_new_tests(
    kit: Toolkit, base_sha: str, head_sha: str, changes: Sequence[ChangedPath]
) -> str:
    tests = [changed.path for changed in find_tests(changes)]
    return kit.code.with_tests_of(base_sha, head_sha, tests) if tests else base_sha


@dataclass(frozen=True)
class _Runs:
    """Runs commands on commits, each time in a sandbox of its own."""

    task: Task
    kit: Toolkit

    def run_old_tests(
        self, head_sha: str, commands: Sequence[str], changes: Sequence[ChangedPath]
    ) -> list[Evidence]:
        """Run the commands on head with the base's tests, where that tells anything.

        A command that fails on the base itself, such as one that names a new test, says
        nothing about the change.
        """
        paths = [] if self.task.merge_sha else changed_tests(changes)
        if not paths:
            return []
        base_sha, role = self.task.base_sha, EvidenceRole.BASE_TESTS
        commit = self.kit.code.with_tests_of(head_sha, base_sha, paths)
        ran = self.run(role, commit, commands)
        failed = [one.command for one in ran if one.exit_code != 0]
        before = self.run(role, base_sha, failed)
        passed = {one.command for one in before if one.exit_code == 0}
        return [one for one in ran if one.exit_code == 0 or one.command in passed]

    def run(
        self, role: EvidenceRole, commit: str, commands: Sequence[str]
    ) -> list[Evidence]:
        if not commands:
            return []
        spec = self.kit.spec.model_copy(update={"role": "evidence"})
        runtime = self.kit.sandboxes.start(spec)
        try:
            packed = self.kit.code.bundle(commit)
            Workspace.check_out(runtime, packed, commit, "evidence")
            set_up_quietly(set_up_of(self.task, self.kit), runtime)
            return [
                self._run_one(runtime, role, commit, command, f"{role}-{number}")
                for number, command in enumerate(commands)
            ]
        finally:
            close_and_tell(runtime, self.kit.log)

    def _run_one(
        self,
        runtime: Runtime,
        role: EvidenceRole,
        commit: str,
        command: str,
        name: str,
    ) -> Evidence:
        """Run one command in a shell of its own."""
        action = RunCommand(command=command, session=name, timeout_s=COMMAND_LIMIT_S)
        started = self.kit.clock.monotonic()
        output = run_to_end(runtime, action, name)
        return Evidence(
            role=role,
            command=command,
            commit=commit,
            exit_code=output.exit_code,
            seconds=round(self.kit.clock.monotonic() - started, 3),
            digest=output.digest or _digest(output.output),
            tail=output.output[-_TAIL_CHARS:],
        )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
