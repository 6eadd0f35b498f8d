"""The one way to a service: each write passes a writer, which may carry it out."""

from collections.abc import Callable
from typing import Protocol, TypeVar

import structlog

from patchwright.core.errors import ServiceError
from patchwright.core.text.escape import split_marks
from patchwright.resolver.messages.planned_writes import PlannedWrite
from patchwright.workers.run.lease import LeaseGuard

T = TypeVar("T")

log = structlog.get_logger(__name__)


class ServiceWriter(Protocol):
    """Carries out the writes of a run, or keeps them.

    `planned` says in words what is written, None where there is nothing to say.
    """

    def write(
        self,
        planned: Callable[[], PlannedWrite | None],
        carry: Callable[[], T],
        instead: Callable[[], T],
    ) -> T:
        """Carry it out; `instead` returns what to go on with where that is not done."""
        ...

    def overwrite(self, planned: PlannedWrite, carry: Callable[[], None]) -> None:
        """Carry out what takes the place of something earlier."""
        ...

    def post(
        self,
        planned: PlannedWrite,
        carry: Callable[[], str],
        find: Callable[[str], str | None],
        delete: Callable[[str], None],
    ) -> str:
        """Add a post once and return its id.

        `find` returns the first post there with a mark, and `delete` takes one back.
        """
        ...

    def find(
        self, thread: str, mark: str, look: Callable[[str], str | None]
    ) -> str | None:
        """Return the id of a post of ours that contains `mark`."""
        ...


class LeasedWriter:
    """A `ServiceWriter` that writes only while its worker holds the lease."""

    def __init__(self, guard: LeaseGuard) -> None:
        self._guard = guard

    def write(
        self,
        planned: Callable[[], PlannedWrite | None],
        carry: Callable[[], T],
        instead: Callable[[], T],
    ) -> T:
        del planned, instead
        self._guard.require()
        return carry()

    def overwrite(self, planned: PlannedWrite, carry: Callable[[], None]) -> None:
        del planned
        with self._guard.writing():
            carry()

    def post(
        self,
        planned: PlannedWrite,
        carry: Callable[[], str],
        find: Callable[[str], str | None],
        delete: Callable[[str], None],
    ) -> str:
        """Post it once, whoever else posts the same: the first of the two stays."""
        self._guard.require()
        post_id = carry()
        name = split_marks(planned.text).name
        if not name or not self._guard.is_contested():
            return post_id
        try:
            first = find(name) or post_id
            if first != post_id:
                log.warning("second_post_deleted", thread=planned.thread)
                delete(post_id)
        except ServiceError as error:
            log.warning(
                "second_post_unknown", thread=planned.thread, reason=error.reason
            )
            return post_id
        return first

    def find(
        self, thread: str, mark: str, look: Callable[[str], str | None]
    ) -> str | None:
        del thread
        return look(mark)
