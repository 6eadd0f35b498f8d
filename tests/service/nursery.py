"""Workers that are there at once: forked from a process that has imported everything.

`python -m tests.service.nursery` reads a line `JOB AHEAD` for each worker that it is to
fork, whose clock is `AHEAD` seconds ahead. It answers with the child's process id, and
at its end with the exit status.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from patchwright.core.settings.environment import process_environment
from patchwright.core.settings.model import Settings, secret_values
from patchwright.core.system.logs import set_up_logging
from patchwright.core.text.redaction import Redactor
from patchwright.core.types.base import JobId
from patchwright.integrations.settings import load_settings
from patchwright.workers.compose import make_worker, open_service_parts
from tests.flow.clock import MovableClock
from tests.provision.starter import import_everything


@dataclass(frozen=True)
class Nursery:
    """Forks workers; whoever asks for one ends it or waits for its end."""

    process: "subprocess.Popen[bytes]"

    def fork(self, job_id: JobId, ahead_s: float) -> "Worker":
        """Start a worker on a job; return when it runs."""
        stdin, stdout = self._pipes()
        stdin.write(f"{job_id} {ahead_s}\n".encode())
        stdin.flush()
        return Worker(int(stdout.readline()), self)

    def next_ended(self) -> int:
        """Wait for a worker's end and return its exit status."""
        _, stdout = self._pipes()
        return int(stdout.readline())

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        return self.process.stdin, self.process.stdout


@dataclass(frozen=True)
class Worker:
    pid: int
    nursery: Nursery

    def kill(self) -> None:
        os.kill(self.pid, 9)
        self.nursery.next_ended()

    def finish(self) -> None:
        assert self.nursery.next_ended() == 0


@contextmanager
def nursery(environment: Mapping[str, str], log: Path) -> Iterator[Nursery]:
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**process_environment(), **environment},
            cwd=log.parent,
        ) as process,
    ):
        yield Nursery(process)
        assert process.stdin is not None
        process.stdin.close()
        process.wait()


def _main() -> None:
    import_everything()
    settings = load_settings(process_environment(), flags={}, cwd=Path.cwd())
    for line in sys.stdin:
        job_id, ahead_s = line.split()
        pid = os.fork()
        if pid == 0:
            _work(settings, JobId(job_id), float(ahead_s))
        _say(pid)
        _, status = os.waitpid(pid, 0)
        _say(status)


def _say(number: int) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


def _work(settings: Settings, job_id: JobId, ahead_s: float) -> None:
    """Run the job as a worker process does, and end without cleaning up more."""
    redactor = Redactor(secret_values(settings))
    set_up_logging(redactor.redact_json, as_json=True)
    clock = MovableClock()
    clock.advance(ahead_s)
    with open_service_parts(settings, redactor, lambda _job: None, clock) as opened:
        make_worker(replace(opened, clock=clock)).run(job_id)
    os._exit(0)


if __name__ == "__main__":
    _main()
