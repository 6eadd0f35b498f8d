"""What test runners write into files is read test by test, with causes."""

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from patchwright.resolver.proof.runner_reports import (
    RunnerReport,
    read_jest,
    read_junit,
    read_records,
    read_rspec,
)
from patchwright.resolver.proof.runners import RunnerKind
from patchwright.sandbox.inside import pytest_recorder, unittest_recorder

INSIDE = files("patchwright.sandbox.inside")
TESTS = """
import pytest, unittest
@pytest.mark.parametrize("n", [1, 2], ids=["one", "a b"])
def test_it(n): assert n == 1
def test_raises(): {}["x"]
@pytest.mark.skip(reason="later")
def test_skipped(): pass
@pytest.fixture
def broken(): raise ValueError("no\\nfixture")
def test_broken(broken): pass
class TestIn:
    def test_good(self): pass
"""


def _run_python(words: list[str], folder: Path, variables: dict[str, str]) -> None:
    assigned = [f"{name}={value}" for name, value in variables.items()]
    argv = ["env", *assigned, sys.executable, *words]
    subprocess.run(argv, cwd=folder, check=False, capture_output=True)


def recorded_by_pytest(folder: Path, *options: str) -> RunnerReport | None:
    """Run pytest as in a sandbox: the plug-in is found by its entry point."""
    report = folder / "reports"
    installed = report / f"{pytest_recorder.MODULE}-1.dist-info"
    installed.mkdir(parents=True)
    plug_in = INSIDE.joinpath("pytest_recorder.py").read_text()
    (report / f"{pytest_recorder.MODULE}.py").write_text(plug_in)
    (installed / "entry_points.txt").write_text(pytest_recorder.ENTRY_POINTS)
    (installed / "METADATA").write_text(pytest_recorder.METADATA)
    variables = {
        "PYTHONPATH": str(report),
        pytest_recorder.VARIABLE: str(report / "pytest.jsonl"),
        pytest_recorder.ROOT_VARIABLE: str(folder),
    }
    # Of our own plug-ins, the one that takes longest to import has no part in it.
    left_out = ("no:cacheprovider", "no:randomly", "no:schemathesis")
    words = ["-m", "pytest", "-q", *(f"-p{one}" for one in left_out)]
    _run_python([*words, "--rootdir=.", *options], folder / "api", variables)
    return read_records(RunnerKind.PYTEST, (report / "pytest.jsonl").read_bytes())


@pytest.mark.parametrize("processes", ["0", "2"])
def test_pytest_names_tests_from_the_repository_and_says_why_they_failed(
    processes: str, tmp_path: Path
) -> None:
    (tmp_path / "api").mkdir()
    (tmp_path / "api/test_it.py").write_text(TESTS)
    (tmp_path / "api/test_gone.py").write_text("import gone\n")
    options = ("-n", processes, "--continue-on-collection-errors")
    found = recorded_by_pytest(tmp_path, *options)
    assert found is not None
    results = found.results
    assert results.passing == (
        "api/test_it.py::TestIn::test_good",
        "api/test_it.py::test_it[one]",
    )
    assert results.failing == (
        "api/test_it.py::test_it[a b]",
        "api/test_it.py::test_raises",
    )
    assert results.broken == ("api/test_gone.py", "api/test_it.py::test_broken")
    assert results.skipping == ("api/test_it.py::test_skipped",)
    assert found.unloaded == 1
    assert results.causes == {
        "api/test_it.py::test_it[a b]": "AssertionError: assert 2 == 1",
        "api/test_it.py::test_raises": "KeyError: 'x'",
        "api/test_it.py::test_broken": "ValueError: no fixture",
        "api/test_gone.py": "ModuleNotFoundError: No module named 'gone'",
    }


def test_a_run_that_breaks_off_is_no_report(tmp_path: Path) -> None:
    (tmp_path / "api").mkdir()
    tests = "import os\ndef test_a(): pass\ndef test_b(): os._exit(0)\n"
    (tmp_path / "api/test_it.py").write_text(tests)
    assert recorded_by_pytest(tmp_path, "-n", "0") is None


UNITTESTS = """
import unittest
class It(unittest.TestCase):
    def test_good(self): pass
    def test_bad(self): self.assertEqual(1, 2, "they\\ndiffer")
    def test_raises(self): raise KeyError("x")
    def test_parts(self):
        for n in (1, 2):
            with self.subTest(n=n): self.assertEqual(n, 1)
    @unittest.skip("later")
    def test_skipped(self): pass
class Fixture(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise ValueError("no")
    def test_never(self): pass
"""


def test_unittest_says_why_tests_failed(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(UNITTESTS)
    (tmp_path / "test_gone.py").write_text("import gone\n")
    inside = tmp_path / "inside"
    inside.mkdir()
    recorder = INSIDE.joinpath("unittest_recorder.py").read_text()
    (inside / "sitecustomize.py").write_text(recorder)
    report = tmp_path / "it.jsonl"
    variables = {"PYTHONPATH": str(inside), unittest_recorder.VARIABLE: str(report)}
    _run_python(["-m", "unittest", "discover"], tmp_path, variables)
    found = read_records(RunnerKind.UNITTEST, report.read_bytes())
    assert found is not None
    assert found.results.passing == ("test_it.It.test_good",)
    assert found.results.skipping == ("test_it.It.test_skipped",)
    assert found.results.broken == ("setUpClass (test_it.Fixture)", "test_gone")
    assert found.unloaded == 1
    assert found.results.causes == {
        "test_it.It.test_bad": "AssertionError: 1 != 2 : they differ",
        "test_it.It.test_parts": "AssertionError: 2 != 1",
        "test_it.It.test_raises": "KeyError: 'x'",
        "setUpClass (test_it.Fixture)": "ValueError: no",
        "test_gone": "ModuleNotFoundError: No module named 'gone'",
    }


# The shape of real reports, but for what is not read.
SUREFIRE = b"""<testsuite><testcase name="adds" classname="a.CartTest">
<failure message="expected:&lt;3&gt;" type="java.lang.AssertionError">at</failure>
</testcase><testcase name="none()" classname="a.CartTest"><error type="a.CartError"/>
</testcase><testcase name="one" classname="a.CartTest"/></testsuite>"""
PHPUNIT = b"""<testsuites><testsuite><testcase name="testA" class="A\\B">
<failure type="PHPUnit\\Failed">A\\B::testA\nFailed asserting that 1 is 2.\n\na.php:6
</failure></testcase></testsuite></testsuites>"""
CTEST = b"""<testsuite><testcase name="adds" classname="adds" status="fail">
<failure message=""/><system-out>total is 1\n</system-out></testcase>
<testcase name="off" classname="off" status="disabled"/></testsuite>"""


def test_junit_is_read_as_each_runner_writes_it() -> None:
    java = read_junit(RunnerKind.MAVEN, SUREFIRE, SUREFIRE)
    assert java is not None
    assert java.results.failing == ("a.CartTest.adds", "a.CartTest.none")
    assert java.results.passing == ("a.CartTest.one",)
    assert java.results.causes == {
        "a.CartTest.adds": "java.lang.AssertionError: expected:<3>",
        "a.CartTest.none": "a.CartError:",
    }
    php = read_junit(RunnerKind.PHPUNIT, PHPUNIT)
    assert php is not None
    assert php.results.causes == {
        "A\\B::testA": "PHPUnit\\Failed: Failed asserting that 1 is 2."
    }
    ctest = read_junit(RunnerKind.CTEST, CTEST)
    assert ctest is not None
    assert ctest.results.causes == {"adds": "total is 1"}
    assert ctest.results.skipping == ("off",)


def test_jest_and_vitest_name_the_file_and_the_whole_title() -> None:
    test = {
        "fullName": "total adds",
        "status": "failed",
        "failureMessages": ["E: 1\n2"],
    }
    other = {"fullName": "total x", "status": "pending", "failureMessages": []}
    suites = [
        {
            "name": "/w/repo/a.test.js",
            "status": "failed",
            "assertionResults": [test, other],
        },
        {
            "name": "/w/repo/b.test.js",
            "status": "failed",
            "message": "  ● failed\n\n  Cannot find module './gone'\nError: no",
            "assertionResults": [],
        },
    ]
    data = json.dumps({"testResults": suites}).encode()
    found = read_jest(RunnerKind.JEST, data, "/w/repo")
    assert found is not None
    assert found.results.failing == ("a.test.js::total adds",)
    assert found.results.skipping == ("a.test.js::total x",)
    assert found.results.broken == ("b.test.js",)
    assert found.results.causes["a.test.js::total adds"] == "E: 1"
    assert read_jest(RunnerKind.JEST, b"[", "/w/repo") is None


def test_rspec_says_which_file_it_cannot_load() -> None:
    told = (
        "\nAn error occurred while loading ./spec/a_spec.rb.\n"
        "LoadError:\n  cannot load such file -- gone\n"
    )
    summary = {"errors_outside_of_examples_count": 1}
    report = {"examples": [], "messages": [told], "summary": summary}
    found = read_rspec(RunnerKind.RSPEC, json.dumps(report).encode(), "/w/repo")
    assert found is not None
    assert found.unloaded == 1
    assert found.results.causes == {
        "spec/a_spec.rb": "LoadError: cannot load such file -- gone"
    }
