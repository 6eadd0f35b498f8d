"""Make a trigger of what somebody asked."""

from typing import Final

from patchwright.core.types.people import Actor
from patchwright.core.types.threads import TalkThread
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.integrations.slack.reading.origin import DeliveryOrigin

_LONGEST_TITLE: Final = 80


def make_trigger(
    origin: DeliveryOrigin,
    thread: TalkThread,
    name: str,
    actor: Actor,
    *,
    request: str,
    kind: TriggerKind,
    said: str = "",
    post_id: str = "",
) -> Trigger:
    """Make a trigger; `name` is what the request is called within its thread.

    `said` are the words it was asked in, by default the request itself.
    """
    opens = kind is TriggerKind.BODY_MENTION
    words = said or request
    return Trigger(
        key=f"{thread}:{name}",
        kind=kind,
        actor=actor,
        thread=thread,
        request=request,
        title=title_of(request),
        body=words if opens else "",
        text="" if opens else words,
        post_id=post_id,
        installation=origin.installation,
    )


def title_of(request: str) -> str:
    """Return the first line that says something, cut to a length for titles."""
    lines = (line.strip() for line in request.splitlines())
    line = next(filter(None, lines), "")
    if len(line) <= _LONGEST_TITLE:
        return line
    return line[: _LONGEST_TITLE - 1].rstrip() + "…"
