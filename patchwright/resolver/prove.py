"""Prove a change: run its tests in fresh sandboxes, without it and with it."""

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from patchwright.core.background import with_log_context
from patchwright.core.events.types import (
    EvidenceRecorded,
    RunCommand,
    Source,
)
from patchwright.core.runtime import Runtime
from patchwright.core.types.work import Evidence, EvidenceRole, Task
from patchwright.integrations.git.changes import ChangedPath
from patchwright.integrations.git.paths import find_test_dependencies
from patchwright.resolver.bench import ReportedCommand
from patchwright.resolver.blocked import close_and_record_blocked
from patchwright.resolver.guards.tampering import changed_tests
from patchwright.resolver.recipes import recipe_of, recipe_paths
from patchwright.resolver.setup import run_to_end, set_up_unrecorded
from patchwright.resolver.toolkit import RunDependencies, set_up_of_task
from patchwright.sandbox.workspace import Workspace

MAX_COMMANDS = 5
COMMAND_LIMIT_S = 900.0
_TAIL_CHARS = 2_000
# More names than this tell nobody more.
_MOST_NAMES = 100
_MAX_RECIPE_BYTES = 500_000


def prove(
    task: Task, dependencies: RunDependencies, head_sha: str, commands: Sequence[str]
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
    changes = dependencies.code.changed_paths(base_sha, head_sha)
    runs = _EvidenceRuns(task, dependencies, frozenset(changed.path for changed in changes), base_sha)
    red = [] if task.merge_sha else named
    with ThreadPoolExecutor(2, thread_name_prefix="evidence") as pool:
        before_sha = _with_new_files(dependencies, base_sha, head_sha, changes)
        before = pool.submit(with_log_context(runs.run), EvidenceRole.BEFORE, before_sha, red)
        after = pool.submit(with_log_context(runs.run), EvidenceRole.AFTER, head_sha, chosen)
        then = pool.submit(with_log_context(runs.run_old_tests), head_sha, chosen, changes)
        reds = [_limit_names(one, lambda _: False) for one in before.result()]
        greens = [_keep_fixed_tests(reds, one) for one in after.result()]
        olds = [_limit_names(one, lambda _: False) for one in then.result()]
        evidence = (*reds, *greens, *olds)
    for one in evidence:
        dependencies.log.append(Source.SYSTEM, EvidenceRecorded(evidence=one))
    return evidence


def _with_new_files(
    dependencies: RunDependencies, base_sha: str, head_sha: str, changes: Sequence[ChangedPath]
) -> str:
    """Return the base with the new tests, and with all else that they may need."""
    needed = [changed.path for changed in find_test_dependencies(changes)]
    return dependencies.code.with_tests_of(base_sha, head_sha, needed) if needed else base_sha


def _keep_fixed_tests(before: Sequence[Evidence], after: Evidence) -> Evidence:
    """Keep of the tests that passed those that failed before: the others are many."""
    was = next((one for one in before if one.command == after.command), None)
    failing = set(was.results.failing) if was and was.results else set[str]()
    return _limit_names(after, lambda name: name in failing)


def _limit_names(one: Evidence, matters: Callable[[str], bool]) -> Evidence:
    results = one.results
    if results is None:
        return one
    passing = tuple(filter(matters, results.passing))
    failing = results.failing[:_MOST_NAMES]
    fewer = results.model_dump() | {"passing": passing, "failing": failing}
    return Evidence.model_validate(one.model_dump() | {"results": fewer})


@dataclass(frozen=True)
class _EvidenceRuns:
    """Runs commands on commits, each time in a sandbox of its own."""

    task: Task
    dependencies: RunDependencies
    changed: frozenset[str]
    base_sha: str

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
        commit = self.dependencies.code.with_tests_of(head_sha, base_sha, paths)
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
        spec = self.dependencies.spec.replace(role="evidence")
        runtime = self.dependencies.sandboxes.start(spec)
        try:
            # Which commit it is must not be seen inside: a test could go by it.
            alike = self.dependencies.code.without_history(commit)
            packed = self.dependencies.code.bundle(alike)
            Workspace.check_out(runtime, packed, alike, "evidence")
            set_up_unrecorded(set_up_of_task(self.task, self.dependencies), runtime)
            return [
                self._run_one(runtime, role, commit, command, f"proof-{number}")
                for number, command in enumerate(commands)
            ]
        finally:
            close_and_record_blocked(runtime, self.dependencies.log)

    def _run_one(
        self,
        runtime: Runtime,
        role: EvidenceRole,
        commit: str,
        command: str,
        name: str,
    ) -> Evidence:
        """Run one command in a shell of its own."""
        bench = ReportedCommand.prepare_report(runtime, command, self.changed, self._recipe(command))
        action = RunCommand(
            command=bench.script, session=name, timeout_s=COMMAND_LIMIT_S
        )
        started = self.dependencies.clock.monotonic()
        output = run_to_end(runtime, action, name)
        return Evidence(
            role=role,
            command=command,
            commit=commit,
            exit_code=output.exit_code,
            seconds=round(self.dependencies.clock.monotonic() - started, 3),
            digest=output.digest or _digest(output.output),
            tail=output.output[-_TAIL_CHARS:],
            results=bench.read(runtime, output),
        )

    def _recipe(self, command: str) -> str:
        """Return what the repository's scripts run that a command calls.

        What a change has altered in it is objected to elsewhere.
        """
        paths = recipe_paths(command)
        found = self.dependencies.code.read_files(self.base_sha, paths, _MAX_RECIPE_BYTES)
        texts = {
            path: text.decode("utf-8", "replace")
            for path, text in found.items()
            if isinstance(text, bytes)
        }
        return recipe_of(command, texts)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
