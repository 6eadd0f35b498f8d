"""What the controller ran to prove a change, and what that amounts to."""

from enum import StrEnum

from patchwright.core.types.base import Value


class Proof(StrEnum):
    """How much is shown of a change; `none` where nothing was to be run.

    `proven`: a test fails without the change and passes with it, and no test that
    passed before fails now. `shown-by-command`: a command that is no test of the
    repository fails without the change and passes with it. `contradicted`: a test fails
    with the change, be it a new one or one that passed before.
    """

    PROVEN = "proven"
    SHOWN_BY_COMMAND = "shown-by-command"
    NOT_PROVEN = "not-proven"
    CONTRADICTED = "contradicted"
    NONE = "none"


class ProofReason(StrEnum):
    """Why a change has its level of proof; each has one sentence in the messages."""

    # Proven.
    RED_TO_GREEN = "red-to-green"
    RED_WITHOUT_PART = "red-without-part"
    # Shown by a command.
    COMMAND_TO_GREEN = "command-to-green"
    # Contradicted.
    FAILS_WITH_CHANGE = "fails-with-change"
    BREAKS_TESTS = "breaks-tests"
    # Not proven: what was run does not show it.
    GREEN_WITHOUT_CHANGE = "green-without-change"
    MISSING_NAME = "missing-name"
    NOT_RUN_WITH_CHANGE = "not-run-with-change"
    UNCOVERED = "uncovered"
    FLAKY = "flaky"
    ALTERED_TESTS = "altered-tests"
    DOUBTFUL = "doubtful"
    # Not proven: the tests did not run.
    NO_COMMAND = "no-command"
    NO_SANDBOX = "no-sandbox"
    NO_RUNNER = "no-runner"
    NO_TESTS = "no-tests"
    COLLECTION_ERROR = "collection-error"
    TIMED_OUT = "timed-out"
    # Not proven: the tests ran, but not on the commit that is there now.
    OTHER_COMMIT = "other-commit"
    # Nothing was to be run.
    SWITCHED_OFF = "switched-off"


class EvidenceRole(StrEnum):
    """On which files a command was run.

    `before` is the base with the new tests, `after` the result. `base-tests` is the
    result with the tests as the base has them. `suite-before` and `suite-after` are the
    repository's own tests, on the base and on the result with the tests of the base.
    `without-part` is the result without a part of the change.
    """

    BEFORE = "before"
    AFTER = "after"
    BASE_TESTS = "base-tests"
    SUITE_BEFORE = "suite-before"
    SUITE_AFTER = "suite-after"
    WITHOUT_PART = "without-part"

    @property
    def words(self) -> str:
        match self:
            case EvidenceRole.BEFORE:
                return "before the change"
            case EvidenceRole.AFTER:
                return "after the change"
            case EvidenceRole.BASE_TESTS:
                return "after the change, with the tests of the base"
            case EvidenceRole.SUITE_BEFORE:
                return "the repository's own tests, before the change"
            case EvidenceRole.SUITE_AFTER:
                return "the repository's own tests, after the change"
            case EvidenceRole.WITHOUT_PART:
                return "without a part of the change"


class RunStatus(StrEnum):
    """How a test command ended; `ran` alone says anything about the code.

    `unread` is a command that has ended, and of which no test runner has told anything.
    """

    RAN = "ran"
    NO_TESTS = "no-tests"
    COLLECTION_ERROR = "collection-error"
    NO_RUNNER = "no-runner"
    TIMED_OUT = "timed-out"
    UNREAD = "unread"


class TestVerdict(StrEnum):
    """How one test ended; `broken` did not come to its own end."""

    __test__ = False

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    BROKEN = "broken"
    NOT_RUN = "not-run"


class TestResults(Value):
    """What a test runner has reported.

    `failing`, `passing`, `skipping` and `broken` name tests where the runner
    `names_tests`; `causes` says of failing and broken tests why, in one line. In a
    stored outcome the lists hold only what matters for the proof.
    """

    __test__ = False

    runner: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    names_tests: bool = False
    failing: tuple[str, ...] = ()
    passing: tuple[str, ...] = ()
    skipping: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    causes: dict[str, str] = {}


class Evidence(Value):
    """One command the controller ran itself, in a fresh sandbox.

    `exit_code` is None when the command did not end by itself; `digest` is the SHA-256
    of its whole output, in hexadecimal; `tail` is the end of that output. Without
    `results` no known test runner has reported what it ran.
    """

    role: EvidenceRole
    command: str
    commit: str
    exit_code: int | None
    seconds: float
    digest: str
    tail: str = ""
    results: TestResults | None = None
    status: RunStatus = RunStatus.UNREAD


class TestChange(Value):
    """A test without the change and with it; `cause` says why it failed without."""

    __test__ = False

    name: str
    before: TestVerdict
    after: TestVerdict
    cause: str = ""


class Hunk(Value):
    """Changed lines of a file that stand together; `start` counts from 1, in head.

    `lines` is 0 where the change only removes lines.
    """

    path: str
    start: int
    lines: int


class ProofReport(Value):
    """What a proof has found, besides its level.

    `base_sha` and `head_sha` are the commits that it is about. `tests` are those by
    which the change is proven. `newly_failing` passed on the base and fail with the
    change. `altered` did so too, but the change has edited or removed them. `flaky`
    had different results on the same files. `uncovered` are the hunks without which
    the proving tests pass too, of `hunks_tried` among `hunks`. `suite_command` runs
    the repository's own tests, of which `suite_tests` were compared; they were not all
    without `suite_complete`. `rounds` counts how often the agent was told to mend the
    proof. With `is_rerun` nothing new was to be proven, and an earlier proof has been
    run again.
    """

    reason: ProofReason
    base_sha: str = ""
    head_sha: str = ""
    tests: tuple[TestChange, ...] = ()
    newly_failing: tuple[str, ...] = ()
    altered: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    uncovered: tuple[Hunk, ...] = ()
    hunks: int = 0
    hunks_tried: int = 0
    suite_command: str = ""
    suite_tests: int = 0
    suite_complete: bool = False
    rounds: int = 0
    is_rerun: bool = False
