"""Run tests again, to know those that do not always end in the same way."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from patchwright.core.types.evidence import Evidence, EvidenceRole, TestVerdict
from patchwright.resolver.proof.comparison import Pair, verdicts_of
from patchwright.resolver.proof.lanes import (
    Deadline,
    Lane,
    open_lanes,
    run_on_both,
)
from patchwright.resolver.proof.proof_sandbox import ProofPlace
from patchwright.resolver.proof.test_selection import command_for

# Together with the first run, three in all.
AGAIN: Final = 2
# A longer command is only run once more.
_LONG_S: Final = 5.0
_ROLES: Final = (EvidenceRole.BEFORE, EvidenceRole.AFTER)


@dataclass(frozen=True)
class Repeats:
    """Runs tests again on both sides, in the lanes in which they ran first.

    A test that leaves something behind can fail there because of that. Whether it is
    flaky is then seen in fresh sandboxes. One that passes without the change is flaky
    in any case.
    """

    place: ProofPlace
    before: Lane
    after: Lane
    until: Deadline

    def find_flaky(self, pair: Pair, mended: Sequence[str]) -> tuple[str, ...]:
        """Return which of these tests do not fail before and pass after each time."""
        command = command_for(pair.command, mended) or pair.command
        is_quick = command != pair.command or pair.seconds < _LONG_S
        times = AGAIN if is_quick else 1
        again = run_on_both(
            self.before, self.after, _ROLES, [command] * times, self.until
        )
        ended = [one for one in again if _tells_of(one, mended)]
        flaky = {n: None for one in again for n in mended if _passes(one.before, n)}
        differing = {n: None for one in ended for n in mended if _differs(one, n)}
        unsure = [name for name in differing if name not in flaky]
        return (*flaky, *self._flaky_when_fresh(command, unsure))

    def _flaky_when_fresh(self, command: str, names: Sequence[str]) -> tuple[str, ...]:
        if not names:
            return ()
        runs = [
            pair
            for _ in range(AGAIN)
            for pair in self._run_fresh(command)
            if _tells_of(pair, names)
        ]
        return tuple(
            name
            for name in names
            if not runs or any(_differs(one, name) for one in runs)
        )

    def _run_fresh(self, command: str) -> list[Pair]:
        with open_lanes(self.place, self.before.commit, self.after.commit) as lanes:
            return run_on_both(lanes[0], lanes[1], _ROLES, [command], self.until)

    def find_passing(self, pair: Pair, failing: Sequence[str]) -> tuple[str, ...]:
        """Return which of these tests, that failed with the change, do not always."""
        command = command_for(pair.command, failing) or pair.command
        passed: dict[str, None] = {}
        for _ in range(AGAIN):
            if self.until.has_passed:
                break
            verdicts = verdicts_of(self.after.run(_ROLES[1], command, self.until))
            passed |= dict.fromkeys(
                name for name in failing if verdicts.get(name) is TestVerdict.PASSED
            )
        return tuple(passed)


def _tells_of(pair: Pair, names: Sequence[str]) -> bool:
    """Tell whether tests have run again.

    At its deadline a command is ended. Behind a script, a build tool may find that
    what has passed is up to date.
    """
    is_cut_off = pair.before.exit_code is None or pair.after.exit_code is None
    is_skipped = (
        pair.after.exit_code == 0
        and pair.after.results is None
        and pair.command not in names
    )
    return not (is_cut_off or is_skipped)


def _passes(one: Evidence, name: str) -> bool:
    if name == one.command:
        return one.exit_code == 0
    return verdicts_of(one).get(name) is TestVerdict.PASSED


def _differs(pair: Pair, name: str) -> bool:
    """Tell whether a test does not go from red to green; a command may stand for it."""
    return _passes(pair.before, name) or not _passes(pair.after, name)
