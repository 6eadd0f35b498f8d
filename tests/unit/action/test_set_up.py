"""The set-up says what is missing, in words that the last step can tell."""

import shutil
import subprocess
from pathlib import Path

from tests.architecture.tree import ROOT

TOOLS = ("sh", "dirname", "mktemp", "mkdir")


def test_without_a_python_that_fits_it_says_what_to_add(tmp_path: Path) -> None:
    tools, output = tmp_path / "bin", tmp_path / "output"
    tools.mkdir()
    for name in TOOLS:
        (tools / name).symlink_to(shutil.which(name) or name)
    done = subprocess.run(
        [ROOT / "scripts" / "action-set-up"],
        env={
            "PATH": str(tools),
            "RUNNER_TEMP": str(tmp_path),
            "RUNNER_TOOL_CACHE": str(tmp_path / "none"),
            "GITHUB_OUTPUT": str(output),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    told = dict(line.split("=", 1) for line in output.read_text("utf-8").splitlines())
    assert told["error-code"] == "no-python"
    assert "actions/setup-python" in told["error-text"]
    assert (Path(told["folder"]) / "artifacts").is_dir()
    assert "python" not in told
