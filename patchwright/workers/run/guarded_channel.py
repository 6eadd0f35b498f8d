"""Channels in which a worker speaks only while it holds its lease."""

from dataclasses import dataclass
from typing import Generic, TypeVar

import structlog

from patchwright.core.channel import Tracker, Offers, ServiceChannel
from patchwright.core.errors import ServiceError
from patchwright.core.text.marks import split_marks
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import TalkThread, Thread, ThreadRef
from patchwright.core.types.triggers import Trigger
from patchwright.workers.run.lease_guard import LeaseGuard

R = TypeVar("R", bound=ThreadRef)

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class GuardedChannel(Generic[R]):
    """A `ServiceChannel`."""

    real: ServiceChannel[R]
    guard: LeaseGuard

    def acknowledge(self, trigger: Trigger) -> None:
        self.guard.require()
        self.real.acknowledge(trigger)

    def decline(self, trigger: Trigger) -> None:
        self.guard.require()
        self.real.decline(trigger)

    def fetch_thread(self, ref: R) -> Thread:
        return self.real.fetch_thread(ref)

    def fetch_opening(self, ref: R) -> Thread:
        return self.real.fetch_opening(ref)

    def find_post(self, ref: R, mark: str) -> str | None:
        return self.real.find_post(ref, mark)

    def post(self, ref: R, text: str, offers: Offers = ()) -> str:
        """Post it once, whoever else posts the same: the first of the two stays."""
        self.guard.require()
        post_id = self.real.post(ref, text, offers)
        name = split_marks(text).name
        if not name or not self.guard.is_contested():
            return post_id
        try:
            first = self.real.find_post(ref, name) or post_id
            if first != post_id:
                log.warning("second_post_deleted", thread=str(ref))
                self.real.delete(ref, post_id)
        except ServiceError as error:
            log.warning("second_post_unknown", thread=str(ref), reason=error.reason)
            return post_id
        return first

    def edit(self, ref: R, post_id: str, text: str, offers: Offers = ()) -> None:
        with self.guard.writing():
            self.real.edit(ref, post_id, text, offers)

    def delete(self, ref: R, post_id: str) -> None:
        self.guard.require()
        self.real.delete(ref, post_id)

    def tell_privately(
        self, ref: R, actor: Actor, text: str, offers: Offers = ()
    ) -> None:
        self.guard.require()
        self.real.tell_privately(ref, actor, text, offers)

    def swap_labels(
        self, ref: R, add: tuple[str, ...], remove: tuple[str, ...]
    ) -> None:
        with self.guard.writing():
            self.real.swap_labels(ref, add, remove)

    def fetch_attachment(
        self, ref: R, url: str, max_bytes: int, post_id: str = ""
    ) -> bytes:
        return self.real.fetch_attachment(ref, url, max_bytes, post_id)


@dataclass(frozen=True)
class GuardedTracker(GuardedChannel[TalkThread]):
    """A `Board`."""

    real: Tracker

    def open_thread(self, trigger: Trigger, text: str) -> TalkThread:
        self.guard.require()
        return self.real.open_thread(trigger, text)

    def name_people(self, trigger: Trigger) -> Trigger:
        return self.real.name_people(trigger)

    def attach_link(self, ref: TalkThread, url: str, title: str, key: str) -> None:
        self.guard.require()
        self.real.attach_link(ref, url, title, key)

    def move(self, ref: TalkThread, status: str) -> None:
        self.guard.require()
        self.real.move(ref, status)
