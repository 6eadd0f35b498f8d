"""Sandboxes without an engine: what ends them, and what they leave."""

import signal
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from patchwright.core.runtime import RuntimeFactory, SandboxSpec
from patchwright.core.types.errors import RuntimeLostError
from patchwright.sandbox.local.folders import create_folder
from patchwright.sandbox.local.runtimes import BubblewrapRuntimes, UnconfinedRuntimes
from tests.adapters.sandbox.box import Box
from tests.provision.waiting import wait_until


@pytest.fixture(params=[BubblewrapRuntimes, UnconfinedRuntimes])
def local(request: pytest.FixtureRequest) -> RuntimeFactory:
    runtimes: RuntimeFactory = request.param()
    return runtimes


def folders_of(run_id: str) -> list[Path]:
    marks = Path(tempfile.gettempdir()).glob("patchwright-sandbox-*/run")
    return [mark.parent for mark in marks if mark.read_text() == run_id]


def sleeper(spec: SandboxSpec) -> str:
    """Return a command that only this test runs."""
    return f"sleep 77.{int(spec.run_id[:8], 16)}"


def is_running(words: str) -> bool:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if words.encode() in path.read_bytes().replace(b"\0", b" "):
                return True
        except OSError:
            continue
    return False


def test_s48_a_killed_worker_takes_its_sandbox_along(
    local: RuntimeFactory, spec: SandboxSpec
) -> None:
    program = f"""
from patchwright.core.events.types import RunCommand
from patchwright.core.runtime import SandboxSpec
from {type(local).__module__} import {type(local).__name__} as Runtimes
runtime = Runtimes().start(SandboxSpec.model_validate_json({spec.model_dump_json()!r}))
runtime.run(RunCommand(command="setsid {sleeper(spec)}", timeout_s=0.1), "1")
print("started", flush=True)
input()
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as worker:
        assert worker.stdout is not None
        while worker.stdout.readline() != b"started\n":
            assert worker.poll() is None
        assert is_running(sleeper(spec))
        worker.send_signal(signal.SIGKILL)
    wait_until(lambda: not is_running(sleeper(spec)), "the sandbox to end", 10)
    assert len(folders_of(spec.run_id)) == 1
    local.remove(spec.run_id)
    assert folders_of(spec.run_id) == []


def test_what_a_living_worker_holds_is_left_alone(
    local: RuntimeFactory, spec: SandboxSpec
) -> None:
    runtime = local.start(spec)
    assert local.remove(spec.run_id) == 0
    local.reap()
    assert Box(runtime).sh("echo alive").output == "alive\n"
    runtime.close()
    runtime.close()
    assert folders_of(spec.run_id) == []


def test_closing_ends_everything_and_removes_folders_that_forbid_it(
    local: RuntimeFactory, spec: SandboxSpec
) -> None:
    runtime = local.start(spec)
    box = Box(runtime)
    box.sh("mkdir -p locked/in && touch locked/in/file && chmod 000 locked")
    box.sh(f"setsid {sleeper(spec)} & {sleeper(spec)} &")
    runtime.close()
    assert folders_of(spec.run_id) == []
    assert not is_running(sleeper(spec))


DIG = """
import os
for _ in range(300):
    os.mkdir("n" * 250)
    os.chdir("n" * 250)
"""


@pytest.mark.parametrize("start", ["$HOME", "/tmp", "/workspace/repo"])
def test_m1_closing_removes_folders_deeper_than_a_path_can_say(
    spec: SandboxSpec, start: str
) -> None:
    runtime = BubblewrapRuntimes().start(spec)
    assert Box(runtime).sh(f"cd {start} && python3 -", stdin=DIG).exit_code == 0
    runtime.close()
    assert folders_of(spec.run_id) == []


def test_m1_the_reaper_passes_over_what_it_cannot_remove_and_comes_again(
    spec: SandboxSpec,
) -> None:
    program = f"""
from patchwright.sandbox.local.folders import create_folder
print(*(create_folder({spec.run_id!r}, None).path for _ in range(3)), sep="\\n")
"""
    made = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    stuck, *others = sorted(map(Path, made.stdout.split()))
    # Nothing in a sandbox can do that; a fault of the disk would look like it.
    (stuck / "workspace").rmdir()
    (stuck / "workspace").touch()
    BubblewrapRuntimes().reap()
    assert folders_of(spec.run_id) == [stuck]
    assert not any(other.exists() for other in others)
    (stuck / "workspace").unlink()
    assert BubblewrapRuntimes().remove(spec.run_id) == 1
    assert not stuck.exists()


def test_a_sandbox_that_starts_is_not_taken_for_an_abandoned_one(
    spec: SandboxSpec,
) -> None:
    is_over = threading.Event()

    def reap() -> None:
        while not is_over.is_set():
            BubblewrapRuntimes().reap()

    with ThreadPoolExecutor(1) as pool:
        reaping = pool.submit(reap)
        try:
            made = [create_folder(spec.run_id, None) for _ in range(300)]
        finally:
            is_over.set()
        reaping.result()
    assert len(folders_of(spec.run_id)) == len(made)
    assert all(folder.remove() for folder in made)


def test_a_folder_is_removed_but_not_what_its_links_point_to(
    local: RuntimeFactory, spec: SandboxSpec, tmp_path: Path
) -> None:
    (tmp_path / "kept").mkdir(mode=0o500)
    runtime = local.start(spec)
    Box(runtime).sh(f"ln -s {tmp_path}/kept link")
    runtime.close()
    assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o500


def test_a_sandbox_outlives_the_thread_that_started_it(
    local: RuntimeFactory, spec: SandboxSpec
) -> None:
    with ThreadPoolExecutor(1) as pool:
        runtime = pool.submit(local.start, spec).result()
    assert Box(runtime).sh("echo alive").output == "alive\n"
    runtime.close()


def test_a_sandbox_ends_itself_at_the_end_of_its_life(
    local: RuntimeFactory, spec: SandboxSpec
) -> None:
    runtime = local.start(spec.replace(lifetime_s=0.5))
    with pytest.raises(RuntimeLostError):
        Box(runtime).sh("sleep 20")
    runtime.close()


def test_no_variable_of_the_service_reaches_a_command(
    local: RuntimeFactory, spec: SandboxSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "not-for-the-sandbox")
    runtime = local.start(spec)
    environment = Box(runtime).sh("cat /proc/*/environ | tr '\\0' '\\n'; env").output
    runtime.close()
    assert "HOME=" in environment
    if local.kind == "bubblewrap":
        assert "not-for-the-sandbox" not in environment
    assert "GITHUB_TOKEN" not in environment.rpartition("\nPWD=")[2]
