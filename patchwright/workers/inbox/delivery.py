"""Deliveries of our own, and the headers of a delivery that are kept."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.webhook import Delivery

# The table keeps what explains a delivery, and nothing that proves who sent it.
_KEPT: Final = (
    "content-type",
    "user-agent",
    "x-github-",
    "x-slack-retry-",
    "x-atlassian-webhook-",
)
_DROPPED: Final = ("signature", "token", "authorization")


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
