"""Prove a change: run its tests in fresh sandboxes, without it and with it."""

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from patchwright.core.events.actions import RunCommand
from patchwright.core.events.log import EventLog
from patchwright.core.events.observations import EvidenceRecorded
from patchwright.core.events.payload import Source
from patchwright.core.runtime import Runtime, RuntimeFactory, SandboxSpec
from patchwright.core.system.clock import Clock, with_log_context
from patchwright.core.types.evidence import (
    Evidence,
    EvidenceRole,
    ProofReport,
)
from patchwright.core.types.work import Task
from patchwright.integrations.git.changes import ChangedPath, find_test_dependencies
from patchwright.integrations.git.objects import ObjectStore
from patchwright.resolver.guards.tampering import changed_tests
from patchwright.resolver.proof.evidence import (
    ProofResult,
    find_regressions,
    judge_evidence,
)
from patchwright.resolver.proof.reported_command import ReportedCommand
from patchwright.resolver.proof.runner_calls import (
    recipe_of,
    recipe_paths,
)
from patchwright.resolver.sandboxes import (
    NO_SET_UP,
    SetUp,
    close_and_record_blocked,
    run_to_end,
    set_up_unrecorded,
)
from patchwright.resolver.services import RunDependencies, set_up_of_task
from patchwright.sandbox.workspace import Workspace

MAX_COMMANDS = 5
COMMAND_LIMIT_S = 900.0
_TAIL_CHARS = 2_000
# A longer list of names does not help a reader.
_MOST_NAMES = 100
_MAX_RECIPE_BYTES = 500_000


@dataclass(frozen=True)
class ProofRequest:
    """The change from `base_sha` to `head_sha`, and what is to be run to prove it.

    `commands` are named by who made the change, `tests` by the repository. The tests of
    a merge need not have failed before. A change that `is_doubtful` affects how its own
    tests are run.
    """

    base_sha: str
    head_sha: str
    commands: tuple[str, ...]
    tests: tuple[str, ...] = ()
    set_up: SetUp = NO_SET_UP
    is_merge: bool = False
    is_doubtful: bool = False


@dataclass(frozen=True)
class ProofDependencies:
    """What a proof needs; it starts sandboxes like `spec`."""

    sandboxes: RuntimeFactory
    spec: SandboxSpec
    code: ObjectStore
    log: EventLog
    clock: Clock


def proof_request(
    task: Task,
    dependencies: RunDependencies,
    head_sha: str,
    commands: Sequence[str],
    *,
    is_doubtful: bool = False,
) -> ProofRequest:
    """Return what is to be proven of a change that was made for a task."""
    return ProofRequest(
        base_sha=task.base_sha,
        head_sha=head_sha,
        commands=tuple(commands),
        tests=task.tests,
        set_up=set_up_of_task(task, dependencies),
        is_merge=bool(task.merge_sha),
        is_doubtful=is_doubtful,
    )


def proof_dependencies(dependencies: RunDependencies) -> ProofDependencies:
    return ProofDependencies(
        dependencies.sandboxes,
        dependencies.spec,
        dependencies.code,
        dependencies.log,
        dependencies.clock,
    )


def prove(request: ProofRequest, dependencies: ProofDependencies) -> ProofResult:
    """Run the commands on base plus the new tests, and on head; record the results.

    Raises `SandboxError` and `GitError` where nothing could be run.

    The repository's own tests, and the tests of a merge, run on head only: they need
    not have failed before. If tests of the base were changed, the old tests run too.
    The runs are independent, so they run in parallel.
    """
    named = [one for one in request.commands if one.strip()][:MAX_COMMANDS]
    chosen = list(dict.fromkeys([*named, *request.tests]))
    if not chosen:
        return _result(request, ())
    base_sha, head_sha = request.base_sha, request.head_sha
    changes = dependencies.code.changed_paths(base_sha, head_sha)
    runs = _EvidenceRuns(
        request, dependencies, frozenset(changed.path for changed in changes)
    )
    red = [] if request.is_merge else named
    with ThreadPoolExecutor(2, thread_name_prefix="evidence") as pool:
        before_sha = _with_new_files(dependencies, base_sha, head_sha, changes)
        before = pool.submit(
            with_log_context(runs.run), EvidenceRole.BEFORE, before_sha, red
        )
        after = pool.submit(
            with_log_context(runs.run), EvidenceRole.AFTER, head_sha, chosen
        )
        then = pool.submit(
            with_log_context(runs.run_old_tests), head_sha, chosen, changes
        )
        reds = [_limit_names(one, lambda _: False) for one in before.result()]
        greens = [_keep_fixed_tests(reds, one) for one in after.result()]
        olds = [_limit_names(one, lambda _: False) for one in then.result()]
        evidence = (*reds, *greens, *olds)
    for one in evidence:
        dependencies.log.append(Source.SYSTEM, EvidenceRecorded(evidence=one))
    return _result(request, evidence)


def _result(request: ProofRequest, evidence: tuple[Evidence, ...]) -> ProofResult:
    verdict = judge_evidence(evidence, is_doubtful=request.is_doubtful)
    report = ProofReport(
        reason=verdict.reason, base_sha=request.base_sha, head_sha=request.head_sha
    )
    return ProofResult(verdict.level, report, evidence, find_regressions(evidence))


def _with_new_files(
    dependencies: ProofDependencies,
    base_sha: str,
    head_sha: str,
    changes: Sequence[ChangedPath],
) -> str:
    """Return the base with the new tests, and with other files that they may need."""
    needed = [changed.path for changed in find_test_dependencies(changes)]
    return (
        dependencies.code.with_tests_of(base_sha, head_sha, needed)
        if needed
        else base_sha
    )


def _keep_fixed_tests(before: Sequence[Evidence], after: Evidence) -> Evidence:
    """Keep only the passed tests that failed before: the other list is too long."""
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

    request: ProofRequest
    dependencies: ProofDependencies
    changed: frozenset[str]

    def run_old_tests(
        self, head_sha: str, commands: Sequence[str], changes: Sequence[ChangedPath]
    ) -> list[Evidence]:
        """Run the commands on head with the base's tests, if the result is useful.

        A command that fails on the base itself, for example because it names a new
        test, proves nothing about the change.
        """
        paths = [] if self.request.is_merge else changed_tests(changes)
        if not paths:
            return []
        base_sha, role = self.request.base_sha, EvidenceRole.BASE_TESTS
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
            # The sandbox must not show which commit it is: a test could depend on it.
            alike = self.dependencies.code.without_history(commit)
            packed = self.dependencies.code.bundle(alike)
            Workspace.check_out(runtime, packed, alike, "evidence")
            set_up_unrecorded(self.request.set_up, runtime, commit)
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
        bench = ReportedCommand.prepare_report(
            runtime, command, self.changed, self._recipe(command)
        )
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
        """Return the commands inside the repository's scripts that a command calls.

        Changes to these scripts are reported elsewhere.
        """
        paths = recipe_paths(command)
        found = self.dependencies.code.read_files(
            self.request.base_sha, paths, _MAX_RECIPE_BYTES
        )
        texts = {
            path: text.decode("utf-8", "replace")
            for path, text in found.items()
            if isinstance(text, bytes)
        }
        return recipe_of(command, texts)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
