"""The channels of all services as one, told apart by the thread."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from patchwright.core.channel import Tracker, Channel, Offers, ServiceChannel
from patchwright.core.errors import NotFoundError
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, TalkThread, Thread, ThreadRef
from patchwright.core.types.triggers import Trigger


@dataclass(frozen=True)
class ChannelRouter:
    """A `Channel`; `boards` are by the name of their service.

    `own` has the threads beside the code that the forge does not know.
    """

    forge: ServiceChannel[ForgeThread]
    trackers: Mapping[str, Tracker] = field(default_factory=dict)
    own: ServiceChannel[ForgeThread] | None = None

    def tracker(self, ref: TalkThread) -> Tracker:
        """Return the channel of a thread; `NotFoundError` if there is none by now."""
        found = self.trackers.get(ref.service)
        if found is None:
            raise NotFoundError(f"{ref.service} is not configured any more")
        return found

    def acknowledge(self, trigger: Trigger) -> None:
        self._of(trigger.thread).acknowledge(trigger)

    def decline(self, trigger: Trigger) -> None:
        self._of(trigger.thread).decline(trigger)

    def fetch_thread(self, ref: ThreadRef) -> Thread:
        return self._of(ref).fetch_thread(ref)

    def fetch_opening(self, ref: ThreadRef) -> Thread:
        return self._of(ref).fetch_opening(ref)

    def find_post(self, ref: ThreadRef, mark: str) -> str | None:
        return self._of(ref).find_post(ref, mark)

    def post(self, ref: ThreadRef, text: str, offers: Offers = ()) -> str:
        return self._of(ref).post(ref, text, offers)

    def edit(
        self, ref: ThreadRef, post_id: str, text: str, offers: Offers = ()
    ) -> None:
        self._of(ref).edit(ref, post_id, text, offers)

    def delete(self, ref: ThreadRef, post_id: str) -> None:
        self._of(ref).delete(ref, post_id)

    def tell_privately(
        self, ref: ThreadRef, actor: Actor, text: str, offers: Offers = ()
    ) -> None:
        self._of(ref).tell_privately(ref, actor, text, offers)

    def swap_labels(
        self, ref: ThreadRef, add: tuple[str, ...], remove: tuple[str, ...]
    ) -> None:
        self._of(ref).swap_labels(ref, add, remove)

    def fetch_attachment(
        self, ref: ThreadRef, url: str, max_bytes: int, post_id: str = ""
    ) -> bytes:
        return self._of(ref).fetch_attachment(ref, url, max_bytes, post_id)

    def _of(self, ref: ThreadRef) -> Channel:
        # Each service gets no threads but its own, which no type can say.
        channel: ServiceChannel[ForgeThread] | ServiceChannel[TalkThread] = (
            self.tracker(ref) if isinstance(ref, TalkThread) else self._beside(ref)
        )
        return channel  # type: ignore[return-value]

    def _beside(self, ref: ForgeThread) -> ServiceChannel[ForgeThread]:
        if not ref.is_own:
            return self.forge
        if self.own is None:
            raise NotFoundError("there are no requests without a thread here")
        return self.own
