"""Read the reports that test runners write into files.

A report that cannot be read to its end is none.
"""

import json
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal
from xml.etree import ElementTree as ET

from pydantic import TypeAdapter, ValidationError

from patchwright.core.types.evidence import TestResults
from patchwright.resolver.proof.runners import RunnerKind

# `unloaded` is a file, not a test: none of its tests could be run.
Verdict = Literal["passed", "failed", "skipped", "broken", "unloaded"]
_WORST: Final = ("passed", "skipped", "failed", "broken", "unloaded")
# What the name of a test, and the reason why it failed, may take in a log.
_MAX_NAME: Final = 300
_MAX_CAUSE: Final = 300


@dataclass(frozen=True)
class TestRecord:
    """How one test ended; `cause` says why in one line, as "Type: message"."""

    __test__ = False

    verdict: Verdict
    name: str
    cause: str = ""


@dataclass(frozen=True)
class RunnerReport:
    """What a runner has reported; `unloaded` counts the files that it could not run."""

    results: TestResults
    unloaded: int = 0


def count_records(runner: RunnerKind, records: Iterable[TestRecord]) -> RunnerReport:
    """Add up; a test that is reported twice has its worst verdict."""
    worst: dict[str, TestRecord] = {}
    for record in records:
        name = record.name[:_MAX_NAME]
        known = worst.get(name)
        if known is None or _rank(record) > _rank(known):
            worst[name] = record

    def named(*verdicts: Verdict) -> tuple[str, ...]:
        return tuple(sorted(name for name, r in worst.items() if r.verdict in verdicts))

    failing, broken = named("failed"), named("broken", "unloaded")
    causes = {name: one_line(worst[name].cause) for name in (*failing, *broken)}
    results = TestResults(
        runner=runner,
        passed=len(named("passed")),
        failed=len(failing) + len(broken),
        skipped=len(named("skipped")),
        names_tests=True,
        failing=failing,
        passing=named("passed"),
        skipping=named("skipped"),
        broken=broken,
        causes={name: cause for name, cause in causes.items() if cause},
    )
    return RunnerReport(results, len(named("unloaded")))


def merge_reports(runner: RunnerKind, reports: Sequence[RunnerReport]) -> RunnerReport:
    """Put the reports of several programs together, whose tests are all different."""
    found = [report.results for report in reports]
    causes = {name: why for one in found for name, why in one.causes.items()}
    return RunnerReport(
        TestResults(
            runner=runner,
            passed=sum(one.passed for one in found),
            failed=sum(one.failed for one in found),
            skipped=sum(one.skipped for one in found),
            names_tests=all(one.names_tests for one in found),
            failing=tuple(sorted({n for one in found for n in one.failing})),
            passing=tuple(sorted({n for one in found for n in one.passing})),
            skipping=tuple(sorted({n for one in found for n in one.skipping})),
            broken=tuple(sorted({n for one in found for n in one.broken})),
            causes=causes,
        ),
        sum(report.unloaded for report in reports),
    )


def _rank(record: TestRecord) -> int:
    return _WORST.index(record.verdict)


def one_line(text: str) -> str:
    return " ".join(text[: _MAX_CAUSE * 4].split())[:_MAX_CAUSE]


_LINE: Final = TypeAdapter(tuple[Verdict, str, str] | tuple[Verdict, str])
_FRAME: Final = TypeAdapter(tuple[Literal["begin", "end"], str, str])


def read_records(runner: RunnerKind, lines: bytes) -> RunnerReport | None:
    """Read what the recorders of `patchwright.sandbox.inside` have written.

    Where they say when a process begins, each must have come to its end.
    """
    records: list[TestRecord] = []
    running: set[str] = set()
    for line in lines.splitlines():
        try:
            if line.startswith((b'["begin"', b'["end"')):
                mark, process, _ = _FRAME.validate_json(line)
                (running.add if mark == "begin" else running.discard)(process)
            else:
                records.append(TestRecord(*_LINE.validate_json(line)))
        except ValidationError:
            return None
    return None if running else count_records(runner, records)


def read_junit(
    runner: RunnerKind, *documents: bytes, root: str = ""
) -> RunnerReport | None:
    """Read JUnit's XML. `root` is where the repository was; files are named from it."""
    cases: list[TestRecord] = []
    for xml in documents:
        try:
            # Text is read as it is here, whatever encoding it says that it has.
            text = xml.decode()
            if "<!DOCTYPE" in text or "<!ENTITY" in text:
                return None
            tree = ET.fromstring(text)  # noqa: S314 - without entities it is no bomb
        except (UnicodeDecodeError, ET.ParseError):
            return None
        cases += [_junit_case(runner, case, root) for case in tree.iter("testcase")]
    return count_records(runner, cases)


def _junit_case(runner: RunnerKind, case: ET.Element, root: str) -> TestRecord:
    name = _junit_name(runner, case, root)
    for tag, verdict in _JUNIT.items():
        found = case.find(tag)
        if found is None:
            continue
        if tag == "error" and runner in _WITH_ERRORS:
            return TestRecord("failed", name, _junit_cause(case, found))
        if found.get("message") == "collection failure":  # pytest's words
            return TestRecord(
                "unloaded", name.removeprefix("::"), _junit_cause(case, found)
            )
        return TestRecord(verdict, name, _junit_cause(case, found))
    if case.get("status") in ("notrun", "disabled"):  # ctest's
        return TestRecord("skipped", name)
    return TestRecord("passed", name)


_JUNIT: Final[Mapping[str, Verdict]] = {
    "failure": "failed",
    "error": "broken",
    "skipped": "skipped",
}
# An error is an exception that the test raised, not a fixture that broke.
_WITH_ERRORS: Final = (RunnerKind.MAVEN, RunnerKind.GRADLE, RunnerKind.PHPUNIT)


def _junit_name(runner: RunnerKind, case: ET.Element, root: str) -> str:
    name, owner = case.get("name", ""), case.get("classname", "")
    match runner:
        case RunnerKind.CTEST:
            return name
        case RunnerKind.PHPUNIT:
            return f"{case.get('class', owner)}::{name}"
        case RunnerKind.MAVEN | RunnerKind.GRADLE:
            return f"{owner}.{name.removesuffix('()')}"
        case _:
            file = case.get("file", "")
            module = file.removesuffix(".py").replace("/", ".")
            if not file or not f"{owner}.".startswith(f"{module}."):
                return f"{owner}::{name}"
            classes = owner[len(module) + 1 :].split(".") if owner != module else []
            return "::".join([from_root(file, root), *classes, name])


def _junit_cause(case: ET.Element, found: ET.Element) -> str:
    """Return the type and the message, wherever a runner has put the latter."""
    kind, message = found.get("type") or "", found.get("message") or ""
    lines = _filled_lines(found.text or case.findtext("system-out") or "")
    if message == "collection failure":
        told = [line.removeprefix("E ").strip() for line in lines]
        return next((line for line in reversed(told) if "Error" in line), message)
    if not message:  # PHPUnit has the name of the test in the first line
        named = f"{case.get('class')}::{case.get('name')}"
        own = [line for line in lines if not line.startswith(named)]
        message = (own[0] if found.text else own[-1]) if own else ""
    return message if message.startswith(kind) else f"{kind}: {message}"


def from_root(path: str, root: str) -> str:
    """Return a path as it is named from the repository's root."""
    if not path.startswith("/"):
        return posixpath.normpath(path)
    return posixpath.relpath(path, root) if root else path


def read_jest(runner: RunnerKind, data: bytes, root: str) -> RunnerReport | None:
    """Read what jest and vitest write as JSON.

    https://jestjs.io/docs/configuration#testresultsprocessor-string
    """
    files = _items(_object(data).get("testResults"))
    if not files:
        return None
    return count_records(
        runner, (record for file in files for record in _jest_file(file, root))
    )


def _jest_file(file: Mapping[str, object], root: str) -> Iterator[TestRecord]:
    path = from_root(str(file.get("name", "")), root)
    tests = _items(file.get("assertionResults"))
    if not tests and file.get("status") == "failed":
        yield TestRecord("unloaded", path, _error_line(str(file.get("message", ""))))
    for test in tests:
        verdict = _JEST.get(str(test.get("status")), "skipped")
        messages = test.get("failureMessages")
        cause = str(messages[0]) if isinstance(messages, list) and messages else ""
        name = f"{path}::{test.get('fullName')}".strip()
        yield TestRecord(verdict, name, _first_line(cause))


_JEST: Final[Mapping[str, Verdict]] = {"passed": "passed", "failed": "failed"}


def read_rspec(runner: RunnerKind, data: bytes, root: str) -> RunnerReport | None:
    """Read the output of RSpec's JSON formatter."""
    report = _object(data)
    if "examples" not in report:
        return None
    summary = report.get("summary")
    outside = (
        summary.get("errors_outside_of_examples_count")
        if (isinstance(summary, dict))
        else 0
    )
    records = [_rspec_example(one, root) for one in _items(report["examples"])]
    if outside:
        messages = report.get("messages")
        told = str(messages[0]) if isinstance(messages, list) and messages else ""
        records.append(TestRecord("unloaded", _rspec_file(told), _rspec_error(told)))
    return count_records(runner, records)


def _rspec_file(message: str) -> str:
    """Return the file that could not be loaded, out of RSpec's message."""
    found = re.search(r"occurred while loading (\S+?)\.?(?:\s|$)", message)
    return posixpath.normpath(found[1]) if found else ""


def _rspec_error(message: str) -> str:
    found = re.search(r"^\s*([\w:]+Error):\s*\n\s*(.+)$", message, re.MULTILINE)
    return f"{found[1]}: {found[2]}" if found else _error_line(message)


def _rspec_example(example: Mapping[str, object], root: str) -> TestRecord:
    path = from_root(str(example.get("file_path", "")), root)
    verdict = _RSPEC.get(str(example.get("status")), "skipped")
    raised = example.get("exception")
    cause = ""
    if isinstance(raised, dict):
        cause = f"{raised.get('class')}: {str(raised.get('message', '')).strip()}"
    return TestRecord(verdict, f"{path}::{example.get('full_description')}", cause)


_RSPEC: Final[Mapping[str, Verdict]] = {"passed": "passed", "failed": "failed"}


def _object(data: bytes) -> Mapping[str, object]:
    try:
        read = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def _items(value: object) -> list[Mapping[str, object]]:
    return (
        [one for one in value if isinstance(one, dict)]
        if (isinstance(value, list))
        else []
    )


def _filled_lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _first_line(text: str) -> str:
    return next(iter(_filled_lines(text)), "")


def _error_line(text: str) -> str:
    """Return the first line that names an error, or else the first one."""
    lines = _filled_lines(text)
    return next((line for line in lines if "Error" in line), _first_line(text))
