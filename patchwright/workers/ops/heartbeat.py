"""Which processes of the service are alive, and when a loop has last moved."""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, select

from patchwright.core.clock import Clock
from patchwright.core.types.base import Value
from patchwright.workers.db.database import Database, insert_or_replace
from patchwright.workers.db.tables import processes

# How long the row of a process is kept that ended without removing it.
_KEPT_FOR: Final = timedelta(hours=1)
WORKING_ROLES: Final = frozenset({"all", "worker"})


class ProcessStatus(Value):
    """A process, alive until `until`. `name` is its host and process id.

    `red` names the parts of it that do not work; where it is empty, all of them do.
    """

    id: str
    role: str
    name: str
    version: str
    started_at: datetime
    seen_at: datetime
    until: datetime
    red: tuple[str, ...] = ()

    @property
    def works(self) -> bool:
        """Tell whether it is one that runs jobs, and can."""
        return self.role in WORKING_ROLES and not self.red


def live_processes(database: Database) -> tuple[ProcessStatus, ...]:
    """Return the processes that are alive, by role and name."""
    query = select(processes).order_by(processes.c.role, processes.c.name)
    with database.reading() as connection:
        living = query.where(processes.c.until > database.now(connection))
        rows = connection.execute(living).mappings().all()
    return tuple(
        ProcessStatus.model_validate({**row, "red": tuple(row["red"].split())})
        for row in rows
    )


def record_heartbeat(database: Database, status: ProcessStatus) -> None:
    """Let the others know of a process, in place of what was known of it.

    It is seen now and alive for as long as it says, by the clock of the database.
    """
    life = status.until - status.seen_at
    with database.writing() as connection:
        now = database.now(connection)
        seen = {"seen_at": now, "until": now + life, "red": " ".join(status.red)}
        insert_or_replace(connection, processes, status.model_dump() | seen)


def remove_process(database: Database, status: ProcessStatus) -> None:
    """Take the process out that ends now, and those that ended long ago."""
    with database.writing() as connection:
        is_over = processes.c.until < database.now(connection) - _KEPT_FOR
        connection.execute(
            delete(processes).where((processes.c.id == status.id) | is_over)
        )


class LoopActivity:
    """Felt by those who watch a loop; touched from any thread whenever it moves.

    `began_at` is when it was first waited for, `moved_at` None until it has moved.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.began_at = clock.now()
        self.moved_at: datetime | None = None

    def touch(self) -> None:
        # One reference is replaced by another: no lock is needed for that.
        self.moved_at = self._clock.now()
