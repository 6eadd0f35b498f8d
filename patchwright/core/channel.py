"""The protocol of a service where people talk."""

from typing import Protocol

from patchwright.core.types.threads import Thread, ThreadRef
from patchwright.core.types.triggers import Trigger


class Channel(Protocol):
    """Reads threads and speaks in them, in the bot's own name.

    Every call raises a `ServiceError` of `core.errors` and none of a vendor's.
    """

    def acknowledge(self, trigger: Trigger) -> None:
        """Show at once, without words, that the request was seen."""
        ...

    def decline(self, trigger: Trigger) -> None:
        """Show, without words, that the request will not be followed."""
        ...

    def fetch_thread(self, ref: ThreadRef) -> Thread:
        """Read the opening text and every comment."""
        ...

    def fetch_opening(self, ref: ThreadRef) -> Thread:
        """Read the opening text alone; the kind of the thread need not be right."""
        ...

    def find_post(self, ref: ThreadRef, mark: str) -> str | None:
        """Return the id of our own comment that contains `mark`, if there is one."""
        ...

    def post(self, ref: ThreadRef, text: str) -> str:
        """Add a comment and return its id."""
        ...

    def edit(self, ref: ThreadRef, post_id: str, text: str) -> None:
        """Replace the text of our own comment."""
        ...

    def answer_review(self, ref: ThreadRef, review_thread: str, text: str) -> str:
        """Add a post to a review thread and return its id."""
        ...

    def find_review_answer(
        self, ref: ThreadRef, review_thread: str, mark: str
    ) -> str | None:
        """Return the id of our own post there that contains `mark`."""
        ...

    def resolve_review(self, ref: ThreadRef, review_thread: str) -> None:
        """Mark a review thread as settled."""
        ...

    def swap_labels(
        self, ref: ThreadRef, add: tuple[str, ...], remove: tuple[str, ...]
    ) -> None:
        """Put labels on the thread and take others off; what is so already stays."""
        ...

    def fetch_attachment(
        self, ref: ThreadRef, url: str, max_bytes: int, post_id: str = ""
    ) -> bytes:
        """Return a file that a post of the thread links to, with our own rights.

        `post_id` is that post, by default the opening text. Raises
        `InvalidRequestError` for what is larger, or on a host not of the service's.
        """
        ...
