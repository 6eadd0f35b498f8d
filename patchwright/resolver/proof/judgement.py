"""Say what everything amounts to that was run to prove a change."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from patchwright.core.types.evidence import (
    Evidence,
    EvidenceRole,
    Proof,
    ProofReason,
    RunStatus,
    TestChange,
)
from patchwright.resolver.proof.comparison import Pair, is_red
from patchwright.resolver.proof.runner_calls import read_call
from patchwright.resolver.proof.runners import NO_PROGRAM


@dataclass(frozen=True)
class ProofFindings:
    """What the runs have shown; tests by their names.

    `proving` are the tests that fail without the change (with `from_part`: without a
    part of it) and pass with it. `missing` fail without it only because something is
    not there. `failing` come with the change and fail with it, `still_failing` failed
    before, too. `newly_failing`, `altered`, `silenced` and `flaky` are as in
    `SuiteFindings`; `unchanged` says that a test of the change passes without it, too.
    `pairs` are the commands on both sides, `evidence` all that was run. Without
    `needs_code` the proving tests pass without any of the changed code.
    """

    evidence: tuple[Evidence, ...] = ()
    pairs: tuple[Pair, ...] = ()
    proving: tuple[TestChange, ...] = ()
    from_part: bool = False
    missing: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()
    still_failing: tuple[str, ...] = ()
    newly_failing: tuple[str, ...] = ()
    altered: tuple[str, ...] = ()
    silenced: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    unchanged: bool = False
    needs_code: bool = True
    is_doubtful: bool = False
    is_merge: bool = False


@dataclass(frozen=True)
class ProofVerdict:
    level: Proof
    reason: ProofReason


def judge(found: ProofFindings) -> ProofVerdict:
    """Return the level of a change, and the most telling reason for it.

    What speaks against the change comes first, then what keeps its tests from counting.
    """
    contradiction = _contradiction(found)
    if contradiction is not None:
        return ProofVerdict(Proof.CONTRADICTED, contradiction)
    objection = _objection(found)
    if objection is not None:
        return ProofVerdict(Proof.NOT_PROVEN, objection)
    if found.proving:
        shown = (
            ProofReason.RED_WITHOUT_PART
            if found.from_part
            else ProofReason.RED_TO_GREEN
        )
        return ProofVerdict(Proof.PROVEN, shown)
    if _is_shown_by_command(found):
        return ProofVerdict(Proof.SHOWN_BY_COMMAND, ProofReason.COMMAND_TO_GREEN)
    return ProofVerdict(Proof.NOT_PROVEN, _why_not(found))


def _contradiction(found: ProofFindings) -> ProofReason | None:
    if found.failing and not found.is_merge:
        return ProofReason.FAILS_WITH_CHANGE
    if found.newly_failing:
        return ProofReason.BREAKS_TESTS
    if any(map(_turns_by_command, found.pairs)):
        return ProofReason.FAILS_WITH_CHANGE
    return None


def _objection(found: ProofFindings) -> ProofReason | None:
    """Return what keeps a change from being proven, whatever else was shown."""
    if found.altered:
        return ProofReason.ALTERED_TESTS
    shows = found.proving or found.silenced or _is_shown_by_command(found)
    if found.is_doubtful and shows:
        return ProofReason.DOUBTFUL
    if found.silenced:
        return ProofReason.NOT_RUN_WITH_CHANGE
    if found.proving and not found.needs_code:
        return ProofReason.UNCOVERED
    return None


def _is_shown_by_command(found: ProofFindings) -> bool:
    return not found.is_merge and any(map(_mends_by_command, found.pairs))


# Said of a file that only the changed code has.
_NO_FILE: Final = (
    *("No such file or directory", "can't open file", "cannot open", "Cannot find"),
    *("not found", "does not exist"),
)


def _mends_by_command(pair: Pair) -> bool:
    """Tell whether a command fails and then passes that is no call of a test runner."""
    code = pair.before.exit_code
    return (
        _is_plain(pair)
        and code not in (None, 0, *NO_PROGRAM)
        and pair.after.exit_code == 0
        and not any(words in pair.before.tail for words in _NO_FILE)
    )


def _turns_by_command(pair: Pair) -> bool:
    ended = pair.after.exit_code not in (None, 0, *NO_PROGRAM)
    return _is_plain(pair) and pair.before.exit_code == 0 and ended


def _is_plain(pair: Pair) -> bool:
    return (
        read_call(pair.command) is None
        and pair.before.results is None
        and pair.after.results is None
    )


def _why_not(found: ProofFindings) -> ProofReason:
    """Say why nothing was shown, with what the tests themselves said first."""
    after = _with_role(found.evidence, EvidenceRole.AFTER)
    before = _with_role(found.evidence, EvidenceRole.BEFORE)
    if not after:
        return ProofReason.NO_COMMAND
    if found.is_merge:
        return ProofReason.NO_RUNNER
    if found.missing:
        return ProofReason.MISSING_NAME
    if found.flaky:
        return ProofReason.FLAKY
    if _any_status(after, RunStatus.TIMED_OUT):
        return ProofReason.TIMED_OUT
    if found.unchanged:
        return ProofReason.GREEN_WITHOUT_CHANGE
    if found.still_failing:
        return ProofReason.FAILS_WITH_CHANGE
    if any(map(is_red, before)) or any(map(_only_skips, after)):
        return ProofReason.NOT_RUN_WITH_CHANGE
    return _why_not_run(before, after)


def _why_not_run(before: Sequence[Evidence], after: Sequence[Evidence]) -> ProofReason:
    """Say why no test has told anything."""
    both = (*after, *before)
    if _any_status(both, RunStatus.TIMED_OUT) or any(
        one.exit_code is None for one in both
    ):
        return ProofReason.TIMED_OUT
    if _any_status(both, RunStatus.COLLECTION_ERROR):
        return ProofReason.COLLECTION_ERROR
    if _any_status(after, RunStatus.NO_RUNNER) or any(
        one.exit_code in NO_PROGRAM for one in both
    ):
        return ProofReason.NO_RUNNER
    if _any_status(both, RunStatus.NO_TESTS):
        return ProofReason.NO_TESTS
    if any(one.exit_code == 0 for one in before):
        return ProofReason.GREEN_WITHOUT_CHANGE
    if any(one.exit_code != 0 for one in after):
        return ProofReason.FAILS_WITH_CHANGE
    return ProofReason.COLLECTION_ERROR


def _with_role(evidence: Sequence[Evidence], role: EvidenceRole) -> list[Evidence]:
    return [one for one in evidence if one.role is role]


def _any_status(evidence: Sequence[Evidence], status: RunStatus) -> bool:
    return any(one.status is status for one in evidence)


def _only_skips(one: Evidence) -> bool:
    found = one.results
    ran = found is not None and (found.passed or found.failed)
    return found is not None and found.skipped > 0 and not ran
