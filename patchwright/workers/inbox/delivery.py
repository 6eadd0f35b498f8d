"""A delivery that was verified and parsed, and the result of storing it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from patchwright.core.errors import PatchwrightError
from patchwright.core.types.base import ConversationId, JobId
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind
from patchwright.core.types.triggers import StoredDelivery, Trigger, TriggerKind


class InboxUnavailableError(PatchwrightError):
    """The delivery was not stored: too many are waiting, or the database is away."""

    reason = "intake-unavailable"


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


MAX_TITLE_CHARS: Final = 100


def make_own_delivery(
    service: str,
    delivery_id: str,
    *,
    repo: RepoRef,
    number: int,
    actor: Actor,
    text: str,
    now: datetime,
    request: str = "",
) -> Delivery:
    """Return it; `number` tells it from others in that repository.

    With the same `delivery_id` it is the same, however often it comes. `request` is a
    command, such as `plan`, where it is more than its text.
    """
    thread = ForgeThread(repo=repo, kind=ThreadKind.REQUEST, number=number)
    trigger = Trigger(
        key=f"{service}:{delivery_id}",
        kind=TriggerKind.BODY_MENTION,
        actor=actor,
        thread=thread,
        request=request,
        title=_title_of(text),
        body=text,
    )
    return Delivery(
        service=service,
        id=delivery_id,
        headers={},
        body=b"",
        received_at=now,
        reading=trigger,
    )


def _title_of(text: str) -> str:
    first = next((line for line in text.splitlines() if line.strip()), "")
    title = first.strip().lstrip("# ")
    is_long = len(title) > MAX_TITLE_CHARS
    return f"{title[: MAX_TITLE_CHARS - 1]}…" if is_long else title
