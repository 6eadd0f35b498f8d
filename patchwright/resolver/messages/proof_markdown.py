"""A proof as Markdown: the table by test, and what else was found.

Names of tests, causes and paths are the repository's or the agent's: they are shown as
code in which nothing acts, on one line of bounded length.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar
from urllib.parse import quote

from patchwright.core.text.escape import TextPlace, make_inert, table_code
from patchwright.core.text.strings import count_noun
from patchwright.core.types.evidence import (
    Evidence,
    EvidenceRole,
    Hunk,
    Proof,
    ProofReport,
    TestChange,
    TestVerdict,
)
from patchwright.resolver.messages.elements import details_block, join
from patchwright.resolver.messages.proof_words import (
    hunk_name,
    hunks_words,
    result_words,
    role_title,
    suite_words,
    verdict_words,
)

_MAX_CELL_CHARS: Final = 120
_MOST_TESTS: Final = 20
_MOST_NAMES: Final = 20
_MOST_COMMANDS: Final = 40
_SHA_CHARS: Final = 10


@dataclass(frozen=True)
class CodeLinks:
    """Makes links to a commit and to lines of it; none without `web_url`.

    `web_url` is the address of the repository's pages.
    """

    web_url: str = ""

    def commit(self, sha: str) -> str:
        name = f"`{sha[:_SHA_CHARS]}`"
        return f"[{name}]({self.web_url}/commit/{sha})" if self.web_url else name

    def lines(self, hunk: Hunk, sha: str) -> str:
        name = shown_name(hunk_name(hunk))
        if not (self.web_url and sha):
            return name
        last = hunk.start + max(hunk.lines, 1) - 1
        end = f"-L{last}" if last > hunk.start else ""
        place = f"{quote(hunk.path, errors='replace')}#L{hunk.start}{end}"
        return f"[{name}]({self.web_url}/blob/{sha}/{place})"


NO_LINKS: Final = CodeLinks()


def shown_name(text: str) -> str:
    """Show a name or a line of others as inert code that also fits into a table."""
    line = " ".join(make_inert(text, TextPlace.CODE).split())
    if len(line) > _MAX_CELL_CHARS:
        line = f"{line[: _MAX_CELL_CHARS - 1]}…"
    return table_code(line)


def proof_report(
    report: ProofReport | None,
    evidence: Sequence[Evidence],
    links: CodeLinks = NO_LINKS,
) -> str:
    """Show all that a proof has found, besides its level; empty if nothing was run.

    The commands are folded, unless no runner has named its tests.
    """
    if report is None or not report.tests:
        return join(commands_table(evidence), findings(report, links))
    commands = count_noun(len(evidence), "command")
    title = f"{commands}, run by the controller in fresh sandboxes"
    ran = details_block(title, commands_table(evidence)) if evidence else ""
    return join(tests_table(report.tests), findings(report, links), ran)


def folded_proof_report(
    level: Proof, report: ProofReport | None, evidence: Sequence[Evidence]
) -> str:
    """Show the same below one line, which is open where tests fail with the change."""
    if not evidence:
        return ""
    commands = count_noun(len(evidence), "command")
    title = f"Evidence: {commands}, run by the controller in fresh sandboxes"
    tests = tests_table(report.tests) if report and report.tests else ""
    shown = join(tests, findings(report, NO_LINKS), commands_table(evidence))
    is_open = level is Proof.CONTRADICTED
    return details_block(title, shown, is_open=is_open)


def evidence_note(report: ProofReport | None, links: CodeLinks = NO_LINKS) -> str:
    """Say who ran this, and on which commits."""
    words = (
        "Run by the controller in fresh sandboxes, not by the agent. “Without the "
        "change” is the base commit with only the test files of this change."
    )
    if report is None or not (report.base_sha and report.head_sha):
        return f"<sub>{words}</sub>"
    base, head = links.commit(report.base_sha), links.commit(report.head_sha)
    return f"<sub>Base {base}, head {head}. {words}</sub>"


def tests_table(tests: Sequence[TestChange]) -> str:
    """Make a table of tests without the change and with it."""
    rows = [
        f"| {shown_name(one.name)} | {_verdict_cell(one.before)} "
        f"| {_verdict_cell(one.after)} | {shown_name(one.cause) if one.cause else ''} |"
        for one in tests[:_MOST_TESTS]
    ]
    left = len(tests) - _MOST_TESTS
    rows += [f"| … and {left} more | | | |"] if left > 0 else []
    head = "| test | without the change | with it | why it failed without |"
    return "\n".join([head, "|---|---|---|---|", *rows])


def _verdict_cell(verdict: TestVerdict) -> str:
    words = verdict_words(verdict)
    if verdict is TestVerdict.PASSED:
        return f"🟢 {words}"
    return f"🔴 {words}" if verdict is TestVerdict.FAILED else words


def commands_table(evidence: Sequence[Evidence]) -> str:
    """Make a table of the commands that were run, or an empty string."""
    if not evidence:
        return ""
    rows = [
        f"| {role_title(one.role)} | {shown_name(one.command)} "
        f"| `{one.commit[:_SHA_CHARS]}` | {_result_cell(one)} | {one.seconds:.1f} s |"
        for one in evidence[:_MOST_COMMANDS]
    ]
    left = len(evidence) - _MOST_COMMANDS
    rows += [f"| … and {left} more | | | | |"] if left > 0 else []
    head = "| | command | commit | result | time |"
    return "\n".join([head, "|---|---|---|---|---|", *rows])


def _result_cell(one: Evidence) -> str:
    if one.exit_code is None:
        return f"⏱ {result_words(one)}"
    return f"{'🟢' if one.exit_code == 0 else '🔴'} {result_words(one)}"


def findings(report: ProofReport | None, links: CodeLinks) -> str:
    """List what speaks against the change, then what the proof does not reach."""
    if report is None:
        return ""
    return join(
        _named("Fail now, and passed before the change:", report.newly_failing),
        _named(
            "Passed before; the change edits or removes them, and their earlier "
            "version fails now:",
            report.altered,
        ),
        _uncovered(report, links),
        _named("Flaky, so they do not count:", report.flaky),
        _suite(report),
    )


def _uncovered(report: ProofReport, links: CodeLinks) -> str:
    tried = hunks_words(report)
    if not report.uncovered:
        each = "Each part that was tried is needed: the tests fail without it"
        return f"{each} ({tried})." if tried else ""
    within = f" ({tried})" if tried else ""
    return _listed(
        f"Not covered by the proof: the tests pass without these lines too{within}.",
        report.uncovered,
        lambda hunk: links.lines(hunk, report.head_sha),
    )


def _suite(report: ProofReport) -> str:
    words = suite_words(report)
    if not words:
        return ""
    command = f", {shown_name(report.suite_command)}" if report.suite_command else ""
    return f"The repository's own tests{command}: {words}."


def _named(title: str, names: Sequence[str]) -> str:
    return _listed(title, names, shown_name)


_Item = TypeVar("_Item")


def _listed(title: str, items: Sequence[_Item], show: Callable[[_Item], str]) -> str:
    if not items:
        return ""
    lines: Iterable[str] = (f"- {show(one)}" for one in items[:_MOST_NAMES])
    left = len(items) - _MOST_NAMES
    more = [f"- … and {left} more"] if left > 0 else []
    return "\n".join([f"**{title}**", "", *lines, *more])


def proof_line(report: ProofReport | None, evidence: Sequence[Evidence]) -> str:
    """Say in one line what was run, for places that show no tables; empty for nothing.

    It names a test that speaks against the change, else the first test that was
    compared, or else the first command.
    """
    if report and (broken := report.newly_failing):
        return f"{shown_name(broken[0])} fails now, and passed before{_more(broken)}"
    if report and report.tests:
        failing = (one for one in report.tests if one.after in _BAD)
        first = next(failing, report.tests[0])
        return (
            f"{shown_name(first.name)}: {verdict_words(first.before)} without the "
            f"change, {verdict_words(first.after)} with it{_more(report.tests)}"
        )
    after = (one for one in evidence if one.role is EvidenceRole.AFTER)
    return next((_command_line(one, evidence) for one in after), "")


_BAD: Final = frozenset({TestVerdict.FAILED, TestVerdict.BROKEN})


def _more(tests: Sequence[object]) -> str:
    more = len(tests) - 1
    return f", and {count_noun(more, 'more test')}" if more else ""


def _command_line(after: Evidence, evidence: Sequence[Evidence]) -> str:
    before = [
        f"{result_words(one)} without the change, "
        for one in evidence
        if one.role is EvidenceRole.BEFORE and one.command == after.command
    ]
    with_it = f"{result_words(after)} with it"
    return f"{shown_name(after.command)}: {''.join(before[:1])}{with_it}"
