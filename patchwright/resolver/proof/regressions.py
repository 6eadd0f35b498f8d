"""Run the repository's own tests before and after a change, and compare them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from patchwright.core.types.evidence import (
    Evidence,
    EvidenceRole,
    RunStatus,
    TestChange,
    TestVerdict,
)
from patchwright.resolver.proof.change_facts import ChangeFacts
from patchwright.resolver.proof.comparison import (
    FAILING,
    Pair,
    has_no_runner,
    is_believed,
    verdicts_of,
)
from patchwright.resolver.proof.lanes import (
    Deadline,
    Lane,
    open_lanes,
    run_on_both,
)
from patchwright.resolver.proof.proof_sandbox import ProofPlace
from patchwright.resolver.proof.runner_calls import read_call
from patchwright.resolver.proof.test_commands import for_files
from patchwright.resolver.proof.test_files import find_related
from patchwright.resolver.proof.test_selection import command_for

_ROLES: Final = (EvidenceRole.SUITE_BEFORE, EvidenceRole.SUITE_AFTER)
# With fewer files it is not worth while to run some of them first.
_FEW_FILES: Final = 8
# So much longer than without the change, and not ended: the change is why.
_HANGS: Final = 5.0
_HANGS_AT_LEAST_S: Final = 60.0
# How many answers there are to whether a test fails.
_BOTH: Final = 2


@dataclass(frozen=True)
class SuiteFindings:
    """What the repository's own tests have shown.

    `tests` is how many passed without the change and were looked at with it. `mended`
    failed without the change and pass with it. `newly_failing` is the other way round;
    of `altered` the change has another version, which does not fail. `silenced` ran
    without the change only. `evidence` is what was run.
    """

    evidence: tuple[Evidence, ...] = ()
    command: str = ""
    tests: int = 0
    is_complete: bool = False
    mended: tuple[tuple[TestChange, Pair], ...] = ()
    newly_failing: tuple[str, ...] = ()
    altered: tuple[str, ...] = ()
    silenced: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()


@dataclass(frozen=True)
class Suites:
    """How the repository's own tests are run, on the base and on the result.

    `after_sha` is the result, with the tests of the base where it has changed them.
    `commands` are groups of commands: of each the first counts whose runner is there.
    `known` are pairs that were run on base with the new tests and on the result.
    """

    place: ProofPlace
    facts: ChangeFacts
    after_sha: str
    commands: tuple[tuple[str, ...], ...]
    known: Sequence[Pair]
    until: Deadline

    def compare(self, base: Lane, after: Lane) -> SuiteFindings:
        """Run the tests and compare; `after` has the tests of the base."""
        pairs = [
            pair for group in self.commands for pair in self._run(base, after, group)
        ]
        if not pairs:
            return SuiteFindings()
        found = [self._findings(pair) for pair in pairs]
        return SuiteFindings(
            evidence=tuple(one for pair in pairs for one in (pair.before, pair.after)),
            command="; ".join(dict.fromkeys(pair.command for pair in pairs)),
            tests=sum(one.tests for one in found),
            is_complete=len(pairs) >= len(self.commands)
            and all(one.is_complete for one in found),
            mended=tuple(item for one in found for item in one.mended),
            newly_failing=_unique(name for one in found for name in one.newly_failing),
            altered=_unique(name for one in found for name in one.altered),
            silenced=_unique(name for one in found for name in one.silenced),
            flaky=_unique(name for one in found for name in one.flaky),
        )

    def _run(self, base: Lane, after: Lane, group: Sequence[str]) -> list[Pair]:
        for command in group:
            pairs = [
                self._run_one(base, after, part)
                for part in self._parts(command)
                if not self.until.has_passed
            ]
            if pairs and not all(has_no_runner(pair.after) for pair in pairs):
                return pairs
        return []

    def _parts(self, command: str) -> Sequence[str]:
        """Return the command, behind one that runs what has to do with the change."""
        texts = self.facts.base_test_texts
        call = read_call(command)
        if len(texts) <= _FEW_FILES or call is None:
            return [command]
        related = find_related(self.facts.code_paths, texts)
        first = for_files(call, related) if related else None
        if first is None or len(related) == len(texts) or first == command:
            return [command]
        return [first, command]

    def _run_one(self, base: Lane, after: Lane, command: str) -> Pair:
        if after.commit == self.facts.head_sha:
            done = next((p.after for p in self.known if p.command == command), None)
            if done is not None:
                before = base.run(_ROLES[0], command, self.until)
                return Pair(command, before, done.replace(role=_ROLES[1]))
        [pair] = run_on_both(base, after, _ROLES, [command], self.until)
        return pair

    def _findings(self, pair: Pair) -> SuiteFindings:
        compared = pair.comparison
        mended = tuple((one, pair) for one in compared.mended)
        if not (is_believed(pair.before) or _is_green_check(pair.before)):
            return SuiteFindings(mended=mended)
        if pair.after.status is RunStatus.TIMED_OUT or pair.after.exit_code is None:
            hangs = pair.after.seconds > max(
                _HANGS_AT_LEAST_S, _HANGS * pair.before.seconds
            )
            return SuiteFindings(newly_failing=(pair.command,) if hangs else ())
        suspects = _suspects(pair)
        judged = self._judge(suspects, pair) if suspects else SuiteFindings()
        silenced = [name for name in compared.silenced if name not in suspects]
        return SuiteFindings(
            tests=pair.before.results.passed if pair.before.results else 0,
            is_complete=(pair.before.results is None) == (pair.after.results is None),
            mended=mended,
            newly_failing=judged.newly_failing,
            altered=judged.altered,
            silenced=tuple(silenced),
            flaky=judged.flaky,
        )

    def _judge(self, suspects: Sequence[str], pair: Pair) -> SuiteFindings:
        """Tell tests that the change breaks from flaky ones, and from altered ones."""
        confirmed = self._confirm(suspects, pair)
        flaky = tuple(name for name in suspects if name not in confirmed)
        if not confirmed or self.after_sha == self.facts.head_sha:
            return SuiteFindings(newly_failing=tuple(confirmed), flaky=flaky)
        failing = self._still_failing(confirmed, pair)
        return SuiteFindings(
            newly_failing=tuple(name for name in confirmed if name in failing),
            altered=tuple(name for name in confirmed if name not in failing),
            flaky=flaky,
        )

    def _confirm(self, suspects: Sequence[str], pair: Pair) -> list[str]:
        """Return the tests that fail with the change whenever they are run.

        They are run alone, twice on each side. What fails on neither side then may fail
        only in the company of others, so everything is run once more.
        """
        alone = command_for(pair.command, suspects)
        runs = self._fresh([alone, alone] if alone else [])
        good = [verdicts_of(one.before) for one in runs]
        fails = {
            name: {_is_failing(one.after, name) for one in runs} for name in suspects
        }
        sure = [
            name
            for name in suspects
            if fails[name] == {True}
            and all(one.get(name) is TestVerdict.PASSED for one in good)
        ]
        unsure = [
            name for name in suspects if name not in sure and len(fails[name]) < _BOTH
        ]
        if not unsure:
            return sure
        [again] = self._fresh([pair.command]) or [pair]
        return [*sure, *(name for name in unsure if _turns(again, name, pair))]

    def _fresh(self, commands: Sequence[str]) -> list[Pair]:
        """Run commands in fresh sandboxes, as the suite was run."""
        if not commands:
            return []
        with open_lanes(self.place, self.facts.base_sha, self.after_sha) as lanes:
            return run_on_both(lanes[0], lanes[1], _ROLES, commands, self.until)

    def _still_failing(self, names: Sequence[str], pair: Pair) -> frozenset[str]:
        """Return which tests fail in the version that the change has of them, too."""
        command = command_for(pair.command, names) or pair.command
        with open_lanes(self.place, self.facts.head_sha) as [lane]:
            done = lane.run(EvidenceRole.AFTER, command, self.until)
            if not verdicts_of(done) and command != pair.command:
                # One of them is not there any more, so that none was run.
                done = lane.run(EvidenceRole.AFTER, pair.command, self.until)
        verdicts = verdicts_of(done)
        if _is_command(names, pair):
            return frozenset(names if done.exit_code != 0 else ())
        return frozenset(name for name in names if verdicts.get(name) in FAILING)


def _suspects(pair: Pair) -> tuple[str, ...]:
    """Return the tests that passed without the change and seem to fail with it.

    Those of a module count, too, that cannot be loaded any more. Where the runner does
    not get to its report, or names no tests, the command stands for all of them.
    """
    was, now = pair.before.results, pair.after.results
    failed = pair.after.exit_code != 0
    if was is None or now is None or not (was.names_tests and now.names_tests):
        turned = pair.comparison.turned
        return turned or ((pair.command,) if now is None and failed else ())
    new = verdicts_of(pair.after)
    lost = bool(now.broken) or not is_believed(pair.after)
    return tuple(
        name
        for name, verdict in verdicts_of(pair.before).items()
        if verdict is TestVerdict.PASSED
        and (new.get(name) in FAILING or (lost and failed and name not in new))
    )


def _is_failing(one: Evidence, name: str) -> bool:
    verdicts = verdicts_of(one)
    if name in verdicts:
        return verdicts[name] in FAILING
    return one.exit_code != 0


def _turns(again: Pair, name: str, pair: Pair) -> bool:
    """Tell whether a test has passed and failed again, as in the pair before."""
    if _is_command([name], pair):
        return again.before.exit_code == 0 and again.after.exit_code != 0
    passed = verdicts_of(again.before).get(name) is TestVerdict.PASSED
    return passed and _is_failing(again.after, name)


def _is_command(names: Sequence[str], pair: Pair) -> bool:
    """Tell whether the command itself stands for its tests, which are not named."""
    return tuple(names) == (pair.command,)


def _is_green_check(one: Evidence) -> bool:
    """Tell whether a command has passed that is no call of a known test runner."""
    return one.status is RunStatus.UNREAD and one.results is None and one.exit_code == 0


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
