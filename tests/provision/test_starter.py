"""What is forked is a process as good as one that was started."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.adapters.cli.terminal import PATCHWRIGHT
from tests.provision.starter import Started, ready_starter

PATIENCE_S = 20
# It waits for a request that nobody types.
WAITS = ("resolve", "-", "--model", "m")


@contextmanager
def waiting(folder: Path) -> Iterator[Started]:
    """Run a command that reads what nobody writes."""
    reading, writing = os.pipe()
    with (
        os.fdopen(reading, "rb") as stdin,
        os.fdopen(writing, "wb"),
        (folder / "said").open("wb") as output,
    ):
        yield ready_starter().start(
            *WAITS, cwd=folder, env={}, stdin=stdin, stdout=output, stderr=output
        )


def test_it_says_what_the_program_says(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    environment = {"PATH": os.defpath, "COLUMNS": "70"}
    for arguments in (["--version"], ["resolv"], ["resolve", "-"]):
        forked = ready_starter().run(
            *arguments, cwd=tmp_path / "here", env=environment, timeout=PATIENCE_S
        )
        started = subprocess.run(
            [PATCHWRIGHT, *arguments],
            cwd=tmp_path / "here",
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert forked.returncode == started.returncode
        assert (forked.stdout, forked.stderr) == (started.stdout, started.stderr)


def test_it_has_the_streams_folder_and_variables_it_was_given(tmp_path: Path) -> None:
    (tmp_path / "asked").write_text("Fix the sum.")
    environment = {
        "PATH": os.defpath,
        "HOME": str(tmp_path),
        "LLM_API_KEY": "sk-test",
    }
    ended = ready_starter().run(
        *("resolve", "--file", "asked", "-C", "none", "--model", "openai/m"),
        cwd=tmp_path,
        env=environment,
        timeout=PATIENCE_S,
    )
    assert "error: -C: none is not a folder" in ended.stderr
    ended = ready_starter().run(
        "--version", cwd=tmp_path, env=environment, timeout=PATIENCE_S
    )
    assert ended.stdout == f"patchwright {version('patchwright')}\n"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_and_is_told(number: signal.Signals, tmp_path: Path) -> None:
    with waiting(tmp_path) as command:
        with pytest.raises(subprocess.TimeoutExpired):
            command.wait(0.2)
        assert command.poll() is None
        command.send_signal(number)
        assert command.wait(PATIENCE_S) == -number
    assert command.poll() == -number


def test_ctrl_c_ends_it_as_a_program_in_python(tmp_path: Path) -> None:
    with waiting(tmp_path) as command:
        with pytest.raises(subprocess.TimeoutExpired):
            command.wait(1)
        command.send_signal(signal.SIGINT)
        assert command.wait(PATIENCE_S) != 0


def test_several_run_at_once_and_each_has_its_end(tmp_path: Path) -> None:
    with waiting(tmp_path) as one, waiting(tmp_path) as other:
        assert one.pid != other.pid
        one.kill()
        assert one.wait(PATIENCE_S) == -signal.SIGKILL
        assert other.poll() is None
        other.kill()
        assert other.wait(PATIENCE_S) == -signal.SIGKILL
