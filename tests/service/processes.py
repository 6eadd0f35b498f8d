"""`patchwright serve` as a process: started, watched, ended or killed."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import IO, Any

from patchwright.core.system.clock import SystemClock
from tests.provision.errors import ProvisionError
from tests.provision.servers import log_tail
from tests.provision.starter import Started, ready_starter
from tests.provision.waiting import wait_until
from tests.service import proc

PROGRAM = str(Path(sys.executable).with_name("patchwright"))
# Bounds for what takes a few seconds on a machine with nothing else to do.
START_S = 60.0
STOP_S = 20.0
HTTP_OK = 200


@dataclass(frozen=True)
class ServiceProcess:
    """One process of the service, with everything that it writes in one file."""

    process: "subprocess.Popen[bytes] | Started"
    log: Path

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def url(self) -> str:
        """Where a process with a web side has told that it listens."""
        [line] = [one for one in self.lines() if one["message"] == "listening"]
        return f"http://{line['host']}:{line['port']}"

    def lines(self) -> list[dict[str, Any]]:
        """Return the log, every whole line of which must be a JSON object."""
        whole = self.log.read_text().rpartition("\n")[0]
        return [json.loads(line) for line in whole.splitlines()]

    def has_said(self, message: str) -> bool:
        self.must_run()
        return any(line["message"] == message for line in self.lines())

    def wait_until_ready(self) -> float:
        """Wait until deliveries can be sent; return the seconds that took."""
        clock = SystemClock()
        began_at = clock.monotonic()
        wait_until(lambda: self.has_said("listening"), "a port", START_S)
        wait_until(self._is_ready, "the web side", START_S)
        return clock.monotonic() - began_at

    def must_run(self) -> None:
        if self.process.poll() is not None:
            raise ProvisionError(f"the service ended:\n{log_tail(self.log)}")

    def stop(self) -> float:
        """Tell it to end, and wait for that; return the seconds that took."""
        clock = SystemClock()
        told_at = clock.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            exit_code = self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            raise ProvisionError(f"it goes on:\n{log_tail(self.log)}") from None
        assert exit_code == 0, log_tail(self.log)
        return clock.monotonic() - told_at

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def descendants(self) -> list[proc.Seen]:
        return proc.descendants(self.pid)

    def _is_ready(self) -> bool:
        self.must_run()
        connection = HTTPConnection(self.url.removeprefix("http://"), timeout=10)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == HTTP_OK
        except OSError:
            return False
        finally:
            connection.close()


@contextmanager
def serving(
    role: str, environment: Mapping[str, str], log: Path, *, is_cold: bool = False
) -> Iterator[ServiceProcess]:
    """Start a process of the service; it does not outlive the block, or this one.

    One that starts cold has imported nothing yet, as the program that users start.
    """
    start = _start_program if is_cold else _fork
    with log.open("ab") as output:
        process = start(("serve", "--role", role), environment, log.parent, output)
    try:
        yield ServiceProcess(process, log)
    finally:
        process.kill()
        process.wait()


def _start_program(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
    output: IO[bytes],
) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        ["setpriv", "--pdeathsig=KILL", PROGRAM, *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=output,
        start_new_session=True,
    )


def _fork(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
    output: IO[bytes],
) -> Started:
    with Path(os.devnull).open("r+b") as nothing:
        return ready_starter().start(
            *arguments,
            cwd=folder,
            env=environment,
            stdin=nothing,
            stdout=nothing,
            stderr=output,
        )
