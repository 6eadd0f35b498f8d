"""A process on duty: it tells the others that it lives, and whoever asks how it is."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from importlib.metadata import version
from typing import Final

import structlog
from sqlalchemy.exc import SQLAlchemyError

from patchwright.core.settings.telemetry import TelemetrySettings
from patchwright.core.types.ids import RandomIds
from patchwright.workers.db.database import Database
from patchwright.workers.ops.health import run_health_checks, failing_parts
from patchwright.workers.ops.port import health_port
from patchwright.workers.ops.presence import ProcessStatus, remove_process, record_heartbeat
from patchwright.workers.ops.reporter import Reporter

LONGEST_EVERY_S: Final = 10.0
# Who does not show itself so many times is taken for dead.
MISSED_BEATS: Final = 3
# A database that is away must not hold up the end of the process.
_LEAVE_S: Final = 2.0

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class HeartbeatConfig:
    """What a process on duty is given; it shows itself every `every_s` seconds."""

    reporter: Reporter
    database: Database
    telemetry: TelemetrySettings
    every_s: float


@contextmanager
def report_alive(post: HeartbeatConfig) -> Iterator[None]:
    """Be on duty until the context is left; the others know at once of the end."""
    telling = _HeartbeatLoop(post)
    thread = threading.Thread(target=telling.run, name="presence", daemon=True)
    with _health_port(post):
        thread.start()
        try:
            yield
        finally:
            telling.stop.set()
            thread.join(_LEAVE_S)


@contextmanager
def _health_port(post: HeartbeatConfig) -> Iterator[None]:
    host, port = post.telemetry.host, post.telemetry.port
    with nullcontext() if port is None else health_port(post.reporter, host, port):
        yield


class _HeartbeatLoop:
    """Says in the database that this process lives, and what of it does not work."""

    def __init__(self, post: HeartbeatConfig) -> None:
        self._post = post
        self._id = RandomIds().new()
        self._started_at = post.reporter.clock.now()
        self._is_heard = True
        self._red: tuple[str, ...] = ()
        self._logged: tuple[str, ...] = ()
        self.stop = threading.Event()

    def run(self) -> None:
        while not self.stop.is_set():
            self._tell()
            self.stop.wait(self._post.every_s)
        self._leave()

    def _tell(self) -> None:
        reporter = self._post.reporter
        parts = run_health_checks(reporter.health.ready, reporter.clock.now())
        self._log_changes(failing_parts(parts))
        try:
            record_heartbeat(self._post.database, self._presence())
        except SQLAlchemyError as error:
            if self._is_heard:
                log.warning("presence_not_shown", error=type(error).__name__)
            self._is_heard = False
        else:
            self._is_heard = True

    def _log_changes(self, red: tuple[str, ...]) -> None:
        """Log what was seen twice: at the start, not everything has begun yet."""
        if red == self._red and red != self._logged:
            self._logged = red
            if red:
                log.warning("not_ready", red=" ".join(red))
            else:
                log.info("ready_again")
        self._red = red

    def _presence(self) -> ProcessStatus:
        now = self._post.reporter.clock.now()
        return ProcessStatus(
            id=self._id,
            role=self._post.reporter.role,
            name=process_name(),
            version=version("patchwright"),
            started_at=self._started_at,
            seen_at=now,
            until=now + timedelta(seconds=MISSED_BEATS * self._post.every_s),
            red=self._red,
        )

    def _leave(self) -> None:
        if not self._is_heard:
            return
        try:
            remove_process(self._post.database, self._presence())
        except SQLAlchemyError as error:
            log.warning("presence_not_ended", error=type(error).__name__)


def process_name() -> str:
    """Return the name of this process in leases and in its presence."""
    return f"{socket.gethostname()}:{os.getpid()}"
