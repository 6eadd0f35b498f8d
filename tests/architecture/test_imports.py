"""Starting a program of ours loads no more than it needs."""

import subprocess
import sys

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


def test_the_service_does_not_load_slack_and_jira_before_they_are_configured() -> None:
    libraries = ["slack_sdk", "jira"]
    _loads_none_of(libraries, ["patchwright.workers.cli.serve_handler"])


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
