"""What a proof amounts to, in words: its level, why it has it, and what would help.

Nothing here is the agent's. Whatever may be somebody's, such as the name of a test, is
added by who shows it: in Markdown, on a terminal or as JSON.
"""

from collections.abc import Mapping
from typing import Final, assert_never

from patchwright.core.settings.repository import CONFIG_FILE
from patchwright.core.text.strings import count_noun
from patchwright.core.types.evidence import (
    Evidence,
    EvidenceRole,
    Hunk,
    Proof,
    ProofReason,
    ProofReport,
    RunStatus,
    TestVerdict,
)

_SHA_CHARS: Final = 10
_FRESH: Final = "in fresh sandboxes"


def proof_sign(level: Proof) -> str:
    """Return the sign of our verdict, which stands in no words of others."""
    match level:
        case Proof.PROVEN:
            return "🟢"
        case Proof.CONTRADICTED:
            return "🔴"
        case Proof.SHOWN_BY_COMMAND | Proof.NOT_PROVEN | Proof.NONE:
            return "🟡"
        case _:
            assert_never(level)


def level_title(level: Proof) -> str:
    """Name a level as a sentence begins, such as `Not proven`."""
    return _LEVELS[level]


def level_words(level: Proof) -> str:
    """Name a level inside a sentence, such as `not proven`."""
    return _LEVELS[level].lower()


def reason_words(level: Proof, report: ProofReport | None) -> str:
    """Say why a change has its level, as the end of a sentence without its full stop.

    Empty where nobody knows: outcomes of earlier versions do not say.
    """
    if level is Proof.NONE:
        return _REASONS[ProofReason.SWITCHED_OFF]
    if report is None:
        return ""
    if report.is_rerun and level is Proof.PROVEN:
        return _rerun_words(report)
    if report.reason is ProofReason.RED_TO_GREEN:
        shown = _tests_that(report, "without the change")
        return _with_suite(f"{_FRESH}, {shown}", report)
    if report.reason is ProofReason.RED_WITHOUT_PART:
        part = "without a part of the change"
        shown = _tests_that(report, part, "with all of it")
        return _with_suite(f"{_FRESH}, {shown}", report)
    if report.reason is ProofReason.BREAKS_TESTS:
        return _broken_words(report)
    return _REASONS[report.reason]


def level_sentence(level: Proof, report: ProofReport | None) -> str:
    """Say in one plain sentence what is shown of a change, without claiming more."""
    why = reason_words(level, report)
    return f"{level_title(level)}: {why}." if why else f"{level_title(level)}."


def level_markdown(level: Proof, report: ProofReport | None) -> str:
    """Return that sentence in Markdown, with the sign that no words of others have."""
    title, _, why = level_sentence(level, report).partition(":")
    name = title.removesuffix(".")
    return f"{proof_sign(level)} **{name}**{f':{why}' if why else '.'}"


def advice_on_proof(
    level: Proof, report: ProofReport | None, config_file: str = CONFIG_FILE
) -> str:
    """Say what a person can do about a level; empty where nothing is to be done."""
    if level in (Proof.PROVEN, Proof.NONE) or report is None:
        return ""
    return _ADVICE[report.reason].format(file=config_file)


def short_reason(level: Proof, report: ProofReport | None) -> str:
    """Say in a few words why a change is not proven, for a line with other facts."""
    if level is Proof.PROVEN or report is None:
        return ""
    if report.reason is ProofReason.BREAKS_TESTS:
        return _broken_words(report)
    return _SHORT[report.reason] or reason_words(level, report)


_LEVELS: Final[Mapping[Proof, str]] = {
    Proof.PROVEN: "Proven",
    Proof.SHOWN_BY_COMMAND: "Shown by a command",
    Proof.NOT_PROVEN: "Not proven",
    Proof.CONTRADICTED: "Contradicted",
    Proof.NONE: "No evidence",
}
# Three of them are said with figures where there are any.
_REASONS: Final[Mapping[ProofReason, str]] = {
    ProofReason.RED_TO_GREEN: "the test fails without the change and passes with it",
    ProofReason.RED_WITHOUT_PART: (
        "the test fails without a part of the change and passes with all of it"
    ),
    ProofReason.BREAKS_TESTS: "tests that passed before the change fail with it",
    ProofReason.COMMAND_TO_GREEN: (
        "a command fails without the change and passes with it, but it is not a test "
        "of the repository"
    ),
    ProofReason.FAILS_WITH_CHANGE: "a test of this change fails with it",
    ProofReason.GREEN_WITHOUT_CHANGE: (
        "the test passes without the change too, so it does not show the fault"
    ),
    ProofReason.MISSING_NAME: (
        "without the change the test fails only because something is missing that the "
        "change adds"
    ),
    ProofReason.NOT_RUN_WITH_CHANGE: (
        "a test that failed without the change did not run with it"
    ),
    ProofReason.UNCOVERED: (
        "the tests pass without any of the changed code, so they do not show what it "
        "does"
    ),
    ProofReason.FLAKY: "the test had different results on the same files",
    ProofReason.ALTERED_TESTS: (
        "the change alters tests that passed before, and their earlier version fails "
        "now"
    ),
    ProofReason.DOUBTFUL: (
        "the change affects how tests are run, so a person must check it first"
    ),
    ProofReason.NO_COMMAND: "no test command was named, so nothing was run",
    ProofReason.NO_SANDBOX: "no fresh sandbox could be used, so nothing was run",
    ProofReason.NO_RUNNER: "the test runner could not be started",
    ProofReason.NO_TESTS: "the command ran no tests",
    ProofReason.COLLECTION_ERROR: (
        "without the change the tests could not be loaded, so none of them failed"
    ),
    ProofReason.TIMED_OUT: "the tests did not end in time",
    ProofReason.OTHER_COMMIT: (
        "the tests ran on another commit than the one that is there now"
    ),
    ProofReason.SWITCHED_OFF: (
        "the repository's settings switch the tests off, so nothing was run"
    ),
}
# Empty where the reason itself is short enough.
_SHORT: Final[Mapping[ProofReason, str]] = {
    ProofReason.RED_TO_GREEN: "",
    ProofReason.RED_WITHOUT_PART: "",
    ProofReason.FAILS_WITH_CHANGE: "",
    ProofReason.BREAKS_TESTS: "",
    ProofReason.NOT_RUN_WITH_CHANGE: "",
    ProofReason.FLAKY: "",
    ProofReason.NO_RUNNER: "",
    ProofReason.NO_TESTS: "",
    ProofReason.TIMED_OUT: "",
    ProofReason.OTHER_COMMIT: "",
    ProofReason.SWITCHED_OFF: "",
    ProofReason.COMMAND_TO_GREEN: "it is not a test of the repository",
    ProofReason.GREEN_WITHOUT_CHANGE: "the test passes without the change too",
    ProofReason.MISSING_NAME: (
        "without the change the test fails only because a new name is missing"
    ),
    ProofReason.UNCOVERED: "the tests pass without the changed code",
    ProofReason.ALTERED_TESTS: "it alters tests that passed before",
    ProofReason.DOUBTFUL: "it affects how tests are run",
    ProofReason.NO_COMMAND: "no test command was named",
    ProofReason.NO_SANDBOX: "no fresh sandbox could be used",
    ProofReason.COLLECTION_ERROR: "the tests could not be loaded without the change",
}
# `{file}` stands for the name of the repository's own file.
_ADVICE: Final[Mapping[ProofReason, str]] = {
    ProofReason.RED_TO_GREEN: "",
    ProofReason.RED_WITHOUT_PART: "",
    ProofReason.SWITCHED_OFF: "",
    ProofReason.COMMAND_TO_GREEN: (
        "Look at the command before you trust it, or ask for a test."
    ),
    ProofReason.FAILS_WITH_CHANGE: "Fix the change or its test before you merge.",
    ProofReason.BREAKS_TESTS: (
        "Fix the change, or change those tests if they are wrong."
    ),
    ProofReason.GREEN_WITHOUT_CHANGE: (
        "Ask for a test that fails on the current code."
    ),
    ProofReason.MISSING_NAME: (
        "Ask for a test that calls what there was before the change."
    ),
    ProofReason.NOT_RUN_WITH_CHANGE: (
        "Check why that test is skipped, renamed or removed."
    ),
    ProofReason.UNCOVERED: "Ask for a test that needs the changed code.",
    ProofReason.FLAKY: "Make the test independent of time, order and network.",
    ProofReason.ALTERED_TESTS: (
        "Decide which is right: the earlier tests or the changed ones."
    ),
    ProofReason.DOUBTFUL: (
        "Check the change to the tests' configuration, then run them yourself."
    ),
    ProofReason.NO_COMMAND: 'Set `test = ["pytest -q"]`, or your command, in `{file}`.',
    ProofReason.NO_SANDBOX: "Ask whoever runs Patchwright to run `patchwright doctor`.",
    ProofReason.NO_RUNNER: (
        "Install the test runner: in the sandbox's image, or with `setup` in `{file}`."
    ),
    ProofReason.NO_TESTS: (
        "Check which tests the command selects, or set `test` in `{file}`."
    ),
    ProofReason.COLLECTION_ERROR: (
        "Check that the tests can be imported; `setup` in `{file}` can install what "
        "they need."
    ),
    ProofReason.TIMED_OUT: "Set a faster command as `test` in `{file}`.",
    ProofReason.OTHER_COMMIT: "Run the tests on this commit before you merge.",
}


def _tests_that(report: ProofReport, without: str, with_it: str = "with it") -> str:
    number = len(report.tests)
    if number > 1:
        return f"{number} tests fail {without} and pass {with_it}"
    return f"the test fails {without} and passes {with_it}"


def _with_suite(proven: str, report: ProofReport) -> str:
    """Add what the repository's own tests say, where any were compared."""
    if not report.suite_tests or report.newly_failing:
        return proven
    if report.suite_complete:
        return f"{proven}, and no test that passed before fails now"
    tests = count_noun(report.suite_tests, "test")
    return f"{proven}, and of {tests} compared none that passed before fails now"


def _rerun_words(report: ProofReport) -> str:
    where = f" on {report.head_sha[:_SHA_CHARS]}" if report.head_sha else ""
    return (
        "there was no new behaviour to prove, so the earlier proof was run again"
        f"{where}: {_tests_that(report, 'without the change')}"
    )


def _broken_words(report: ProofReport) -> str:
    number = len(report.newly_failing)
    if number == 1:
        return "a test that passed before the change fails with it"
    which = f"{number} tests" if number else "tests"
    return f"{which} that passed before the change fail with it"


def verdict_words(verdict: TestVerdict) -> str:
    match verdict:
        case TestVerdict.PASSED:
            return "passed"
        case TestVerdict.FAILED:
            return "failed"
        case TestVerdict.SKIPPED:
            return "skipped"
        case TestVerdict.BROKEN:
            return "broke"
        case TestVerdict.NOT_RUN:
            return "not run"
        case _:
            assert_never(verdict)


def result_words(one: Evidence) -> str:
    """Say how a command ended, such as `exit 1` or `no tests (exit 5)`."""
    if one.exit_code is None or one.status is RunStatus.TIMED_OUT:
        return "did not end"
    named = _STATUSES[one.status]
    return f"{named} (exit {one.exit_code})" if named else f"exit {one.exit_code}"


_STATUSES: Final[Mapping[RunStatus, str]] = {
    RunStatus.RAN: "",
    RunStatus.UNREAD: "",
    RunStatus.TIMED_OUT: "",
    RunStatus.NO_TESTS: "no tests",
    RunStatus.COLLECTION_ERROR: "tests not loaded",
    RunStatus.NO_RUNNER: "no test runner",
}


def role_title(role: EvidenceRole) -> str:
    """Name in a table on which files a command was run."""
    match role:
        case EvidenceRole.BEFORE:
            return "without the change"
        case EvidenceRole.AFTER:
            return "with it"
        case EvidenceRole.BASE_TESTS:
            return "with it, tests of the base"
        case EvidenceRole.SUITE_BEFORE:
            return "own tests, without it"
        case EvidenceRole.SUITE_AFTER:
            return "own tests, with it"
        case EvidenceRole.WITHOUT_PART:
            return "without a part of it"
        case _:
            assert_never(role)


def hunk_name(hunk: Hunk) -> str:
    """Name changed lines as `path:12-14`; where lines went, the one they stood at."""
    end = hunk.start + hunk.lines - 1
    lines = f"{hunk.start}-{end}" if hunk.lines > 1 else str(hunk.start)
    return f"{hunk.path}:{lines}"


def suite_words(report: ProofReport) -> str:
    """Say how many of the repository's own tests were compared; empty for none."""
    if not report.suite_tests:
        return ""
    part = "" if report.suite_complete else ", others could not be compared"
    return f"{count_noun(report.suite_tests, 'test')} compared{part}"


def hunks_words(report: ProofReport) -> str:
    """Say how much of the change was tried without; empty where nothing was."""
    if not report.hunks_tried:
        return ""
    tried = f"{report.hunks_tried} of {count_noun(report.hunks, 'changed part')}"
    return f"{tried} removed in turn"


def commits_words(report: ProofReport) -> str:
    """Name both commits that a proof is about; empty where they are not known."""
    if not (report.base_sha and report.head_sha):
        return ""
    return f"base {report.base_sha[:_SHA_CHARS]}, head {report.head_sha[:_SHA_CHARS]}"
