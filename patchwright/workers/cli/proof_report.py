"""A proof at a terminal: its level first, then the table by test and what was found.

Names of tests, causes and paths are the repository's or the agent's: nothing in them
steers the terminal, and each stays on its line.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Final, assert_never

from pydantic import JsonValue
from rich.console import Console
from rich.text import Text

from patchwright.core.types.errors import PatchwrightError
from patchwright.core.types.evidence import (
    Evidence,
    Proof,
    ProofReport,
    TestChange,
    TestVerdict,
)
from patchwright.resolver.messages.proof_json import proof_as_json
from patchwright.resolver.messages.proof_words import (
    advice_on_proof,
    commits_words,
    hunk_name,
    hunks_words,
    level_sentence,
    level_words,
    reason_words,
    result_words,
    role_title,
    suite_words,
    verdict_words,
)
from patchwright.resolver.proof.branch_change import BranchProof
from patchwright.workers.branch_proof_text import (
    branch_proof_as_json,
    failing_output,
    last_lines,
)
from patchwright.workers.cli.terminal import plain, print_hanging

Redact = Callable[[JsonValue], JsonValue]

_MOST_TESTS: Final = 20
_MOST_NAMES: Final = 20
_MOST_CHARS: Final = 200
_ROLE_CHARS: Final = 26
_RESULT_CHARS: Final = 8
_SHA_CHARS: Final = 10
# Where a command begins on its line.
_COMMAND_AT: Final = _ROLE_CHARS + _RESULT_CHARS + 2


def proof_style(level: Proof) -> str:
    """Return the colour of a level: green is for what is proven alone."""
    match level:
        case Proof.PROVEN:
            return "green"
        case Proof.CONTRADICTED:
            return "red"
        case Proof.SHOWN_BY_COMMAND | Proof.NOT_PROVEN | Proof.NONE:
            return "yellow"
        case _:
            assert_never(level)


def level_with_reason(level: Proof, report: ProofReport | None) -> str:
    """Return the level, such as `proven`; any other one says why it is no more."""
    why = "" if level is Proof.PROVEN else reason_words(level, report)
    return f"{level_words(level)}: {why}" if why else level_words(level)


def print_proof(
    console: Console,
    level: Proof,
    report: ProofReport | None,
    evidence: Sequence[Evidence],
) -> None:
    """Print the level as a sentence, then all that was found and run."""
    sentence = Text(level_sentence(level, report), style=proof_style(level))
    print_hanging(console, sentence)
    print_findings(console, level, report, evidence)


def print_findings(
    console: Console,
    level: Proof,
    report: ProofReport | None,
    evidence: Sequence[Evidence],
) -> None:
    """Print what a person can do, the table by test, other findings, the commands."""
    if advice := advice_on_proof(level, report):
        print_hanging(console, Text(f"hint: {advice.replace('`', '')}"))
    for line in _report_lines(report):
        print_hanging(console, line)
    for one in evidence:
        print_hanging(console, _command_line(one), _COMMAND_AT)


def _report_lines(report: ProofReport | None) -> Iterator[Text]:
    if report is None:
        return
    yield from _test_lines(report.tests)
    yield from _named("fails now, passed before", report.newly_failing, "red")
    yield from _named("altered by the change", report.altered, "yellow")
    uncovered = [hunk_name(hunk) for hunk in report.uncovered]
    yield from _named("not covered by the proof", uncovered, "yellow")
    yield from _named("flaky, does not count", report.flaky, "yellow")
    facts = (
        ("repository's own tests", _suite(report)),
        ("coverage", hunks_words(report)),
        ("commits", commits_words(report) if report.tests else ""),
    )
    for label, words in facts:
        if words:
            yield Text(f"{label}: ", style="dim").append_text(one_line(words))


def _suite(report: ProofReport) -> str:
    words = suite_words(report)
    return f"{report.suite_command}, {words}" if report.suite_command else words


def _test_lines(tests: Sequence[TestChange]) -> Iterator[Text]:
    """Show each test with its cause below it."""
    if not tests:
        return
    yield Text(f"{'without':<8} {'with it':<8} test", style="dim")
    for one in tests[:_MOST_TESTS]:
        before, after = _verdict(one.before), _verdict(one.after)
        yield Text.assemble(before, " ", after, " ", one_line(one.name))
        if one.cause:
            yield Text(" " * 18).append_text(one_line(one.cause, "dim"))
    if len(tests) > _MOST_TESTS:
        yield Text(f"{'':18}… and {len(tests) - _MOST_TESTS} more", style="dim")


def _verdict(verdict: TestVerdict) -> Text:
    style = "red" if verdict is TestVerdict.FAILED else "yellow"
    if verdict is TestVerdict.PASSED:
        style = "green"
    return Text(f"{verdict_words(verdict):<{_RESULT_CHARS}}", style=style)


def _named(label: str, names: Sequence[str], style: str) -> Iterator[Text]:
    for name in names[:_MOST_NAMES]:
        yield Text(f"{label}: ", style=style).append_text(one_line(name))
    if len(names) > _MOST_NAMES:
        yield Text(f"{label}: … and {len(names) - _MOST_NAMES} more", style=style)


def _command_line(one: Evidence) -> Text:
    style = "green" if one.exit_code == 0 else "red"
    return Text.assemble(
        (f"{role_title(one.role):<{_ROLE_CHARS}} ", "dim"),
        (f"{result_words(one):<{_RESULT_CHARS}}", style),
        " ",
        one_line(one.command),
        (f"  {one.commit[:_SHA_CHARS]}, {one.seconds:.1f} s", "dim"),
    )


def one_line(text: str, style: str = "") -> Text:
    """Show words of others on one line of bounded length."""
    line = " ".join(plain(text).plain.split())
    return Text(
        line if len(line) <= _MOST_CHARS else f"{line[: _MOST_CHARS - 1]}…", style
    )


def proof_as_object(proof: BranchProof, redact: Redact) -> str:
    """Write the one JSON object that `--json` prints."""
    return json.dumps(redact(branch_proof_as_json(proof)))


def failure_as_json(error: PatchwrightError) -> str:
    """Write the same object for a proof that came to no end, and say why."""
    return json.dumps(
        {
            **proof_as_json(Proof.NOT_PROVEN, None, ()),
            "reason": error.reason,
            "error": str(error),
            "base_sha": None,
            "head_sha": None,
            "warnings": [],
            "notes": [],
        }
    )


def print_branch_proof(console: Console, proof: BranchProof, redact: Redact) -> None:
    """Print the level first, then what was found, and the words of what failed."""
    result = proof.result
    evidence = tuple(
        Evidence.model_validate(redact(one.model_dump(mode="json")))
        for one in result.evidence
    )
    report = ProofReport.model_validate(redact(result.report.model_dump(mode="json")))
    print_proof(console, result.level, report, evidence)
    for line in _tails(result.level, evidence):
        console.print(line, soft_wrap=True)
    for label, texts in (("look at", result.warnings), ("note", proof.notes)):
        for text in texts:
            console.print(plain(f"{label}: {text}"), soft_wrap=True)


def _tails(level: Proof, evidence: tuple[Evidence, ...]) -> Iterator[Text]:
    """Show how the output ended of each command that speaks against a proof."""
    for one in failing_output(level, evidence):
        words = f"{role_title(one.role)}, {result_words(one)}: "
        yield Text(f"\n{words}", style="bold").append_text(one_line(one.command))
        for line in last_lines(one.tail):
            yield Text("    ").append_text(plain(line))
