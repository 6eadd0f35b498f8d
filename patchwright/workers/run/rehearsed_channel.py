"""Channels that are read as ever, and tell what they would write."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from patchwright.core.channel import Tracker, Offers, ServiceChannel
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, TalkThread, Thread, ThreadRef
from patchwright.core.types.triggers import Trigger
from patchwright.workers.run.rehearsal import DryRun

R = TypeVar("R", bound=ThreadRef)


def describe_thread(ref: ThreadRef) -> str:
    if isinstance(ref, ForgeThread):
        return f"{ref.repo.full_name}{ref.name}"
    return f"{ref.name} of {ref.service}"


@dataclass(frozen=True)
class DryRunChannel(Generic[R]):
    """A `ServiceChannel`."""

    real: ServiceChannel[R]
    rehearsal: DryRun

    def acknowledge(self, trigger: Trigger) -> None:
        place = describe_thread(trigger.thread)
        self.rehearsal.record(f"React to the request in {place}: it was seen")

    def decline(self, trigger: Trigger) -> None:
        place = describe_thread(trigger.thread)
        self.rehearsal.record(f"React to the request in {place}: it is not followed")

    def fetch_thread(self, ref: R) -> Thread:
        return self.real.fetch_thread(ref)

    def fetch_opening(self, ref: R) -> Thread:
        return self.real.fetch_opening(ref)

    def find_post(self, ref: R, mark: str) -> str | None:
        return self.rehearsal.find(str(ref), mark) or self.real.find_post(ref, mark)

    def post(self, ref: R, text: str, offers: Offers = ()) -> str:
        words = f"Comment on {describe_thread(ref)}{_offered(offers)}"
        return self.rehearsal.post(str(ref), words, text)

    def edit(self, ref: R, post_id: str, text: str, offers: Offers = ()) -> None:
        words = f"Change the comment on {describe_thread(ref)}{_offered(offers)}"
        self.rehearsal.edit(str(ref), post_id, words, text)

    def delete(self, ref: R, post_id: str) -> None:
        self.rehearsal.record(f"Delete our comment {post_id} on {describe_thread(ref)}")

    def tell_privately(
        self, ref: R, actor: Actor, text: str, offers: Offers = ()
    ) -> None:
        words = f"Tell {actor.login} alone, in {describe_thread(ref)}{_offered(offers)}"
        self.rehearsal.record(words, text)

    def swap_labels(
        self, ref: R, add: tuple[str, ...], remove: tuple[str, ...]
    ) -> None:
        words = f"Swap labels of {describe_thread(ref)}"
        self.rehearsal.record(words, f"add {_named(add)}, take off {_named(remove)}")

    def fetch_attachment(
        self, ref: R, url: str, max_bytes: int, post_id: str = ""
    ) -> bytes:
        return self.real.fetch_attachment(ref, url, max_bytes, post_id)


@dataclass(frozen=True)
class DryRunTracker(DryRunChannel[TalkThread]):
    """A `Board`."""

    real: Tracker

    def open_thread(self, trigger: Trigger, text: str) -> TalkThread:
        """Tell of the thread; the one that is named for want of it goes on."""
        thread = trigger.thread
        if not isinstance(thread, TalkThread):
            raise TypeError(f"{thread} is not a thread of a service for talk")
        self.rehearsal.record(f"Open a thread in {thread.place}", text)
        return thread

    def name_people(self, trigger: Trigger) -> Trigger:
        return self.real.name_people(trigger)

    def attach_link(self, ref: TalkThread, url: str, title: str, key: str) -> None:
        del key
        words = f"Show a link beside {describe_thread(ref)}"
        self.rehearsal.record(words, f"{title} {url}".strip())

    def move(self, ref: TalkThread, status: str) -> None:
        self.rehearsal.record(f"Move {describe_thread(ref)} to {status}")


def _offered(offers: Offers) -> str:
    return f", with {_named([one.words for one in offers])}" if offers else ""


def _named(names: tuple[str, ...] | list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "nothing"
