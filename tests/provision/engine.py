"""See to it that a Docker engine answers on this machine."""

import os
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from docker.errors import DockerException

from patchwright.core.types.errors import SandboxError
from patchwright.sandbox.docker.engine import connect
from tests.provision import environment
from tests.provision.errors import ProvisionError
from tests.provision.locking import machine_lock
from tests.provision.servers import log_tail
from tests.provision.waiting import wait_until

START_S = 60.0
PROBE_S = 5.0
_STARTED: list[subprocess.Popen[bytes]] = []


def ensure_engine() -> None:
    """Start `dockerd` when no engine answers.

    An engine that was started stays: it belongs to the machine, as one that the init
    system started does, and other test workers may be using it.
    """
    with machine_lock("engine"):
        start_once(engine_answers, _start, _notes_of_this_run())


def start_once(
    answers: Callable[[], bool], start: Callable[[], None], notes: Path
) -> None:
    """Start what does not answer; where that has failed before, say so at once.

    All processes of one test run share the notes: hundreds of tests would else wait a
    minute each for what the first has seen fail.
    """
    if answers():
        return
    if notes.exists():
        raise ProvisionError(notes.read_text())
    try:
        start()
    except ProvisionError as error:
        notes.write_text(f"{error}\n(as an earlier test of this run has found)")
        raise


def _notes_of_this_run() -> Path:
    name = f"patchwright-tests-engine-{environment.run_name()}.failed"
    return Path(tempfile.gettempdir(), name)


def engine_answers() -> bool:
    try:
        with closing(connect(PROBE_S)) as client:
            return bool(client.ping())
    except (SandboxError, DockerException):
        return False


def _start() -> None:
    if os.geteuid() != 0:
        raise ProvisionError("no Docker engine answers, and only root can start one")
    log = Path(tempfile.gettempdir(), "patchwright-tests-dockerd.log")
    with log.open("wb") as output:
        engine = subprocess.Popen(
            ["dockerd"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    # It outlives this process, which has not to wait for it.
    _STARTED.append(engine)
    try:
        wait_until(lambda: _answers_or_raises(engine), "dockerd", START_S)
    except ProvisionError as error:
        raise ProvisionError(f"{error}:\n{log_tail(log)}") from error


def _answers_or_raises(engine: subprocess.Popen[bytes]) -> bool:
    if engine.poll() is not None:
        raise ProvisionError(f"dockerd ended at once, with {engine.returncode}")
    return engine_answers()
