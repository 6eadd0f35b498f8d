"""Starting a program of ours loads no more than it needs."""

import os
import subprocess
import sys
from pathlib import Path

from tests.architecture.tree import ROOT, modules

# These run a migration when they are imported, which only Alembic may do.
MIGRATIONS = "patchwright/workers/db/migrations/"


def test_no_module_loads_litellm_on_import() -> None:
    names = [
        _dotted(module.name)
        for module in modules("patchwright/")
        if not module.name.startswith(MIGRATIONS)
    ]
    _loads_none_of(["litellm"], names)


NO_KEY = """
import os, sys
os.environ.update(LLM_MODEL="anthropic/claude-sonnet-4-5")
sys.argv = ["patchwright", "resolve", "--task", "Fix the sum in cart.py."]
from patchwright.workers.cli.main import make_app
from patchwright.core.types.errors import SettingsError
try:
    make_app()(prog_name="patchwright", standalone_mode=False)
except SettingsError as error:
    sys.exit(f"{error} {'litellm' in sys.modules}")
"""


def test_a_missing_key_is_found_without_litellm(tmp_path: Path) -> None:
    environ = {"PATH": os.defpath, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        [sys.executable, "-c", NO_KEY],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    said = "No API key for anthropic. Set ANTHROPIC_API_KEY or LLM_API_KEY."
    assert ended.stderr == f"{said} False\n"


def test_the_service_does_not_load_slack_and_jira_before_they_are_configured() -> None:
    libraries = ["slack_sdk", "jira"]
    _loads_none_of(libraries, ["patchwright.workers.cli.serve_handler"])


def test_doctor_does_not_load_the_web_framework() -> None:
    checks = [_dotted(module.name) for module in modules("patchwright/workers/doctor/")]
    names = ["patchwright.workers.cli.doctor_handler", *checks]
    _loads_none_of(["fastapi", "starlette", "uvicorn"], names)


def _loads_none_of(libraries: list[str], names: list[str]) -> None:
    imports = "\n".join(f"import {name}" for name in names)
    # As in `tests/conftest.py`: an installation does not have it.
    start = "import sys\nsys.modules['rfc3987_syntax'] = None"
    loads = f"bool(sys.modules.keys() & {libraries})"
    check = f"{start}\n{imports}\nsys.exit({loads})"
    argv = [sys.executable, "-W", "error::ResourceWarning", "-c", check]
    ended = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == ""


def _dotted(name: str) -> str:
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
