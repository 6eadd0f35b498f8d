"""The proof of a change as JUnit XML, which CIs show as a list of tests.

https://docs.gitlab.com/ci/testing/unit_test_reports/
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

from patchwright.core.types.evidence import (
    Evidence,
    EvidenceRole,
    Proof,
    ProofReport,
    TestChange,
    TestVerdict,
)
from patchwright.resolver.messages.proof_words import level_sentence, level_title

# What XML 1.0 cannot hold, and the colours of terminals.
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FAILED: Final = (TestVerdict.FAILED, TestVerdict.BROKEN)


def write_junit(
    path: Path, level: Proof, report: ProofReport | None, evidence: Sequence[Evidence]
) -> None:
    """Write the verdict, the tests that it is about, and each command that was run.

    A command fails the list only where it should have passed: on the whole change.
    """
    root = ET.Element("testsuites", name="Patchwright")
    _add_suite(root, "Proof", [_verdict_case(level, report)])
    if report is not None:
        cases = [*map(_test_case, report.tests), *_broken_cases(report)]
        _add_suite(root, "Tests", cases)
    _add_suite(root, "Commands", map(_command_case, evidence))
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    path.write_text(f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n', "utf-8")


def _add_suite(root: ET.Element, name: str, cases: Iterable[ET.Element]) -> None:
    found = list(cases)
    if not found:
        return
    counts = {
        "tests": len(found),
        "failures": _count(found, "failure"),
        "errors": _count(found, "error"),
        "skipped": _count(found, "skipped"),
    }
    numbers = {one: str(count) for one, count in counts.items()}
    ET.SubElement(root, "testsuite", {"name": name, **numbers}).extend(found)


def _count(cases: Sequence[ET.Element], tag: str) -> int:
    return sum(case.find(tag) is not None for case in cases)


def _verdict_case(level: Proof, report: ProofReport | None) -> ET.Element:
    said = level_sentence(level, report)
    case = _case("proof", "The change is proven")
    match level:
        case Proof.PROVEN:
            _add(case, "system-out", said)
        case Proof.CONTRADICTED:
            _add(case, "failure", said, message=level_title(level))
        case Proof.SHOWN_BY_COMMAND | Proof.NOT_PROVEN | Proof.NONE:
            _add(case, "skipped", said, message=level_title(level))
    return case


def _test_case(test: TestChange) -> ET.Element:
    case = _case("tests", test.name)
    said = f"without the change: {test.before}, with it: {test.after}"
    cause = f"\nwithout it: {test.cause}" if test.cause else ""
    if test.after in _FAILED:
        _add(case, "failure", f"{said}{cause}", message=test.after)
    elif test.after is TestVerdict.PASSED:
        _add(case, "system-out", f"{said}{cause}")
    else:
        _add(case, "skipped", f"{said}{cause}", message=test.after)
    return case


def _broken_cases(report: ProofReport) -> Iterable[ET.Element]:
    known = {one.name for one in report.tests}
    for name in report.newly_failing:
        if name in known:
            continue
        case = _case("tests", name)
        said = "passed before the change, fails with it"
        _add(case, "failure", said, message="failed")
        yield case


def _command_case(ran: Evidence) -> ET.Element:
    case = _case(ran.role.words, ran.command, f"{ran.seconds:.2f}")
    ended = "did not end" if ran.exit_code is None else f"exit code {ran.exit_code}"
    if ran.role is EvidenceRole.AFTER and ran.exit_code != 0:
        tag = "error" if ran.exit_code is None else "failure"
        _add(case, tag, ran.tail, message=ended)
    else:
        _add(case, "system-out", f"{ended}\n{ran.tail}".rstrip())
    return case


def _case(group: str, name: str, seconds: str = "") -> ET.Element:
    times = {"time": seconds} if seconds else {}
    names = {"classname": _clean(group), "name": _clean(name)}
    return ET.Element("testcase", {**names, **times})


def _add(case: ET.Element, tag: str, text: str, **attributes: str) -> None:
    clean = {name: _clean(value) for name, value in attributes.items()}
    ET.SubElement(case, tag, clean).text = _clean(text)


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", _COLOUR.sub("", text))
