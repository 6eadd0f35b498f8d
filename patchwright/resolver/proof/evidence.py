"""Say what the commands amount to that the controller has run."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from patchwright.core.text.escape import inline_code
from patchwright.core.types.evidence import (
    Evidence,
    EvidenceRole,
    Proof,
    ProofReason,
    ProofReport,
    TestResults,
)
from patchwright.core.types.work import Outcome


class RunnerKind(StrEnum):
    PYTEST = "pytest"
    UNITTEST = "unittest"
    NODE = "node --test"
    JEST = "jest"
    VITEST = "vitest"
    MOCHA = "mocha"
    GO = "go test"
    CARGO = "cargo test"
    RSPEC = "rspec"
    MINITEST = "minitest"
    PHPUNIT = "phpunit"
    DOTNET = "dotnet test"
    MAVEN = "maven"
    CTEST = "ctest"
    PROVE = "prove"
    SCRIPT = "the repository's own script"


_ANY_FAILURE: Final = range(1, 126)
# With which exit codes a runner says that tests ran and failed; others mean that they
# could not be run. https://docs.pytest.org/en/stable/reference/exit-codes.html
_FAILED: Final[dict[RunnerKind, Sequence[int]]] = {
    RunnerKind.PYTEST: (1,),
    RunnerKind.UNITTEST: (1,),
    RunnerKind.NODE: (1,),
    RunnerKind.JEST: (1,),
    RunnerKind.VITEST: (1,),
    RunnerKind.MOCHA: _ANY_FAILURE,  # how many have failed
    RunnerKind.GO: (1,),
    RunnerKind.CARGO: (101,),
    RunnerKind.RSPEC: (1,),
    RunnerKind.MINITEST: (1,),
    RunnerKind.PHPUNIT: (1, 2),
    RunnerKind.DOTNET: (1,),
    RunnerKind.MAVEN: (1,),
    RunnerKind.CTEST: (8,),
    RunnerKind.PROVE: _ANY_FAILURE,  # how many have failed
    RunnerKind.SCRIPT: _ANY_FAILURE,
}


def says_failed(runner: RunnerKind, exit_code: int | None) -> bool:
    """Tell whether the exit code is that of tests which ran and failed."""
    return exit_code in _FAILED[runner]


# What a shell answers when it cannot run a command at all: no check has failed then.
# https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#tag_19_08_02
_NOT_RUN: Final = (None, 126, 127)


@dataclass(frozen=True)
class ProofResult:
    """What a proof has found; `warnings` are for who reviews the change."""

    level: Proof
    report: ProofReport
    evidence: tuple[Evidence, ...] = ()
    warnings: tuple[str, ...] = ()

    def as_rerun(self) -> "ProofResult":
        """Return it as that of an earlier proof, which was run again."""
        return replace(self, report=self.report.replace(is_rerun=True))

    def applied_to(self, outcome: Outcome) -> Outcome:
        """Return the outcome with this proof in place of any that it had."""
        return outcome.replace(
            proof=self.level,
            proof_report=self.report,
            evidence=self.evidence,
            warnings=(*outcome.warnings, *self.warnings),
        )


@dataclass(frozen=True)
class ProofVerdict:
    level: Proof
    reason: ProofReason


def judge_evidence(
    evidence: Sequence[Evidence], *, is_doubtful: bool = False
) -> ProofVerdict:
    """Return what the evidence amounts to: red on base and green on head, or not.

    Red is a test that a known runner has seen fail. Green is that the same test has run
    and passed, and that no command fails with the change. A change that `is_doubtful`
    affects its own tests: a person must look at it first.
    """
    before = [one for one in evidence if one.role is EvidenceRole.BEFORE]
    after = [one for one in evidence if one.role is EvidenceRole.AFTER]
    mended = [_is_fixed(one, _same_command(one, after)) for one in before]
    green = all(one.exit_code == 0 for one in after)
    if not (mended and all(mended) and green):
        return _without_proof(before, after)
    if is_doubtful:
        return ProofVerdict(Proof.NOT_PROVEN, ProofReason.DOUBTFUL)
    return ProofVerdict(Proof.PROVEN, ProofReason.RED_TO_GREEN)


def _without_proof(
    before: Sequence[Evidence], after: Sequence[Evidence]
) -> ProofVerdict:
    """Say why evidence is no proof."""
    if not (before or after):
        return ProofVerdict(Proof.NOT_PROVEN, ProofReason.NO_COMMAND)
    if any(one.exit_code != 0 for one in after):
        return ProofVerdict(Proof.CONTRADICTED, ProofReason.FAILS_WITH_CHANGE)
    if any(one.exit_code == 0 for one in before):
        return ProofVerdict(Proof.NOT_PROVEN, ProofReason.GREEN_WITHOUT_CHANGE)
    if not before or any(one.exit_code in _NOT_RUN for one in before):
        return ProofVerdict(Proof.NOT_PROVEN, ProofReason.NO_RUNNER)
    if any(one.results is None for one in before):
        return ProofVerdict(Proof.SHOWN_BY_COMMAND, ProofReason.COMMAND_TO_GREEN)
    if not all(map(is_red, before)):
        return ProofVerdict(Proof.NOT_PROVEN, ProofReason.COLLECTION_ERROR)
    return ProofVerdict(Proof.NOT_PROVEN, ProofReason.NOT_RUN_WITH_CHANGE)


def _same_command(before: Evidence, after: Sequence[Evidence]) -> Evidence | None:
    return next((one for one in after if one.command == before.command), None)


def _is_fixed(before: Evidence, after: Evidence | None) -> bool:
    if after is None or after.exit_code != 0 or not is_red(before):
        return False
    was, now = before.results, after.results
    if was is None or now is None or was.runner != now.runner:
        return False
    if not was.names_tests:
        return _all_ran(was, now, was.failed)
    named = bool(was.failing) and set(was.failing) <= set(now.passing)
    return named and _all_ran(was, now, len(was.failing))


def _all_ran(was: TestResults, now: TestResults, mended: int) -> bool:
    """Tell whether no test was left out with the change that had run without it.

    Both have the same tests: what is new of them was put on the base, too.
    """
    if now.failed or now.skipped > was.skipped:
        return False
    return now.passed >= was.passed + mended


def is_red(one: Evidence) -> bool:
    """Tell whether a test has run and failed, by the report of its runner."""
    found = one.results
    if found is None or not found.failed:
        return False
    return says_failed(RunnerKind(found.runner), one.exit_code)


def earlier_commands(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """Return the test commands of the newest proof among outcomes, the oldest first.

    Where nothing was shown by any of them, it is what was tried last.
    """
    tried = [one for one in reversed(outcomes) if _commands_before(one)]
    shown = [
        one for one in tried if one.proof in (Proof.PROVEN, Proof.SHOWN_BY_COMMAND)
    ]
    newest = next(iter((*shown, *tried)), None)
    return _commands_before(newest) if newest else ()


def _commands_before(outcome: Outcome) -> tuple[str, ...]:
    before = (e.command for e in outcome.evidence if e.role is EvidenceRole.BEFORE)
    return tuple(dict.fromkeys(before))


def find_regressions(evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """Say which commands the change breaks when the tests are as they were."""
    return tuple(
        f"{inline_code(one.command)} fails on the changed code with the tests of the "
        "base. It passed before the change."
        for one in evidence
        if one.role is EvidenceRole.BASE_TESTS and one.exit_code != 0
    )
