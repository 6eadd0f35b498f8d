"""What a run's page shows of a proof."""

from typing import Final, Literal, assert_never

from patchwright.core.types.base import Value
from patchwright.core.types.evidence import (
    Evidence,
    Proof,
    ProofReport,
    TestVerdict,
)
from patchwright.core.types.work import Outcome
from patchwright.resolver.messages.proof_words import (
    advice_on_proof,
    commits_words,
    hunk_name,
    hunks_words,
    level_sentence,
    level_title,
    result_words,
    role_title,
    suite_words,
    verdict_words,
)

Tone = Literal["good", "bad", "open"]
_MOST_ROWS: Final = 200


class ResultCell(Value):
    """How a test or a command ended, green or red as it did so itself."""

    words: str
    tone: Tone


class TestRow(Value):
    """A test without the change and with it, and why it failed without."""

    __test__ = False

    name: str
    before: ResultCell
    after: ResultCell
    cause: str


class CommandRow(Value):
    """A command that was run.

    `tail` is the end of its output, and `digest` the SHA-256 of the whole.
    """

    role: str
    command: str
    commit: str
    result: ResultCell
    time: str
    tail: str
    digest: str


class ProofFinding(Value):
    """Tests or changed lines that a reviewer must know of."""

    title: str
    tone: Tone
    names: tuple[str, ...]


class ProofView(Value):
    """The level first, then the table by test, what else was found, the commands.

    `facts` are about the proof as a whole. Without a `title` no change is judged.
    """

    title: str = ""
    why: str = ""
    tone: Tone = "open"
    advice: str = ""
    tests: tuple[TestRow, ...] = ()
    findings: tuple[ProofFinding, ...] = ()
    commands: tuple[CommandRow, ...] = ()
    facts: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.title or self.commands)


def proof_view(outcome: Outcome) -> ProofView:
    """Return the proof of an outcome as it was delivered."""
    commands = command_rows(outcome.evidence)
    if not outcome.proposes_change:
        return ProofView(commands=commands)
    level, report = outcome.proof, outcome.proof_report
    title = level_title(level)
    why = level_sentence(level, report).removeprefix(title).removeprefix(": ")
    return ProofView(
        title=title,
        why=why.removeprefix("."),
        tone=_tone_of(level),
        advice=advice_on_proof(level, report),
        tests=_test_rows(report) if report else (),
        findings=_findings(report) if report else (),
        commands=commands,
        facts=_facts(report) if report and commands else (),
    )


def command_rows(evidence: tuple[Evidence, ...]) -> tuple[CommandRow, ...]:
    return tuple(
        CommandRow(
            role=role_title(one.role),
            command=one.command,
            commit=one.commit[:10],
            result=ResultCell(
                words=result_words(one), tone="good" if one.exit_code == 0 else "bad"
            ),
            time=f"{one.seconds:.1f} s",
            tail=one.tail,
            digest=one.digest,
        )
        for one in evidence[:_MOST_ROWS]
    )


def _tone_of(level: Proof) -> Tone:
    match level:
        case Proof.PROVEN:
            return "good"
        case Proof.CONTRADICTED:
            return "bad"
        case Proof.SHOWN_BY_COMMAND | Proof.NOT_PROVEN | Proof.NONE:
            return "open"
        case _:
            assert_never(level)


def _test_rows(report: ProofReport) -> tuple[TestRow, ...]:
    return tuple(
        TestRow(
            name=one.name,
            before=_verdict(one.before),
            after=_verdict(one.after),
            cause=one.cause,
        )
        for one in report.tests[:_MOST_ROWS]
    )


def _verdict(verdict: TestVerdict) -> ResultCell:
    tone: Tone = "bad" if verdict is TestVerdict.FAILED else "open"
    if verdict is TestVerdict.PASSED:
        tone = "good"
    return ResultCell(words=verdict_words(verdict), tone=tone)


def _findings(report: ProofReport) -> tuple[ProofFinding, ...]:
    found: tuple[tuple[str, Tone, tuple[str, ...]], ...] = (
        ("Fail now, and passed before the change", "bad", report.newly_failing),
        (
            (
                "Passed before; the change edits or removes them, and their earlier "
                "version fails now"
            ),
            "open",
            report.altered,
        ),
        (
            "Not covered by the proof: the tests pass without these lines too",
            "open",
            tuple(map(hunk_name, report.uncovered)),
        ),
        ("Flaky, so they do not count", "open", report.flaky),
    )
    return tuple(
        ProofFinding(title=title, tone=tone, names=names[:_MOST_ROWS])
        for title, tone, names in found
        if names
    )


def _facts(report: ProofReport) -> tuple[str, ...]:
    suite = suite_words(report)
    facts = (
        f"the repository's own tests: {suite}" if suite else "",
        hunks_words(report),
        commits_words(report),
    )
    return tuple(one for one in facts if one)
