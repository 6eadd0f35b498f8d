"""Make a delivery of a request that came without a thread."""

from datetime import datetime
from typing import Final

from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.workers.intake.delivery import Delivery

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
