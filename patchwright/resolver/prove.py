"""Prove a change: run its tests in fresh sandboxes, without it and with it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from patchwright.core.events.log import EventLog
from patchwright.core.events.observations import EvidenceRecorded
from patchwright.core.events.payload import Source
from patchwright.core.runtime import RuntimeFactory, SandboxSpec
from patchwright.core.system.clock import Clock
from patchwright.core.text.escape import inline_code
from patchwright.core.types.evidence import Evidence, ProofReason, ProofReport
from patchwright.core.types.work import Task
from patchwright.integrations.git.changes import is_test
from patchwright.integrations.git.objects import ObjectStore
from patchwright.resolver.proof.change_facts import ChangeFacts
from patchwright.resolver.proof.evidence import ProofResult
from patchwright.resolver.proof.hunk_coverage import HunkCoverage
from patchwright.resolver.proof.judgement import ProofFindings, judge
from patchwright.resolver.proof.lanes import Deadline
from patchwright.resolver.proof.proof_sandbox import ProofPlace
from patchwright.resolver.proof.regressions import SuiteFindings
from patchwright.resolver.proof.stages import ProofStages
from patchwright.resolver.services import RunDependencies, set_up_of_task
from patchwright.resolver.set_up.sandboxes import NO_SET_UP, SetUp

MAX_COMMANDS = 5
# A longer list of names does not help a reader.
_MOST_NAMES: Final = 100
_SHOWN_NAMES: Final = 10
# The sum of what the stages may take is far below; no proof goes on for longer.
_LONGEST_S: Final = 7_200.0


@dataclass(frozen=True)
class ProofRequest:
    """The change from `base_sha` to `head_sha`, and what is to be run to prove it.

    `commands` are named by who made the change, `tests` by the repository. The tests of
    a merge need not have failed before. A change that `is_doubtful` affects how its own
    tests are run, as far as that is known already. With `is_rerun` there is nothing
    new to be proven: an earlier proof is run again. After `time_limit_s` nothing new is
    begun.
    """

    base_sha: str
    head_sha: str
    commands: tuple[str, ...]
    tests: tuple[str, ...] = ()
    set_up: SetUp = NO_SET_UP
    is_merge: bool = False
    is_doubtful: bool = False
    is_rerun: bool = False
    time_limit_s: float = _LONGEST_S


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
    """Return what is to be proven of a change that was made for a task.

    A pull request that was there before is proven as a whole, with its earlier tests.
    Then a merge of its base branch is no exception: they failed there.
    """
    return ProofRequest(
        base_sha=task.proof_base,
        head_sha=head_sha,
        commands=tuple(dict.fromkeys((*commands, *task.earlier_tests))),
        tests=task.tests,
        set_up=set_up_of_task(task, dependencies),
        is_merge=bool(task.merge_sha) and not task.earlier_tests,
        is_doubtful=is_doubtful,
        is_rerun=_is_rerun(task, dependencies.code, head_sha),
    )


def _is_rerun(task: Task, code: ObjectStore, head_sha: str) -> bool:
    """Tell whether earlier tests of a pull request are all that can prove it.

    So it is where the work since then has left the tests as they were. What a merge
    brings from the base branch is no work on them.
    """
    if not task.earlier_tests:
        return False
    since = code.changed_paths(task.base_sha, head_sha)
    return bool(task.merge_sha) or not any(is_test(one.path) for one in since)


def proof_dependencies(dependencies: RunDependencies) -> ProofDependencies:
    return ProofDependencies(
        dependencies.sandboxes,
        dependencies.spec,
        dependencies.code,
        dependencies.log,
        dependencies.clock,
    )


def prove(request: ProofRequest, dependencies: ProofDependencies) -> ProofResult:
    """Run the tests of a change and the repository's own; record and judge the results.

    The commands run on base plus the new tests, and on head, in fresh sandboxes. Tests
    of the change that no command has run are found by their files. Raises
    `SandboxError` and `GitError` where nothing could be run.
    """
    facts = ChangeFacts.read(dependencies.code, request.base_sha, request.head_sha)
    found, suite, coverage = _stages(request, dependencies, facts).run()
    matters = frozenset((*(one.name for one in found.proving), *found.newly_failing))
    evidence = tuple(_limit_names(one, matters) for one in found.evidence)
    for one in evidence:
        dependencies.log.append(Source.SYSTEM, EvidenceRecorded(evidence=one))
    verdict = judge(found)
    report = _report(request, verdict.reason, found, suite, coverage)
    return ProofResult(verdict.level, report, evidence, _warnings(found))


def _stages(
    request: ProofRequest, dependencies: ProofDependencies, facts: ChangeFacts
) -> ProofStages:
    place = ProofPlace(
        sandboxes=dependencies.sandboxes,
        spec=dependencies.spec,
        code=dependencies.code,
        log=dependencies.log,
        clock=dependencies.clock,
        set_up=request.set_up,
        base_sha=request.base_sha,
        changed=facts.paths,
    )
    named = dict.fromkeys(one.strip() for one in request.commands if one.strip())
    return ProofStages(
        place=place,
        facts=facts,
        named=tuple(named)[:MAX_COMMANDS],
        configured=tuple(dict.fromkeys(request.tests)),
        is_merge=request.is_merge,
        is_doubtful=request.is_doubtful or facts.is_doubtful,
        until=Deadline.after(dependencies.clock, request.time_limit_s),
    )


def _report(
    request: ProofRequest,
    reason: ProofReason,
    found: ProofFindings,
    suite: SuiteFindings,
    coverage: HunkCoverage,
) -> ProofReport:
    return ProofReport(
        reason=reason,
        base_sha=request.base_sha,
        head_sha=request.head_sha,
        tests=found.proving[:_MOST_NAMES],
        newly_failing=found.newly_failing[:_MOST_NAMES],
        altered=found.altered[:_MOST_NAMES],
        flaky=found.flaky[:_MOST_NAMES],
        uncovered=coverage.uncovered[:_MOST_NAMES],
        hunks=coverage.hunks,
        hunks_tried=coverage.tried,
        suite_command=suite.command,
        suite_tests=suite.tests,
        suite_complete=suite.is_complete,
        is_rerun=request.is_rerun,
    )


def _warnings(found: ProofFindings) -> tuple[str, ...]:
    """Say which tests a reviewer must look at, a sentence for each kind."""
    told = (
        (found.failing, "Tests that come with the change fail with it"),
        (found.newly_failing, "Tests that passed before the change fail with it"),
        (found.silenced, "Tests that ran before the change do not run with it"),
        (
            found.altered,
            "The change alters tests whose earlier version passed before and fails now",
        ),
        (found.flaky, "Tests had different results on the same files"),
    )
    return tuple(f"{words}: {_list_names(names)}." for names, words in told if names)


def _list_names(names: Sequence[str]) -> str:
    shown = ", ".join(inline_code(name) for name in names[:_SHOWN_NAMES])
    left = len(names) - _SHOWN_NAMES
    return f"{shown} and {left} more" if left > 0 else shown


def _limit_names(one: Evidence, matters: frozenset[str]) -> Evidence:
    """Keep the names of tests that tell something: the other list is too long."""
    results = one.results
    if results is None:
        return one

    def some(names: Sequence[str], keep: Callable[[str], bool]) -> tuple[str, ...]:
        return tuple(filter(keep, names))[:_MOST_NAMES]

    failing = some(results.failing, lambda _: True)
    broken = some(results.broken, lambda _: True)
    kept = {*failing, *broken}
    return one.replace(
        results=results.replace(
            failing=failing,
            broken=broken,
            passing=some(results.passing, matters.__contains__),
            skipping=some(results.skipping, matters.__contains__),
            causes={n: cause for n, cause in results.causes.items() if n in kept},
        )
    )
