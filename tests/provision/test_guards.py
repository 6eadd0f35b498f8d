"""A run that skips something fails, in one process and in several."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT

PLUGIN = """
import pytest
from tests.provision.guards import NothingSkipped

def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(NothingSkipped())
"""
SKIPPING_TEST = "import pytest\ndef test_late(): pytest.skip('no engine')\n"
SKIPPING_MODULE = "import pytest\npytest.skip('no engine', allow_module_level=True)\n"
PASSING_TEST = "def test_now(): pass\n"


@pytest.mark.parametrize(
    ("skipping", "workers"), [(SKIPPING_TEST, "2"), (SKIPPING_MODULE, "0")]
)
def test_a_skip_fails_the_run(skipping: str, workers: str, tmp_path: Path) -> None:
    (tmp_path / "test_skipping.py").write_text(skipping)
    ended = _run(tmp_path, workers)
    assert ended.returncode == pytest.ExitCode.TESTS_FAILED
    assert "SKIPPED, which is a failure here: test_skipping.py" in ended.stdout


def test_a_run_without_skips_passes(tmp_path: Path) -> None:
    ended = _run(tmp_path, "0")
    assert ended.returncode == pytest.ExitCode.OK
    assert "SKIPPED" not in ended.stdout


def _run(folder: Path, workers: str) -> subprocess.CompletedProcess[str]:
    (folder / "conftest.py").write_text(PLUGIN)
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_passing.py").write_text(PASSING_TEST)
    argv = ["env", f"PYTHONPATH={ROOT}", sys.executable, "-m", "pytest"]
    argv += ["-n", workers, "-p", "no:cacheprovider"]
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
