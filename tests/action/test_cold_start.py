"""The first use on a machine installs what the lock file says, and nothing else."""

import re
import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.action.machine import make_machine
from tests.action.scene import playing
from tests.architecture.tree import ROOT
from tests.fakes.llm.turns import call

pytestmark = [pytest.mark.real, pytest.mark.timeout(600)]

PINNED = re.compile(r"^([a-z0-9._-]+)==([^ \\;]+)", re.MULTILINE)


def test_s79_the_first_use_installs_the_locked_versions_alone(tmp_path: Path) -> None:
    with playing(tmp_path, [call("finish", summary="x", answer="y")]) as scene:
        scene.ask("@patchwright why?")
        machine = make_machine(tmp_path / "cold")
        run = scene.use(scene.make_job(*scene.happened(), machine=machine))
        run.said(outcome="answered")
        [venv] = machine.temp.glob("patchwright-venv-*")
        assert _installed(venv) - {("patchwright", version("patchwright"))} <= _locked()


def _installed(venv: Path) -> set[tuple[str, str]]:
    argv = [str(venv / "bin" / "python"), "-I", "-m", "pip", "list", "--format=freeze"]
    listed = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    found = {(_plain(n), v) for n, v in re.findall(r"(?m)^(\S+)==(\S+)$", listed)}
    # What every virtual environment begins with.
    return {one for one in found if one[0] not in {"pip", "setuptools"}}


def _locked() -> set[tuple[str, str]]:
    text = (ROOT / "requirements.lock").read_text()
    return {(_plain(name), pinned) for name, pinned in PINNED.findall(text)}


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
