"""See tests fail without a part of a change that cannot fail without all of it.

A test of something new cannot be loaded without the change, or it needs new files that
are then there, too. Whether it tests anything is seen when only a part is missing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from patchwright.core.types.evidence import (
    Evidence,
    EvidenceRole,
    TestChange,
    TestVerdict,
)
from patchwright.resolver.guards.tampering import is_source
from patchwright.resolver.proof.change_facts import ChangeFacts
from patchwright.resolver.proof.comparison import Pair, cause_of, is_red
from patchwright.resolver.proof.lanes import Deadline, open_lanes
from patchwright.resolver.proof.proof_sandbox import ProofPlace
from patchwright.resolver.proof.test_selection import command_for

_MOST_PARTS: Final = 6


@dataclass(frozen=True)
class PartFindings:
    """The tests that failed without a part, and the run in which they did."""

    tests: tuple[TestChange, ...] = ()
    commit: str = ""
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True)
class PartRuns:
    """Takes parts out of a change until a test fails that is loaded and runs.

    First all functions that the change adds are emptied, then each part of its code is
    taken out in turn. Each time it is a fresh sandbox.
    """

    place: ProofPlace
    facts: ChangeFacts
    until: Deadline

    def find_red(self, pair: Pair, names: Sequence[str]) -> PartFindings:
        """Return which of these tests, that pass with the change, then fail."""
        command = command_for(pair.command, names) or pair.command
        for commit in self._commits():
            if self.until.has_passed:
                break
            with open_lanes(self.place, commit) as [lane]:
                done = lane.run(EvidenceRole.WITHOUT_PART, command, self.until)
            tests = self._red_tests(done, names)
            if tests:
                return PartFindings(tests, commit, (done,))
        return PartFindings()

    def _commits(self) -> Iterator[str]:
        code, head_sha = self.facts.code, self.facts.head_sha
        if self.facts.hollow_files:
            yield code.with_files(head_sha, self.facts.hollow_files)
        parts = [part for part in self.facts.parts if is_source(part.path)]
        # Without its only part there is no change at all.
        for part in parts[:_MOST_PARTS] if len(parts) > 1 else ():
            yield code.with_files(head_sha, {part.path: part.without})

    def _red_tests(
        self, done: Evidence, names: Sequence[str]
    ) -> tuple[TestChange, ...]:
        if not is_red(done) or done.results is None:
            return ()
        added = self.facts.added_names
        return tuple(
            TestChange(
                name=name,
                before=TestVerdict.FAILED,
                after=TestVerdict.PASSED,
                cause=cause_of(done, name),
            )
            for name in done.results.failing
            if name in names and not added.explain_failure(done, name)
        )
