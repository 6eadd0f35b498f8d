"""Run the test that the model never sees against a package's files."""

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.real.recipes import Recipe


def run_hidden_test(recipe: Recipe, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run it with nothing importable but `folder` and the standard library."""
    with tempfile.TemporaryDirectory() as elsewhere:
        program = Path(elsewhere, "hidden_test.py")
        program.write_text(recipe.hidden_test)
        argv = ["env", f"PYTHONPATH={folder}", sys.executable, "-S", str(program)]
        return subprocess.run(
            argv, cwd=elsewhere, capture_output=True, text=True, check=False
        )
