"""Read messages and reactions: a mention, a reply, a direct message, a stop sign."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from pydantic import TypeAdapter

from patchwright.core.commands import Verb
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import TalkThread
from patchwright.core.types.triggers import Ignored, ParsedWebhook, TriggerKind
from patchwright.integrations.slack.text.message_reader import MessageReader
from patchwright.integrations.slack.text.mrkdwn import mentions_us, request_in
from patchwright.integrations.slack.webhooks.payloads import (
    EventEnvelope,
    MessageEvent,
    ReactionEvent,
)
from patchwright.integrations.slack.webhooks.triggers import (
    DeliveryOrigin,
    find_host,
    make_trigger,
    origin_of_event,
)


@dataclass(frozen=True)
class ReceivedMessage:
    """A message, and what came around it."""

    envelope: EventEnvelope
    message: MessageEvent

    @cached_property
    def origin(self) -> DeliveryOrigin:
        return origin_of_event(self.envelope)

    @property
    def thread(self) -> TalkThread:
        return self.origin.thread(self.message.channel, self.message.root)

    @property
    def own_id(self) -> str:
        """Our own user's id there, empty where the delivery does not tell it."""
        seen_by = self.envelope.authorization
        return seen_by.user_id if seen_by.is_bot else ""

    @property
    def is_own(self) -> bool:
        """Tell whether we wrote it, also by a link that answers an interaction."""
        message, ours = self.message, self.envelope.api_app_id
        profile = message.bot_profile
        app = message.app_id or (profile.app_id if profile else "")
        by_us = bool(self.own_id) and message.user == self.own_id
        return by_us or (bool(ours) and app == ours)

    @property
    def is_by_bot(self) -> bool:
        return bool(self.message.bot_id) or self.message.subtype == "bot_message"

    @cached_property
    def markdown(self) -> str:
        return MessageReader({}, self.own_id).read(self.message)

    @cached_property
    def author(self) -> Actor | None:
        """Who wrote it; None where their workspace isn't known, so that nobody is."""
        message = self.message
        host = find_host(self.envelope, message)
        user = message.user or message.bot_id
        if not (user and host):
            return None
        person = self.origin.actor(user, _name_of(message), host)
        return person.replace(is_bot=self.is_by_bot)


def _name_of(message: MessageEvent) -> str:
    """Return a person's name; a bot's is no proof of which it is, only its id is."""
    profile = message.user_profile
    if profile is None or message.bot_id:
        return ""
    names = (profile.display_name, profile.real_name, profile.name)
    return next(filter(None, names), "")


_MESSAGE: Final = TypeAdapter(MessageEvent)
_FIRST_MENTION: Final = re.compile(r"<@([A-Z0-9]+)(?:\|[^>]*)?>")

# Messages of these kinds are what somebody says; all others tell of an edit, of one who
# joined, and so on. https://docs.slack.dev/reference/events/message#subtypes
_SAID: Final = frozenset(
    {"", "bot_message", "file_share", "me_message", "thread_broadcast"}
)
_DIRECT: Final = frozenset({"im", "app_home"})


def read_mention(envelope: EventEnvelope) -> ParsedWebhook:
    """Read a message that mentions us in a channel.

    Slack sends it when it is written, and again at each edit: the key is the same, so
    that a text asks once, be it from the first or because of an edit.
    """
    received = ReceivedMessage(envelope, _MESSAGE.validate_python(envelope.event))
    if reason := _ignored_reason(received):
        return Ignored(reason=reason)
    own_id = received.own_id or _first_mentioned(received.message.text)
    if not mentions_us(received.message.text, own_id):
        return Ignored(reason="no-mention")
    return _request(received, request_in(received.message.text, own_id))


def read_message(envelope: EventEnvelope) -> ParsedWebhook:
    received = ReceivedMessage(envelope, _MESSAGE.validate_python(envelope.event))
    if reason := _ignored_reason(received):
        return Ignored(reason=reason)
    if received.is_by_bot:
        return Ignored(reason="bot-text")
    if received.message.channel_type in _DIRECT:
        # Nobody else is meant there, with or without a mention.
        return _request(received, request_in(received.message.text, received.own_id))
    if received.own_id and received.message.subtype and _is_mentioned(received):
        # A file that is shared with a mention may come as this alone; where
        # `app_mention` brings it as well, the key is the same.
        return _request(received, request_in(received.message.text, received.own_id))
    if received.message.is_root:
        return Ignored(reason="no-mention")
    if _is_mentioned(received):
        return Ignored(reason="comes-as-mention")
    return _trigger(received, "reply", TriggerKind.REPLY, received.markdown)


def _request(received: ReceivedMessage, request: str) -> ParsedWebhook:
    opens = received.message.is_root
    kind = TriggerKind.BODY_MENTION if opens else TriggerKind.COMMENT_MENTION
    return _trigger(received, "message", kind, request)


def _trigger(
    received: ReceivedMessage, name: str, kind: TriggerKind, request: str
) -> ParsedWebhook:
    if received.author is None:
        return Ignored(reason="author-unknown")
    ts = received.message.ts
    return make_trigger(
        received.origin,
        received.thread,
        # A reply that an edit turns into a request is another thing to answer.
        f"{name}:{ts}",
        received.author,
        request=request,
        kind=kind,
        text=received.markdown,
        post_id="" if kind is TriggerKind.BODY_MENTION else ts,
    )


def _ignored_reason(received: ReceivedMessage) -> str:
    """Say why it is no message that may ask, in a short code."""
    if received.message.subtype == "message_changed":
        return "edited"
    if received.is_own:
        return "own-text"
    if received.message.subtype not in _SAID:
        return "subtype-not-read"
    return "" if received.message.channel and received.message.ts else "not-a-message"


def _is_mentioned(received: ReceivedMessage) -> bool:
    """Return whether the message mentions the bot, or may if its id is unknown."""
    if not received.own_id:
        return bool(_first_mentioned(received.message.text))
    return mentions_us(received.message.text, received.own_id)


def _first_mentioned(text: str) -> str:
    found = _FIRST_MENTION.search(text)
    return found[1] if found else ""


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
