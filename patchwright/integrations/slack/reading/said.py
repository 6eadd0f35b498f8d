"""Tell what is known of a message before anybody asks what it wants."""

from dataclasses import dataclass
from functools import cached_property

from patchwright.core.types.people import Actor
from patchwright.core.types.threads import TalkThread
from patchwright.integrations.slack.reading.origin import (
    DeliveryOrigin,
    find_host,
    origin_of_event,
)
from patchwright.integrations.slack.reading.payloads import EventEnvelope, MessageEvent
from patchwright.integrations.slack.text.message import MessageReader


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
