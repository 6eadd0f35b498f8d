"""Read a reaction: a stop sign stops."""

from typing import Final

from pydantic import TypeAdapter

from patchwright.core.text.commands import Verb
from patchwright.core.types.triggers import Ignored, ParsedWebhook, TriggerKind
from patchwright.integrations.slack.reading.asking import make_trigger
from patchwright.integrations.slack.reading.origin import find_host, origin_of_event
from patchwright.integrations.slack.reading.payloads import EventEnvelope, ReactionEvent

_REACTION: Final = TypeAdapter(ReactionEvent)
_STOP_SIGNS: Final = frozenset({"octagonal_sign", "x"})


def read_reaction(envelope: EventEnvelope) -> ParsedWebhook:
    """Read a stop sign on the first message of a thread.

    The event tells the message and not its thread, which is the message's own if it
    began one; any other names no thread that is known. People use such signs for much
    else: it has not called us, and counts where we are at work, as a reply does.
    """
    reaction = _REACTION.validate_python(envelope.event)
    if reaction.reaction not in _STOP_SIGNS:
        return Ignored(reason="other-reaction")
    if reaction.item.type != "message":
        return Ignored(reason="not-a-message")
    origin, item = origin_of_event(envelope), reaction.item
    if reaction.user == envelope.authorization.user_id:
        return Ignored(reason="own-act")
    host = find_host(envelope, reaction)
    if not (reaction.user and host):
        return Ignored(reason="author-unknown")
    # Taken away and set again, the sign asks again: only the time tells them apart.
    return make_trigger(
        origin,
        origin.thread(item.channel, item.ts),
        f"reaction:{reaction.user}:{reaction.reaction}:{reaction.event_ts}",
        origin.actor(reaction.user, host=host),
        request=Verb.STOP,
        kind=TriggerKind.REPLY,
    )
