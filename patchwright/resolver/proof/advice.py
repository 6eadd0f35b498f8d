"""Tell the agent why the proof of its change falls short, and what it can do."""

from collections.abc import Iterator, Sequence
from typing import Final

from patchwright.core.text.escape import code_block, inline_code
from patchwright.core.types.evidence import (
    Evidence,
    EvidenceRole,
    ProofReason,
    RunStatus,
    TestChange,
    TestResults,
)
from patchwright.resolver.messages.proof_words import level_sentence, result_words
from patchwright.resolver.proof.evidence import ProofResult

# How often an agent is told that its proof falls short.
MAX_ROUNDS: Final = 2
HELD_BACK: Final = "finish was held back."

_MOST_COMMANDS: Final = 8
_MOST_TESTS: Final = 15
_MOST_NAMES: Final = 10
_MOST_LINE_CHARS: Final = 160
_MOST_TAILS: Final = 2
_TAIL_CHARS: Final = 1_500


def can_be_mended(result: ProofResult) -> bool:
    """Tell whether an agent could come to a better proof of such a change."""
    return bool(_REMEDIES[result.report.reason])


def proof_advice(result: ProofResult, rounds: int) -> str:
    """Say what was run and what came of it, and what to do before the next finish.

    `rounds` is how often the agent was told so before.
    """
    report = result.report
    last = _LAST_ROUND if rounds + 1 >= MAX_ROUNDS else _NEXT_ROUND
    parts = [
        f"{HELD_BACK} {level_sentence(result.level, report)}",
        _list(
            "What was run, each time in a fresh copy of the repository:",
            [_command_line(one) for one in result.evidence],
            _MOST_COMMANDS,
        ),
        _list("Test by test:", list(_test_lines(result)), _MOST_TESTS),
        _names("Passed before the change and fail with it:", report.newly_failing),
        _names("Altered by the change, and fail as they were:", report.altered),
        _names("Had different results on the same files:", report.flaky),
        *(_tail(one) for one in _telling(result)),
        f"{_REMEDIES[report.reason]} {last}".strip(),
    ]
    return "\n\n".join(part for part in parts if part)


def _list(title: str, lines: Sequence[str], most: int) -> str:
    if not lines:
        return ""
    more = len(lines) - most
    shown = [f"- {line}" for line in lines[:most]]
    return "\n".join([title, *shown, *([f"- and {more} more"] if more > 0 else [])])


def _names(title: str, names: Sequence[str]) -> str:
    return _list(title, [inline_code(_short(name)) for name in names], _MOST_NAMES)


def _command_line(one: Evidence) -> str:
    counts = f", {_counts(one.results)}" if one.results else ""
    command = inline_code(_short(one.command))
    return f"{one.role.words}: {command}: {result_words(one)}{counts}"


def _counts(results: TestResults) -> str:
    numbers = (
        (results.passed, "passed"),
        (results.failed, "failed"),
        (results.skipped, "skipped"),
        (len(results.broken), "broken"),
    )
    return ", ".join(f"{n} {what}" for n, what in numbers if n) or "no tests"


def _test_lines(result: ProofResult) -> Iterator[str]:
    """Say of each test how it ended without and with the change, as far as is known."""
    yield from map(_change_line, result.report.tests)
    known = {one.name for one in result.report.tests}
    for one in result.evidence:
        results = one.results
        if results is None or one.role is EvidenceRole.WITHOUT_PART:
            continue
        for name in (*results.failing, *results.broken):
            if name not in known:
                cause = _cause(results.causes.get(name, ""))
                yield f"{inline_code(_short(name))} fails {one.role.words}{cause}"


def _change_line(one: TestChange) -> str:
    name = inline_code(_short(one.name))
    return f"{name}: {one.before} before, {one.after} after{_cause(one.cause)}"


def _cause(text: str) -> str:
    return f": {_short(text)}" if text else ""


def _short(text: str) -> str:
    line = " ".join(text.split())
    if len(line) <= _MOST_LINE_CHARS:
        return line
    return f"{line[: _MOST_LINE_CHARS - 1]}…"


def _telling(result: ProofResult) -> list[Evidence]:
    """Return the commands whose output helps most to see why it falls short."""
    told = [one for one in result.evidence if one.tail.strip()]
    return sorted(told, key=_distance)[:_MOST_TAILS]


def _distance(one: Evidence) -> int:
    """Rate how far an output is from the reason: what fails with the change is it."""
    is_before = one.role is EvidenceRole.BEFORE
    if one.exit_code != 0 and not is_before:
        return 0
    if one.status not in _HAS_ENDED:
        return 1
    return 2 if is_before else 3


_HAS_ENDED: Final = (RunStatus.RAN, RunStatus.UNREAD)


def _tail(one: Evidence) -> str:
    title = f"The end of what {inline_code(_short(one.command))} printed"
    return f"{title} ({one.role.words}):\n{code_block(one.tail[-_TAIL_CHARS:])}"


_NEXT_ROUND: Final = (
    "Then call finish again: the proof is run anew. If nothing more can be done, call "
    "finish again unchanged: it counts then as it is."
)
_LAST_ROUND: Final = (
    "Then call finish again: the proof is run anew, for the last time. After that your "
    "work counts as it is."
)
_WRITE_TEST: Final = (
    "it must fail without your change to the code and pass with it, and call the test "
    "runner plainly."
)
# What the agent can do; empty where it can do nothing.
_REMEDIES: Final = {
    ProofReason.RED_TO_GREEN: "",
    ProofReason.RED_WITHOUT_PART: "",
    ProofReason.COMMAND_TO_GREEN: (
        "Add a test in the repository's own style and place that fails without your "
        "change to the code, and name the command that runs it with the test runner."
    ),
    ProofReason.FAILS_WITH_CHANGE: (
        "Mend the change or the test. The command was run from the repository's root "
        "in a new shell: what `.gitignore` covers is not there, nor what you made "
        "outside the repository."
    ),
    ProofReason.BREAKS_TESTS: (
        "Mend the change so that these tests pass again, and leave the tests as they "
        "were. Often the fix is broader than what was asked for."
    ),
    ProofReason.GREEN_WITHOUT_CHANGE: (
        "Name the command that runs the test of what was wrong; if there is none yet, "
        "add one. See it fail on the code as it was."
    ),
    ProofReason.MISSING_NAME: (
        "Let the test show the reported fault through what was there before, or check "
        "what the new code does, and not only that it exists."
    ),
    ProofReason.NOT_RUN_WITH_CHANGE: (
        "Let every test that fails without the change run with it: none of them may "
        "be skipped, removed or renamed."
    ),
    ProofReason.UNCOVERED: (
        "Let the test call the code that you changed, and take out of the change what "
        "it does not need."
    ),
    ProofReason.FLAKY: (
        "Let the test give the same result each time: without the time of day, chance, "
        "the order of tests, and the network."
    ),
    ProofReason.ALTERED_TESTS: (
        "Put the tests back that were there, and add your own beside them. If what "
        "was asked for makes them wrong, leave them and say so in `summary`."
    ),
    ProofReason.DOUBTFUL: "",
    ProofReason.NO_COMMAND: (
        "Name in `test_commands` the command that runs the test of your change. If "
        f"there is no such test yet, add one: {_WRITE_TEST}"
    ),
    ProofReason.NO_SANDBOX: "",
    ProofReason.OTHER_COMMIT: "",
    ProofReason.NO_RUNNER: (
        "Name a command whose programs are there in a fresh copy of the repository; "
        "what you installed yourself is not. `python3 -m unittest` needs nothing else."
    ),
    ProofReason.NO_TESTS: (
        "Run the command exactly as you named it, in a new shell in the repository's "
        "root, and correct it: a name or path in it finds no test."
    ),
    ProofReason.COLLECTION_ERROR: (
        "Run the command exactly as you named it, in a new shell in the repository's "
        "root, and correct names and paths in it. A test file must load without your "
        "change to the code too: import inside the test what only your change adds."
    ),
    ProofReason.TIMED_OUT: "Name a command that runs only the tests of your change.",
    ProofReason.OTHER_COMMIT: "",
    ProofReason.SWITCHED_OFF: "",
}
