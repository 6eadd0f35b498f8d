"""The protocol of a service where people talk, and the router over all of them."""
# ruff: noqa: ARG002 - a default needs nothing of what it is given

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from patchwright.core.types.base import Value
from patchwright.core.types.errors import InvalidRequestError, NotFoundError
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, TalkThread, Thread, ThreadRef
from patchwright.core.types.triggers import Trigger

Ref_contra = TypeVar("Ref_contra", bound=ThreadRef, contravariant=True)


class Offer(Value):
    """Something that a reader may do about a message, where a service has buttons.

    Pressing it gives us `command`, with the words that `asks` asked for if it does; or
    it opens `url`. With `picks_repository` it is a field to find a repository in, and
    the command is what was picked. `example` are such words, for services where people
    type the command; with `is_in_text` the message says itself what to type.
    """

    words: str
    command: str = ""
    asks: str = ""
    example: str = ""
    url: str = ""
    picks_repository: bool = False
    is_in_text: bool = False


Offers = tuple[Offer, ...]


class ServiceChannel(Protocol[Ref_contra]):
    """Reads a service's threads and writes in them, in the bot's name.

    Every text is Markdown, with marks of ours in HTML comments, and each channel turns
    it into what its service shows. Every call raises a `ServiceError` of
    `core.types.errors` and none of a vendor's. A class that derives from this one has
    no reactions, labels, private words and files, and takes nothing back, unless it
    says how.
    """

    def acknowledge(self, trigger: Trigger) -> None:
        """Show at once, without words, that the request was seen."""
        return

    def decline(self, trigger: Trigger) -> None:
        """Show, without words, that the request will not be followed."""
        return

    def fetch_thread(self, ref: Ref_contra) -> Thread:
        """Read the opening text and every comment."""
        ...

    def fetch_opening(self, ref: Ref_contra) -> Thread:
        """Read the opening text alone; the kind of the thread need not be right."""
        return self.fetch_thread(ref)

    def find_post(self, ref: Ref_contra, mark: str) -> str | None:
        """Return the id of our first own comment that contains `mark`, if any does."""
        ...

    def post(self, ref: Ref_contra, text: str, offers: Offers = ()) -> str:
        """Add a comment and return its id."""
        ...

    def edit(
        self, ref: Ref_contra, post_id: str, text: str, offers: Offers = ()
    ) -> None:
        """Replace the text of our own comment, and what it offers."""
        ...

    def delete(self, ref: Ref_contra, post_id: str) -> None:
        """Take back our own comment; one that is gone already stays so."""
        return

    def tell_privately(
        self, ref: Ref_contra, actor: Actor, text: str, offers: Offers = ()
    ) -> None:
        """Tell one person something that nobody else may read.

        It need not last. Raises `InvalidRequestError` where the service has no way.
        """
        raise InvalidRequestError(f"nothing can be said to {actor.login} alone here")

    def swap_labels(
        self, ref: Ref_contra, add: tuple[str, ...], remove: tuple[str, ...]
    ) -> None:
        """Put labels on the thread and take others off; what is so already stays."""
        return

    def fetch_attachment(
        self, ref: Ref_contra, url: str, max_bytes: int, post_id: str = ""
    ) -> bytes:
        """Return a file that a post of the thread links to, with our own rights.

        `post_id` is that post, by default the opening text. Raises
        `InvalidRequestError` for what is larger, or on a host not of the service's.
        """
        raise InvalidRequestError(f"there are no files here: {url}")


# The channels of all services, as one.
Channel = ServiceChannel[ThreadRef]


class Tracker(ServiceChannel[TalkThread], Protocol):
    """A channel of a service where no code lives.

    Some have threads that we open ourselves, others tickets that move; what a service
    does not have is left out without a word.
    """

    def open_thread(self, trigger: Trigger, text: str) -> TalkThread:
        """Open a thread for a trigger that has none yet.

        If there is one, or an earlier try opened one, use that.
        """
        ...

    def name_people(self, trigger: Trigger) -> Trigger:
        """Return the request with names of people where its delivery has ids."""
        ...

    def attach_link(self, ref: TalkThread, url: str, title: str, key: str) -> None:
        """Show a link beside the thread, in place of the earlier one with that key."""
        ...

    def move(self, ref: TalkThread, status: str) -> None:
        """Bring it to a status; `InvalidRequestError` if no way leads there."""
        ...

    def find_repository(self, ref: TalkThread) -> str:
        """Return the repository that the service itself ties a thread to.

        It is a name, or an address at the forge; empty where there is none.
        """
        return ""


@dataclass(frozen=True)
class ChannelRouter:
    """A `Channel`; `trackers` are by the name of their service.

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
