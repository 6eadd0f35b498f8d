"""A real bash completes our commands, and does not wait for them."""

import subprocess
import sys
from contextlib import closing
from functools import cache
from pathlib import Path

import pytest

from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade
from tests.adapters.cli.terminal import PATCHWRIGHT, ROOT, Shop
from tests.adapters.store.world import World

# What is behind the options is loaded by whoever runs the command alone.
HEAVY = {"litellm", "sqlalchemy", "fastapi", "celery", "github", "structlog", "docker"}
TRIAL = """
{script}
COMP_WORDS=({words}); COMP_CWORD=$(({count} - 1))
$(complete -p patchwright | sed 's/.*-F \\([^ ]*\\) .*/\\1/') patchwright
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@cache
def script() -> str:
    """Return what users have their bash read."""
    argv = [str(PATCHWRIGHT), "completion", "bash"]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def complete(shop: Shop, *words: str) -> list[str]:
    """Return what a press of Tab behind the last word offers."""
    quoted = " ".join(f"'{word}'" for word in ("patchwright", *words))
    trial = TRIAL.format(script=script(), words=quoted, count=len(words) + 1)
    environment = shop.environment(None)
    path = f"{PATCHWRIGHT.parent}:{environment['PATH']}"
    done = subprocess.run(
        ["bash", "-c", trial],
        env={**environment, "PATH": path},
        cwd=shop.folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["re"], ["resolve", "replay"]),
        (["ru"], ["runs"]),
        (
            ["runs", ""],
            [
                *("list", "show", "answer", "approve", "reject", "confirm", "pause"),
                *("resume", "budget", "stop", "retry", "export", "bundle"),
            ],
        ),
        (["runs", "list", "--out"], ["--outcome"]),
        (["resolve", "--deliver", "pa"], ["patch"]),
        (["serve", "--ro"], ["--role"]),
        (["serve", "--role", "s"], ["scheduler"]),
        (["db", "up"], ["upgrade"]),
        (["completion", ""], ["bash", "zsh", "fish"]),
        (["nothing", "of", "this"], []),
    ],
)
def test_words_are_completed(words: list[str], offered: list[str], shop: Shop) -> None:
    assert complete(shop, *words) == offered


def test_ids_of_runs_are_completed_from_the_database_and_the_logs(shop: Shop) -> None:
    assert complete(shop, "runs", "show", "") == []
    state = shop.folder / "state"
    (state / "runs").mkdir(parents=True)
    (state / "runs" / "zzz.jsonl").touch()
    with closing(Database(f"sqlite:///{state}/patchwright.db")) as database:
        upgrade(database)
        job_id = World(database).ask()
    assert complete(shop, "runs", "show", job_id[:4]) == [job_id]
    assert complete(shop, "runs", "stop", "zz") == ["zzz"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell_asks_the_command(shell: str, shop: Shop) -> None:
    ended = shop.call("completion", shell)
    assert ended.code == 0
    assert f"_PATCHWRIGHT_COMPLETE{'' if shell == 'fish' else '='}" in ended.out
    assert f"complete_{shell}" in ended.out


@pytest.mark.parametrize(
    "module",
    ["main", "commands", "resolve_command", "run_commands"],
)
def test_options_are_known_without_what_is_behind_them(module: str) -> None:
    name = f"patchwright.workers.cli.{module}"
    check = f"import sys, {name}; sys.exit(', '.join(sys.modules.keys() & {HEAVY}))"
    done = subprocess.run(
        [sys.executable, "-c", check],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr.strip() == ""


def test_a_completion_reads_settings_and_nothing_more(tmp_path: Path) -> None:
    check = (
        "import sys; from pathlib import Path\n"
        "from patchwright.workers.runs.known_ids import find_ids\n"
        f"find_ids('sqlite:///{tmp_path}/none.db', Path('{tmp_path}'), '')\n"
        f"sys.exit(', '.join(sys.modules.keys() & {HEAVY}))"
    )
    argv = [sys.executable, "-c", check]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""
