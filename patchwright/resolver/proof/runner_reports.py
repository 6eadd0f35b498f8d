"""Read what test runners report: how many tests passed, failed and were left out.

A report that cannot be read to its end is none.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, assert_never
from xml.etree import ElementTree as ET

from pydantic import TypeAdapter, ValidationError

from patchwright.core.types.evidence import TestResults
from patchwright.resolver.proof.runners import RunnerKind

_Verdict = Literal["passed", "failed", "skipped", "broken"]
_RECORD: Final = TypeAdapter(tuple[_Verdict, str])
# What the name of a test may take in a log.
_MAX_NAME: Final = 300


def read_junit(runner: RunnerKind, xml: bytes) -> TestResults | None:
    """Read the XML of `--junitxml`; a fixture or a module that broke is no failure."""
    try:
        # Text is read as it is here, whatever encoding it says that it has.
        text = xml.decode()
        if "<!DOCTYPE" in text or "<!ENTITY" in text:
            return None
        root = ET.fromstring(text)  # noqa: S314 - without entities it is no bomb
    except (UnicodeDecodeError, ET.ParseError):
        return None
    return _count(runner, (_junit_case(case) for case in root.iter("testcase")))


def _junit_case(case: ET.Element) -> tuple[_Verdict, str]:
    name = f"{case.get('classname', '')}::{case.get('name', '')}"
    for tag, verdict in _JUNIT.items():
        if case.find(tag) is not None:
            return verdict, name
    return "passed", name


_JUNIT: Final[Mapping[str, _Verdict]] = {
    "failure": "failed",
    "error": "broken",
    "skipped": "skipped",
}


def read_records(runner: RunnerKind, lines: bytes) -> TestResults | None:
    """Read what `sandbox.inside.unittest_recorder` has written."""
    try:
        records = [_RECORD.validate_json(line) for line in lines.splitlines()]
    except ValidationError:
        return None
    return _count(runner, records)


def _count(
    runner: RunnerKind, records: Iterable[tuple[_Verdict, str]]
) -> TestResults | None:
    """Add up; a test that is reported twice has its worst verdict."""
    worst: dict[str, _Verdict] = {}
    order = ("passed", "skipped", "failed", "broken")
    for verdict, name in records:
        known = worst.get(name[:_MAX_NAME], "passed")
        worst[name[:_MAX_NAME]] = max(known, verdict, key=order.index)

    def named(verdict: _Verdict) -> tuple[str, ...]:
        return tuple(sorted(name for name, was in worst.items() if was == verdict))

    return TestResults(
        runner=runner,
        passed=len(named("passed")),
        failed=len(named("failed")) + len(named("broken")),
        skipped=len(named("skipped")),
        names_tests=True,
        failing=named("failed"),
        passing=named("passed"),
    )


def read_printed_results(runner: RunnerKind, output: str) -> TestResults | None:
    """Read what a runner prints at its end; None where it has not come so far."""
    match runner:
        case RunnerKind.PYTEST | RunnerKind.UNITTEST:
            return None  # these write reports
        case RunnerKind.SCRIPT:
            return None  # it depends on what the script runs
        case RunnerKind.GO:
            return _count(runner, _read_go(output)) if '"Action"' in output else None
        case RunnerKind.CARGO:
            return _read_finished(runner, output, r"^test result: ", _read_cargo)
        case RunnerKind.NODE:
            return _read_finished(runner, output, r"^(?:# |\S )fail \d+$", _read_node)
        case RunnerKind.CTEST:
            return _read_finished(runner, output, r"^\d+% tests passed", _read_ctest)
        case (
            RunnerKind.JEST
            | RunnerKind.VITEST
            | RunnerKind.MOCHA
            | RunnerKind.RSPEC
            | RunnerKind.MINITEST
            | RunnerKind.PHPUNIT
            | RunnerKind.DOTNET
            | RunnerKind.MAVEN
            | RunnerKind.GRADLE
            | RunnerKind.PROVE
        ):
            return _read_summary(runner, output)
        case _:
            assert_never(runner)


def read_script_results(
    runners: Sequence[RunnerKind], output: str
) -> TestResults | None:
    """Read what a script has printed that calls these runners."""
    found = [
        results for one in runners if (results := read_printed_results(one, output))
    ]
    if len(found) != 1:
        return None
    return TestResults(**(found[0].model_dump() | {"runner": RunnerKind.SCRIPT}))


def _read_finished(
    runner: RunnerKind,
    output: str,
    end: str,
    read: Callable[[str], Iterator[tuple[_Verdict, str]]],
) -> TestResults | None:
    """Read named results out of an output that has come to its summary."""
    if not re.search(end, output, re.MULTILINE):
        return None
    return _count(runner, read(output))


def _read_go(output: str) -> Iterator[tuple[_Verdict, str]]:
    """Read `go test -json`.

    https://pkg.go.dev/cmd/test2json
    """
    verdicts: Mapping[str, _Verdict] = {
        "pass": "passed",
        "fail": "failed",
        "skip": "skipped",
    }
    for line in output.splitlines():
        try:
            event = json.loads(line) if line.startswith("{") else None
        except (ValueError, RecursionError):
            continue
        if not isinstance(event, dict) or not event.get("Test"):
            continue
        action = str(event.get("Action"))
        if action in verdicts:
            yield verdicts[action], f"{event.get('Package', '')}.{event['Test']}"


def _read_cargo(output: str) -> Iterator[tuple[_Verdict, str]]:
    verdicts: Mapping[str, _Verdict] = {
        "ok": "passed",
        "FAILED": "failed",
        "ignored": "skipped",
    }
    found = re.finditer(
        r"^test (\S.*?) \.\.\. (ok|FAILED|ignored)\b", output, re.MULTILINE
    )
    for one in found:
        yield verdicts[one[2]], one[1]


def _read_node(output: str) -> Iterator[tuple[_Verdict, str]]:
    """Read TAP, whose words for what is left out have four letters, and `spec`.

    https://nodejs.org/api/test.html
    """
    tap = r"^ *(ok|not ok) \d+ - (.*?)(?: # ([A-Z]{4})\b.*)?$"
    for one in re.finditer(tap, output, re.MULTILINE):
        done: _Verdict = "passed" if one[1] == "ok" else "failed"
        yield ("skipped" if one[3] else done), one[2]
    spec = r"^ *([✔✖﹣]) (.*?) \([\d.]+ms\)(?: # \w+)?$"
    signs: Mapping[str, _Verdict] = {"✔": "passed", "✖": "failed", "﹣": "skipped"}
    for one in re.finditer(spec, output, re.MULTILINE):
        yield signs[one[1]], one[2]


def _read_ctest(output: str) -> Iterator[tuple[_Verdict, str]]:
    verdicts: Mapping[str, _Verdict] = {
        "Passed": "passed",
        "***Failed": "failed",
        "***Skipped": "skipped",
    }
    lines = r"^ *\d+/\d+ Test +#\d+: (\S+) \.*\s*(Passed|\*\*\*[\w ]+?)(?: {2,}|$)"
    for one in re.finditer(lines, output, re.MULTILINE):
        yield verdicts.get(one[2], "broken"), one[1]


# The last line that fits counts. A group that is not there is 0; `total` is with those
# that failed.
_SUMMARIES: Final[Mapping[RunnerKind, tuple[str, ...]]] = {
    RunnerKind.JEST: (
        (
            r"^Tests: +(?:(?P<failed>\d+) failed, )?(?:(?P<skipped>\d+) skipped, )?"
            r"(?:\d+ todo, )?(?:(?P<passed>\d+) passed, )?\d+ total$"
        ),
    ),
    RunnerKind.VITEST: (
        (
            r"^ *Tests +(?:(?P<failed>\d+) failed(?: \| )?)?(?:(?P<passed>\d+) passed)?"
            r"(?: \| (?P<skipped>\d+) skipped)?(?: \| \d+ todo)? \(\d+\)$"
        ),
    ),
    RunnerKind.MOCHA: (
        (
            r"^ *(?P<passed>\d+) passing \(.*\)(?:\n+ *(?P<skipped>\d+) pending)?"
            r"(?:\n+ *(?P<failed>\d+) failing)?$"
        ),
    ),
    RunnerKind.RSPEC: (
        (
            r"^(?P<total>\d+) examples?, (?P<failed>\d+) failures?"
            r"(?:, (?P<skipped>\d+) pending)?$"
        ),
    ),
    RunnerKind.MINITEST: (
        (
            r"^(?P<total>\d+) (?:runs|tests), \d+ assertions, "
            r"(?P<failed>\d+) failures, (?P<errors>\d+) errors"
            r"(?:, \d+ pendings, \d+ omissions)?"
            r"(?:, (?P<skipped>\d+) skips)?"
        ),
    ),
    RunnerKind.PHPUNIT: (
        r"^OK \((?P<passed>\d+) tests?, \d+ assertions?\)$",
        (
            r"^Tests: (?P<total>\d+), Assertions: \d+(?:, Errors: (?P<errors>\d+))?"
            r"(?:, Failures: (?P<failed>\d+))?(?:, Warnings: \d+)?"
            r"(?:, (?:\w+ )?Deprecations: \d+)?(?:, Notices: \d+)?"
            r"(?:, Skipped: (?P<skipped>\d+))?"
        ),
    ),
    RunnerKind.DOTNET: (
        (
            r"^ *(?:Passed|Failed)! +- Failed: +(?P<failed>\d+), "
            r"Passed: +(?P<passed>\d+), "
            r"Skipped: +(?P<skipped>\d+)"
        ),
    ),
    RunnerKind.MAVEN: (
        (
            r"^(?:\[\w+\] )?Tests run: (?P<total>\d+), Failures: (?P<failed>\d+), "
            r"Errors: (?P<errors>\d+), Skipped: (?P<skipped>\d+)$"
        ),
    ),
    RunnerKind.GRADLE: (
        (
            r"^(?P<total>\d+) tests completed, (?P<failed>\d+) failed"
            r"(?:, (?P<skipped>\d+) skipped)?$"
        ),
    ),
    RunnerKind.PROVE: (
        r"^Files=\d+, Tests=(?P<total>\d+),",
        r"^ *Failed (?P<failed>\d+)/(?P<total>\d+) subtests",
    ),
}


def _read_summary(runner: RunnerKind, output: str) -> TestResults | None:
    """Read how many tests there were; these runners do not name them all."""
    for pattern in reversed(_SUMMARIES[runner]):
        found = list(re.finditer(pattern, output, re.MULTILINE))
        if found:
            return _read_numbers(runner, found[-1].groupdict())
    return None


def _read_numbers(runner: RunnerKind, groups: Mapping[str, str | None]) -> TestResults:
    read = {name: int(number or 0) for name, number in groups.items()}
    failed, skipped = read.get("failed", 0), read.get("skipped", 0)
    errors = read.get("errors", 0)
    ran = read.get("total", 0) - failed - errors - skipped
    passed = read["passed"] if "passed" in read else max(ran, 0)
    return TestResults(
        runner=runner, passed=passed, failed=failed + errors, skipped=skipped
    )
