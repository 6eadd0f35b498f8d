"""See to it that a Docker engine answers on this machine."""

import os
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path

from docker.errors import DockerException

from patchwright.core.errors import SandboxError
from patchwright.sandbox.docker.engine import connect
from tests.provision.errors import ProvisionError
from tests.provision.locking import machine_lock
from tests.provision.servers import log_tail
from tests.provision.waiting import wait_until

START_S = 60.0
PROBE_S = 5.0


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
        with closing(connect(PROBE_S)) as client:
            return bool(client.ping())
    except (SandboxError, DockerException):
        return False


def _start() -> None:
    if os.geteuid() != 0:
        raise ProvisionError("no Docker engine answers, and only root can start one")
    log = Path(tempfile.gettempdir(), "patchwright-tests-dockerd.log")
    with log.open("wb") as output:
        # As nobody's child: it outlives this process, which has not to wait for it.
        subprocess.run(
            ["setsid", "--fork", "dockerd"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            check=True,
        )
    try:
        wait_until(engine_answers, "dockerd", START_S)
    except ProvisionError as error:
        raise ProvisionError(f"{error}:\n{log_tail(log)}") from error
