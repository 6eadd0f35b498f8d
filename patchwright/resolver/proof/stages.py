"""The stages of a proof: the tests of a change, the repository's own, and its parts."""

from collections.abc import Iterable, Iterator, Sequence
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
    cause_of,
    has_no_runner,
    verdicts_of,
)
from patchwright.resolver.proof.hunk_coverage import (
    HunkCoverage,
    ProvingRun,
    find_uncovered,
)
from patchwright.resolver.proof.judgement import ProofFindings
from patchwright.resolver.proof.lanes import (
    Deadline,
    Lane,
    open_lanes,
    run_on_both,
)
from patchwright.resolver.proof.proof_sandbox import ProofPlace
from patchwright.resolver.proof.regressions import SuiteFindings, Suites
from patchwright.resolver.proof.repeats import Repeats
from patchwright.resolver.proof.runner_calls import TestCall, read_call
from patchwright.resolver.proof.runners import RunnerKind
from patchwright.resolver.proof.test_commands import (
    for_files,
    groups_for_all,
    groups_for_files,
    language_of,
    language_of_runner,
)
from patchwright.resolver.proof.test_files import find_file_of, leaf_of
from patchwright.resolver.proof.test_selection import command_for, whole_suite
from patchwright.resolver.proof.without_part import PartRuns

# How much longer than the named commands the other stages may take, and how long they
# may take in any case.
SUITE_FACTOR: Final = 3.0
SUITE_S: Final = 120.0
REPEATS_S: Final = 30.0
PARTS_S: Final = 60.0
# The parts of a change are tried for as long as this where its tests are quick, and
# otherwise for as long as one run of them takes.
HUNKS_S: Final = 30.0
_QUICK_S: Final = 2.0
_SLOW_HUNKS_S: Final = 10.0
_MOST_GROUPS: Final = 3
_ROLES: Final = (EvidenceRole.BEFORE, EvidenceRole.AFTER)
_OF_A_MERGE: Final = (EvidenceRole.SUITE_BEFORE, EvidenceRole.AFTER)
# A test of the change and the pair of runs that has shown it.
_Shown = tuple[TestChange, Pair]


@dataclass(frozen=True)
class ProofStages:
    """Runs everything that can show something of one change.

    `named` are the commands of who made it, `configured` those of the repository.
    """

    place: ProofPlace
    facts: ChangeFacts
    named: tuple[str, ...]
    configured: tuple[str, ...]
    is_merge: bool
    is_doubtful: bool
    until: Deadline

    def run(self) -> tuple[ProofFindings, SuiteFindings, HunkCoverage]:
        facts = self.facts
        first = facts.base_sha if self.is_merge else facts.before_sha
        with open_lanes(self.place, first, facts.head_sha) as (before, after):
            pairs = self._run_delivered(before, after)
            shown, flaky = self._repeated(before, after, self._mended(pairs))
            failing, passing = self._failing(before, after, pairs)
            suite = self._run_suites(after, pairs)
            broken = self._broken(before, after, pairs, suite)
            if not shown:
                shown, flaky = self._shown_by_suite(suite, flaky)
            part: tuple[Evidence, ...] = ()
            if not (shown or self.is_merge):
                shown, part = self._shown_without_part(pairs)
            coverage = self._cover(after, shown, (*failing, *broken))
        found = ProofFindings(
            evidence=(*_evidence(pairs), *suite.evidence, *part),
            pairs=tuple(pairs),
            proving=tuple(one for one, _ in shown),
            from_part=bool(part),
            missing=_unique(name for pair in pairs for name in self._missing(pair)),
            failing=failing,
            still_failing=_unique(
                name
                for pair in pairs
                for name in pair.comparison.still
                if verdicts_of(pair.after).get(name) is not TestVerdict.BROKEN
            ),
            newly_failing=_unique(broken),
            altered=suite.altered,
            silenced=_unique(
                (*suite.silenced, *(n for p in pairs for n in p.comparison.silenced))
            ),
            flaky=_unique((*flaky, *passing, *suite.flaky)),
            unchanged=any(pair.comparison.unchanged for pair in pairs),
            needs_code=coverage.needs_code,
            is_doubtful=self.is_doubtful,
            is_merge=self.is_merge,
        )
        return found, suite, coverage

    # The tests of the change.

    def _run_delivered(self, before: Lane, after: Lane) -> list[Pair]:
        """Run the named commands, and then those test files that none of them ran."""
        roles = _OF_A_MERGE if self.is_merge else _ROLES
        pairs = run_on_both(before, after, roles, self.named, self.until)
        if self.is_merge:
            return pairs
        for group in self._derived(pairs)[:_MOST_GROUPS]:
            pairs += self._run_first(before, after, group)
        return pairs

    def _derived(self, pairs: Sequence[Pair]) -> list[Sequence[str]]:
        """Return groups of commands for the tests that were not run yet."""
        left = [path for path in self.facts.delivered_tests if language_of(path)]
        ran = {
            path
            for pair in pairs
            if pair.after.results
            for name in verdicts_of(pair.after)
            if (path := self._file_of(name, pair))
        }
        tree = self.facts.tree
        left = [path for path in left if path not in ran and tree.holds_tests(path)]
        named_ones = {pair.command for pair in pairs}
        groups: list[Sequence[str]] = []
        for group in groups_for_files(tree, left):
            like = [
                command
                for call in _calls(pairs)
                if language_of_runner(call.runner) == group.language
                and (command := for_files(call, group.files))
            ]
            commands = [*like[:1], *group.commands]
            groups.append([one for one in commands if one not in named_ones])
        if left:
            known = (one for one in self.configured if one not in named_ones)
            groups += [[one] for one in known]
        return [group for group in groups if group]

    def _run_first(
        self, before: Lane, after: Lane, commands: Sequence[str]
    ) -> list[Pair]:
        """Run the first of these commands whose runner is there."""
        pairs: list[Pair] = []
        for command in commands:
            if self.until.has_passed:
                break
            pairs = run_on_both(before, after, _ROLES, [command], self.until)
            if any(pair.after.results for pair in pairs):
                break
        return pairs

    def _mended(self, pairs: Iterable[Pair]) -> list[_Shown]:
        """Return the tests that fail for the right reason, and pass then; each once."""
        found: dict[str, _Shown] = {}
        for pair in pairs if not self.is_merge else ():
            missing = self._missing(pair)
            for one in pair.comparison.mended:
                if one.name not in missing:
                    found.setdefault(one.name, (one, pair))
        return list(found.values())

    def _missing(self, pair: Pair) -> frozenset[str]:
        """Return the tests that lack only something without the change, but pass."""
        added = self.facts.added_names
        passed = pair.after.results.passing if pair.after.results else ()
        was = verdicts_of(pair.before)
        lacks = added.explain_run(pair.before)
        return frozenset(
            name
            for name in passed
            if (was.get(name) in FAILING and added.explain_failure(pair.before, name))
            or (name not in was and lacks)
        )

    def _repeated(
        self, before: Lane, after: Lane, shown: Sequence[_Shown]
    ) -> tuple[list[_Shown], tuple[str, ...]]:
        """Separate the tests that are always red and then green from the others."""
        until = self.until.within(REPEATS_S)
        repeats = Repeats(self.place, before, after, until)
        flaky = [
            name
            for pair, names in _by_pair(shown)
            for name in repeats.find_flaky(pair, names)
        ]
        return [item for item in shown if item[0].name not in flaky], tuple(flaky)

    # Tests that fail with the change.

    def _failing(
        self, before: Lane, after: Lane, pairs: Sequence[Pair]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the tests of the change that fail with it, and the flaky ones."""
        until = self.until.within(REPEATS_S)
        repeats = Repeats(self.place, before, after, until)
        failing: list[str] = []
        flaky: list[str] = []
        for pair in pairs:
            compared = pair.comparison
            seen = (*compared.turned, *compared.fresh, *compared.still)
            names = [name for name in seen if self._counts_as_failing(name, pair)]
            passing = repeats.find_passing(pair, names) if names else ()
            flaky += passing
            failing += [name for name in names if name not in passing]
        return _unique(failing), _unique(flaky)

    def _counts_as_failing(self, name: str, pair: Pair) -> bool:
        """Tell whether a test that fails with the change is one of the change itself.

        One that failed before, and had the same name, was there before. Nor does it
        count what the sandbox lacks.
        """
        path = self._file_of(name, pair)
        if path is None or verdicts_of(pair.after).get(name) is not TestVerdict.FAILED:
            return False
        if self._is_for_lack_of_package(cause_of(pair.after, name)):
            return False
        earlier = self.facts.earlier_tests.get(path, "")
        was_there = leaf_of(name) in earlier
        failed_before = verdicts_of(pair.before).get(name) in FAILING
        return not (was_there and failed_before)

    def _is_for_lack_of_package(self, cause: str) -> bool:
        words = cause.partition("No module named ")[2].strip("'\" ")
        root = words.partition(".")[0]
        if not cause.startswith("ModuleNotFoundError") or not root:
            return False
        return not any(
            f"/{root}/" in f"/{path}" or path.endswith(f"{root}.py")
            for path in self.facts.tree.paths
        )

    def _broken(
        self,
        before: Lane,
        after: Lane,
        pairs: Sequence[Pair],
        suite: SuiteFindings,
    ) -> tuple[str, ...]:
        """Return the tests of others that passed without the change and fail with it.

        The repository's own tests have shown most of them already.
        """
        until = self.until.within(REPEATS_S)
        repeats = Repeats(self.place, before, after, until)
        found: list[str] = []
        for pair in pairs:
            known = (*suite.flaky, *suite.altered, *suite.newly_failing)
            names = [
                name
                for name in pair.comparison.turned
                if self._file_of(name, pair) is None and name not in known
            ]
            passing = repeats.find_passing(pair, names) if names else ()
            found += [name for name in names if name not in passing]
        return (*suite.newly_failing, *found)

    def _file_of(self, name: str, pair: Pair) -> str | None:
        """Return in which test file of the change a test is."""
        results = pair.after.results or pair.before.results
        if results is None:
            return None
        runner = RunnerKind(results.runner)
        return find_file_of(name, runner, self.facts.delivered_tests)

    # The repository's own tests.

    def _run_suites(self, after: Lane, pairs: Sequence[Pair]) -> SuiteFindings:
        facts = self.facts
        commands = self._suite_commands(pairs)
        if not commands or not (facts.code_paths or facts.delivered_tests):
            return SuiteFindings()
        longest = sum(pair.seconds for pair in pairs)
        until = self.until.within(max(SUITE_S, SUITE_FACTOR * longest))
        result = facts.head_sha if self.is_merge else facts.old_tests_sha
        suites = Suites(self.place, facts, result, commands, pairs, until)
        with open_lanes(self.place, facts.base_sha, result) as (base, own):
            same = facts.code.tree_of(result) == facts.code.tree_of(facts.head_sha)
            return suites.compare(base, after if same else own)

    def _suite_commands(self, pairs: Sequence[Pair]) -> tuple[tuple[str, ...], ...]:
        """Return groups of commands that run all tests, in the way that has worked."""
        if self.configured:
            return tuple((one,) for one in self.configured)
        facts = self.facts
        if not facts.base_tests:
            return ()
        found: dict[tuple[str, str], tuple[str, ...]] = {}
        for call in _calls(pairs):
            language = language_of_runner(call.runner)
            files = [one for one in facts.base_tests if language_of(one) == language]
            command = self._whole(call, files)
            if command and (files or not language):
                found.setdefault((language, call.folder or ""), (command,))
        for group in groups_for_all(facts.tree, facts.base_tests):
            place = (group.language, group.root)
            if ("", group.root) not in found and self._concerns(place):
                found.setdefault(place, group.commands)
        return tuple(found.values())[:_MOST_GROUPS]

    def _whole(self, call: TestCall, files: Sequence[str]) -> str | None:
        """Return the command for all tests, with files where a runner does not look."""
        values = [word.value for word in call.arguments]
        if call.runner is RunnerKind.UNITTEST and "discover" not in values:
            texts = self.facts.base_test_texts
            own = [path for path in files if "TestCase" in texts.get(path, "")]
            named = for_files(call, own)
            if named is not None:
                return named
        return whole_suite(call, self.facts.tree.paths)

    def _concerns(self, place: tuple[str, str]) -> bool:
        """Tell whether changed code could be tested by tests of that kind there."""
        language, root = place
        return any(
            (language_of(path) in ("", language))
            and (not root or path.startswith(f"{root}/"))
            for path in self.facts.code_paths
        )

    def _shown_by_suite(
        self, suite: SuiteFindings, flaky: tuple[str, ...]
    ) -> tuple[list[_Shown], tuple[str, ...]]:
        """Return the tests of the repository that the change mends."""
        mended = [
            (one, pair)
            for one, pair in suite.mended
            if one.name not in self._missing(pair) and one.name not in flaky
        ]
        if not mended or self.is_merge:
            return [], flaky
        first, then = self.facts.base_sha, self.facts.old_tests_sha
        with open_lanes(self.place, first, then) as (before, after):
            shown, differing = self._repeated(before, after, mended)
        return shown, (*flaky, *differing)

    # The parts of the change.

    def _shown_without_part(
        self, pairs: Sequence[Pair]
    ) -> tuple[list[_Shown], tuple[Evidence, ...]]:
        """Return tests that fail when only a part of the change is missing."""
        until = self.until.within(PARTS_S)
        part_runs = PartRuns(self.place, self.facts, until)
        for pair in pairs:
            names = self._candidates(pair)
            found = part_runs.find_red(pair, names) if names else None
            if found is None or not found.tests:
                continue
            red = found.evidence[0]
            part = Pair(pair.command, red, pair.after)
            lanes = open_lanes(self.place, found.commit, self.facts.head_sha)
            with lanes as (before, after):
                shown = [(one, part) for one in found.tests]
                unchanged, _ = self._repeated(before, after, shown)
            if unchanged:
                return unchanged, found.evidence
        return [], ()

    def _candidates(self, pair: Pair) -> list[str]:
        """Return the passing tests of the change that could not fail without it."""
        names = set(self._missing(pair))
        if self.facts.has_new_code:
            names |= set(pair.comparison.unchanged)
        return [name for name in sorted(names) if self._file_of(name, pair)]

    def _cover(
        self,
        after: Lane,
        shown: Sequence[_Shown],
        failing: Sequence[str],
    ) -> HunkCoverage:
        parts = self.facts.parts
        if not shown or failing:
            return HunkCoverage(hunks=len(parts))
        runs = [
            ProvingRun(
                command_for(pair.command, names) or pair.command,
                tuple(name for name in names if name != pair.command),
            )
            for pair, names in _by_pair(shown)
        ]
        took_s = sum(pair.after.seconds for pair, _ in _by_pair(shown))
        longest_s = HUNKS_S if took_s < _QUICK_S else max(_SLOW_HUNKS_S, took_s)
        until = self.until.within(longest_s)
        return find_uncovered(after, parts, runs, until)


def _calls(pairs: Iterable[Pair]) -> Iterator[TestCall]:
    """Yield the calls of runners that were there, those first that found tests."""
    ran = [pair for pair in pairs if not has_no_runner(pair.after)]
    for pair in sorted(ran, key=lambda one: one.after.results is None):
        call = read_call(pair.command)
        if call is not None and pair.after.status is not RunStatus.NO_RUNNER:
            yield call


def _by_pair(shown: Iterable[_Shown]) -> list[tuple[Pair, list[str]]]:
    found: dict[str, tuple[Pair, list[str]]] = {}
    for one, pair in shown:
        found.setdefault(pair.command, (pair, []))[1].append(one.name)
    return list(found.values())


def _evidence(pairs: Iterable[Pair]) -> Iterator[Evidence]:
    for pair in pairs:
        if pair.before.role is EvidenceRole.BEFORE:
            yield pair.before
    for pair in pairs:
        yield pair.after


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
