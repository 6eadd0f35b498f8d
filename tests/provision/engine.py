"""See to it that a Docker engine answers on this machine."""

import os
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path

import docker
from docker.errors import DockerException

from tests.provision.errors import ProvisionError
from tests.provision.locking import machine_lock
from tests.provision.servers import log_tail
from tests.provision.waiting import wait_until

START_S = 60.0


def ensure_engine() -> None:
    """Start `dockerd` when no engine answers.

    An engine that was started stays: it belongs to the machine, as one that the init
    system started does, and other test workers may be using it.
    """
    with machine_lock("engine"):
        if not engine_answers():
            _start()


def engine_answers() -> bool:
    try:
        with closing(docker.from_env()) as client:
            return bool(client.ping())
    except DockerException:
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
    wait_until(lambda: _came_up(engine, log), "dockerd", START_S)


def _came_up(engine: subprocess.Popen[bytes], log: Path) -> bool:
    if engine.poll() is not None:
        raise ProvisionError(f"dockerd ended at once:\n{log_tail(log)}")
    return engine_answers()
