"""A proof as a list of tests: whole, as text."""

from pathlib import Path
from xml.etree import ElementTree as ET

from patchwright.core.types.evidence import (
    Evidence,
    EvidenceRole,
    Proof,
    ProofReason,
    ProofReport,
    TestChange,
    TestVerdict,
)
from patchwright.workers.action.junit import write_junit

RIGHT = TestChange(
    name="tests/test_cart.py::test_sum",
    before=TestVerdict.FAILED,
    after=TestVerdict.PASSED,
    cause="assert 3 == 9",
)


def ran(role: EvidenceRole, code: int | None, tail: str = "") -> Evidence:
    return Evidence(
        role=role,
        command="pytest <x>",
        commit="a" * 40,
        exit_code=code,
        seconds=1.5,
        digest="0" * 64,
        tail=tail,
    )


def written(
    folder: Path, level: Proof, report: ProofReport | None, *evidence: Evidence
) -> str:
    file = folder / "junit.xml"
    write_junit(file, level, report, evidence)
    return file.read_text("utf-8")


def test_a_proven_change_is_a_list_of_what_was_shown(tmp_path: Path) -> None:
    report = ProofReport(reason=ProofReason.RED_TO_GREEN, tests=(RIGHT,))
    told = written(
        tmp_path,
        Proof.PROVEN,
        report,
        ran(EvidenceRole.BEFORE, 1, "1 failed"),
        ran(EvidenceRole.AFTER, 0, "1 passed"),
    )
    assert told == TOLD


TOLD = """\
<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="Patchwright">
  <testsuite name="Proof" tests="1" failures="0" errors="0" skipped="0">
    <testcase classname="proof" name="The change is proven">
      <system-out>Proven: in fresh sandboxes, the test fails without the change and passes with it.</system-out>
    </testcase>
  </testsuite>
  <testsuite name="Tests" tests="1" failures="0" errors="0" skipped="0">
    <testcase classname="tests" name="tests/test_cart.py::test_sum">
      <system-out>without the change: failed, with it: passed
without it: assert 3 == 9</system-out>
    </testcase>
  </testsuite>
  <testsuite name="Commands" tests="2" failures="0" errors="0" skipped="0">
    <testcase classname="before the change" name="pytest &lt;x&gt;" time="1.50">
      <system-out>exit code 1
1 failed</system-out>
    </testcase>
    <testcase classname="after the change" name="pytest &lt;x&gt;" time="1.50">
      <system-out>exit code 0
1 passed</system-out>
    </testcase>
  </testsuite>
</testsuites>
"""  # noqa: E501 - as it is written


def test_what_fails_with_the_change_fails_in_the_list(tmp_path: Path) -> None:
    broken = "tests/test_cart.py::test_empty"
    wrong = RIGHT.replace(after=TestVerdict.FAILED)
    report = ProofReport(
        reason=ProofReason.BREAKS_TESTS,
        tests=(wrong,),
        newly_failing=(broken, wrong.name),
    )
    told = written(
        tmp_path,
        Proof.CONTRADICTED,
        report,
        ran(EvidenceRole.AFTER, 1, "1 failed"),
        ran(EvidenceRole.AFTER, None),
    )
    root = ET.fromstring(told)
    failed = [one.get("name") for one in root.iter("testcase") if is_bad(one)]
    command = ran(EvidenceRole.AFTER, 1).command
    proof = "The change is proven"
    assert failed == [proof, wrong.name, broken, command, command]
    counted = [(s.get("name"), s.get("failures"), s.get("errors")) for s in root]
    assert counted == [("Proof", "1", "0"), ("Tests", "2", "0"), ("Commands", "1", "1")]


def is_bad(case: ET.Element) -> bool:
    return case.find("failure") is not None or case.find("error") is not None


def test_what_is_not_proven_is_skipped_and_fails_nothing(tmp_path: Path) -> None:
    told = written(tmp_path, Proof.NOT_PROVEN, None)
    root = ET.fromstring(told)
    assert [case.find("skipped") is not None for case in root.iter("testcase")] == [
        True
    ]


def test_no_output_makes_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    tail = "\x1b[31mred\x1b[0m \x00 ]]> </testcase> \ufffe ok"
    told = written(tmp_path, Proof.NONE, None, ran(EvidenceRole.AFTER, 1, tail))
    [failure] = ET.fromstring(told).iter("failure")
    assert failure.text == "red \ufffd ]]> </testcase> \ufffd ok"
