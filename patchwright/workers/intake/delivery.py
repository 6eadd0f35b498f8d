"""A delivery that was verified and read, and what became of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from patchwright.core.types.ids import ConversationId, JobId
from patchwright.core.types.triggers import StoredDelivery

# The table keeps what explains a delivery, and nothing that proves who sent it.
_KEPT: Final = (
    "content-type",
    "user-agent",
    "x-github-",
    "x-slack-retry-",
    "x-atlassian-webhook-",
)
_DROPPED: Final = ("signature", "token", "authorization")


@dataclass(frozen=True)
class Delivery:
    """One webhook request. `id` is the service's own, and the same when it repeats."""

    service: str
    id: str
    headers: Mapping[str, str]
    body: bytes
    received_at: datetime
    reading: StoredDelivery


class DeliveryVerdict(StrEnum):
    ACCEPTED = "accepted"
    JOINED = "joined"
    DUPLICATE = "duplicate"
    NOTED = "noted"
    IGNORED = "ignored"


@dataclass(frozen=True)
class InboxResult:
    """What became of a delivery: a new job, a message to a job, or nothing.

    With `wakes` the job has waited for such a message, and is to be submitted, and so
    are those of `due`. `told` are the other conversations whose log has news.
    """

    verdict: DeliveryVerdict
    job_id: JobId | None = None
    conversation_id: ConversationId | None = None
    wakes: bool = False
    due: tuple[JobId, ...] = ()
    other_conversations: tuple[ConversationId, ...] = ()

    @property
    def ids(self) -> dict[str, str]:
        """What a line of the log names to be found with the others of its run."""
        named = {"job_id": self.job_id, "conversation_id": self.conversation_id}
        return {name: found for name, found in named.items() if found is not None}


def headers_to_keep(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that are stored; their names are in lower case."""
    return {
        name: value
        for name, value in headers.items()
        if name.startswith(_KEPT) and not any(word in name for word in _DROPPED)
    }
