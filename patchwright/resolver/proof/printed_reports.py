"""Read what test runners print, where they write no report into a file."""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, assert_never

from patchwright.core.types.evidence import TestResults
from patchwright.resolver.proof.runner_reports import (
    RunnerReport,
    TestRecord,
    Verdict,
    count_records,
)
from patchwright.resolver.proof.runners import RunnerKind


def read_printed_report(runner: RunnerKind, output: str) -> RunnerReport | None:
    """Read what a runner prints at its end; None where it has not come so far."""
    match runner:
        case RunnerKind.PYTEST | RunnerKind.UNITTEST:
            return None  # these write reports
        case RunnerKind.SCRIPT:
            return None  # it depends on what the script runs
        case RunnerKind.GO:
            is_json = '"Action"' in output
            return count_records(runner, _read_go(output)) if is_json else None
        case RunnerKind.CARGO:
            if _count_lines(r"^running \d+ tests?$", output) > _count_lines(
                r"^test result: ", output
            ):  # a program has ended before its tests
                return None
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


def read_script_report(
    runners: Sequence[RunnerKind], output: str
) -> RunnerReport | None:
    """Read what a script has printed that calls these runners."""
    found = [report for one in runners if (report := read_printed_report(one, output))]
    return as_script_report(found[0]) if len(found) == 1 else None


def as_script_report(report: RunnerReport) -> RunnerReport:
    """Say that a script of the repository has called the runner."""
    return RunnerReport(
        report.results.replace(runner=RunnerKind.SCRIPT), report.unloaded
    )


def _read_finished(
    runner: RunnerKind,
    output: str,
    end: str,
    read: Callable[[str], Iterator[TestRecord]],
) -> RunnerReport | None:
    """Read named results out of an output that has come to its summary."""
    if not re.search(end, output, re.MULTILINE):
        return None
    return count_records(runner, read(output))


def text_of_go(output: str) -> str:
    """Return what `go test -json` would have printed without `-json`."""
    lines = []
    for line in output.splitlines(keepends=True):
        event = _go_event(line)
        lines.append(line if event is None else str(event.get("Output", "")))
    return "".join(lines)


def _go_event(line: str) -> Mapping[str, object] | None:
    try:
        event = json.loads(line) if line.startswith("{") else None
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and "Action" in event else None


def _read_go(output: str) -> Iterator[TestRecord]:
    """Read `go test -json`.

    https://pkg.go.dev/cmd/test2json
    """
    yield from _unbuilt_packages(text_of_go(output))
    written: defaultdict[str, str] = defaultdict(str)
    failing: set[str] = set()
    for line in output.splitlines():
        event = _go_event(line) or {}
        package = str(event.get("Package", ""))
        name = f"{package}.{event['Test']}" if event.get("Test") else package
        action = str(event.get("Action"))
        if action == "output":
            written[name] += str(event.get("Output", ""))
        elif event.get("Test") and action in _GO:
            failing |= {package} if action == "fail" else set()
            yield TestRecord(_GO[action], name, _go_cause(written[name]))
        elif action == "fail" and package and package not in failing:
            failing.add(package)
            yield TestRecord("unloaded", package, _go_cause(written[name]))


_GO: Final[Mapping[str, Verdict]] = {
    "pass": "passed",
    "fail": "failed",
    "skip": "skipped",
}


def _go_cause(written: str) -> str:
    panic = re.search(r"^\s*(panic: .*?)(?: \[recovered.*\])?$", written, re.MULTILINE)
    if panic:
        return panic[1]
    told = re.search(r"^\s+\S+\.go:\d+: *(.*)$", written, re.MULTILINE)
    if told and not told[1]:  # of a library of assertions
        return " ".join(re.findall(r"^\s+Error:\s+(.*)$", written, re.MULTILINE)[:1])
    return told[1] if told else ""


def _unbuilt_packages(text: str) -> Iterator[TestRecord]:
    faults = dict(
        re.findall(r"^# (\S+).*\n(?:.*\n)??(\S+:\d+(?::\d+)?: .*)$", text, re.MULTILINE)
    )
    for one in re.finditer(
        r"^FAIL\s+(\S+) \[(?:build|setup) failed\]", text, re.MULTILINE
    ):
        yield TestRecord("unloaded", one[1], faults.get(one[1], "it cannot be built"))


def _read_cargo(output: str) -> Iterator[TestRecord]:
    """Read the results of each test program: their tests are named as paths of Rust."""
    found = re.split(_CARGO_PROGRAM, output, flags=re.MULTILINE)
    for crate, text in zip(("", *found[1::2]), found[::2], strict=True):
        for one in re.finditer(_CARGO_TEST, text, re.MULTILINE):
            name = re.sub(r" \(line \d+\)$", "", one[1])
            whole = f"{crate.replace('-', '_')}::{name}" if crate else name
            yield TestRecord(_CARGO[one[2]], whole, _cargo_cause(text, one[1]))


# A test program, or a crate whose examples in the documentation are run.
_CARGO_PROGRAM: Final = (
    r"^ +(?:Running .*?deps[/\\](?=[\w-]+-[0-9a-f]{16})|Doc-tests )([\w-]+?)"
    r"(?:-[0-9a-f]{16}\)?)?$"
)
_CARGO_TEST: Final = r"^test (\S.*?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)\b"
_CARGO: Final[Mapping[str, Verdict]] = {
    "ok": "passed",
    "FAILED": "failed",
    "ignored": "skipped",
}


def _cargo_cause(text: str, name: str) -> str:
    begin = text.find(f"---- {name} stdout ----")
    if begin < 0:
        return ""
    found = re.search(
        r"panicked at (?:'(?P<old>[\s\S]*?)', \S+:\d+:\d+$|\S+:\d+:\d+:\n(?P<new>.*))",
        text[begin : begin + _MAX_SECTION],
        re.MULTILINE,
    )
    return f"panic: {found['old'] or found['new']}" if found else ""


_MAX_SECTION: Final = 4_000


def _read_node(output: str) -> Iterator[TestRecord]:
    """Read TAP, whose words for what is left out have four letters, and `spec`.

    https://nodejs.org/api/test.html
    """
    tap = r"^ *(ok|not ok) \d+ - (.*?)(?: # ([A-Z]{4})\b.*)?$"
    for one in re.finditer(tap, output, re.MULTILINE):
        done: Verdict = "passed" if one[1] == "ok" else "failed"
        yield TestRecord("skipped" if one[3] else done, one[2])
    spec = r"^ *([✔✖﹣]) (.*?) \([\d.]+ms\)(?: # \w+)?$"
    signs: Mapping[str, Verdict] = {"✔": "passed", "✖": "failed", "﹣": "skipped"}
    for one in re.finditer(spec, output, re.MULTILINE):
        yield TestRecord(signs[one[1]], one[2])


def _read_ctest(output: str) -> Iterator[TestRecord]:
    verdicts: Mapping[str, Verdict] = {
        "Passed": "passed",
        "***Failed": "failed",
        "***Skipped": "skipped",
    }
    lines = r"^ *\d+/\d+ Test +#\d+: (\S+) \.*\s*(Passed|\*\*\*[\w ]+?)(?: {2,}|$)"
    for one in re.finditer(lines, output, re.MULTILINE):
        yield TestRecord(verdicts.get(one[2], "broken"), one[1])


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


def _read_summary(runner: RunnerKind, output: str) -> RunnerReport | None:
    """Read how many tests there were; these runners do not name them all."""
    for pattern in reversed(_SUMMARIES[runner]):
        found = list(re.finditer(pattern, output, re.MULTILINE))
        if found:
            return _read_numbers(runner, found[-1].groupdict())
    return None


def _read_numbers(runner: RunnerKind, groups: Mapping[str, str | None]) -> RunnerReport:
    read = {name: int(number or 0) for name, number in groups.items()}
    failed, skipped = read.get("failed", 0), read.get("skipped", 0)
    errors = read.get("errors", 0)
    ran = read.get("total", 0) - failed - errors - skipped
    passed = read["passed"] if "passed" in read else max(ran, 0)
    return RunnerReport(
        TestResults(
            runner=runner, passed=passed, failed=failed + errors, skipped=skipped
        )
    )


def _count_lines(pattern: str, text: str) -> int:
    return len(re.findall(pattern, text, re.MULTILINE))
