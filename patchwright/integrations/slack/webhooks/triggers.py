"""What counts as a request in Slack, and the trigger that a message makes."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from pydantic import TypeAdapter

from patchwright.core.commands import Verb
from patchwright.core.types.base import Value
from patchwright.core.types.errors import PayloadError
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import NOT_STARTED, TalkThread, ThreadKind
from patchwright.core.types.triggers import Ignored, ParsedWebhook, Trigger, TriggerKind
from patchwright.integrations.slack.text.actions import SERVICE
from patchwright.integrations.slack.text.message_reader import MessageReader
from patchwright.integrations.slack.text.mrkdwn import (
    mentions_us,
    request_in,
    to_markdown,
)
from patchwright.integrations.slack.webhooks.payloads import (
    EventEnvelope,
    InteractingUser,
    Interaction,
    MessageEvent,
    ReactionEvent,
    SlashCommand,
)


@dataclass(frozen=True, slots=True)
class DeliveryOrigin:
    """A workspace that has the app; `enterprise` if all of that one has it."""

    team: str
    enterprise: str = ""

    @property
    def installation(self) -> str:
        return self.enterprise or self.team

    def thread(self, channel: str, thread_id: str) -> TalkThread:
        return TalkThread(
            service=SERVICE,
            # Whose token answers; a channel has one id in all of an organization.
            place=f"{self.installation}/{channel}",
            kind=ThreadKind.CHAT,
            id=thread_id,
        )

    def new_thread(self, channel: str, trigger_id: str) -> TalkThread:
        """Name a thread that has no message yet."""
        return self.thread(channel, f"{NOT_STARTED}{trigger_id}")

    def actor(self, user: str, name: str = "", host: str = "") -> Actor:
        return Actor(
            service=SERVICE,
            login=name or user,
            external_id=user,
            host=host or self.team,
        )


def origin_of_event(envelope: EventEnvelope) -> DeliveryOrigin:
    """Return where an event comes from.

    In a channel that several workspaces share, the outer `team_id` may be another's
    than that of the installation.
    """
    seen_by = envelope.authorization
    return make_origin(
        team=seen_by.team_id or envelope.team_id,
        enterprise=seen_by.enterprise_id or envelope.enterprise_id,
        is_for_all=seen_by.is_enterprise_install,
    )


def origin_of_interaction(interaction: Interaction) -> DeliveryOrigin:
    """Return where somebody pressed or typed.

    A form that was opened out of a shared channel tells the workspace that has the app;
    where the app is installed for all of an organization, `team` may be missing.
    """
    installed = interaction.view.app_installed_team_id if interaction.view else ""
    team = interaction.team.id if interaction.team else ""
    enterprise = interaction.enterprise.id if interaction.enterprise else ""
    return make_origin(
        team=installed or team or interaction.user.team_id,
        enterprise=enterprise,
        is_for_all=interaction.is_enterprise_install,
    )


def make_origin(*, team: str, enterprise: str, is_for_all: bool) -> DeliveryOrigin:
    if not team:
        raise PayloadError("the delivery names no workspace")
    return DeliveryOrigin(team, enterprise if is_for_all else "")


def member_of(origin: DeliveryOrigin, person: InteractingUser) -> Actor:
    name = person.username or person.name
    return origin.actor(person.id, name, person.team_id)


def find_host(envelope: EventEnvelope, part: MessageEvent | ReactionEvent) -> str:
    """Return the workspace of the author, or an empty text if it is unknown.

    Only in a channel that organizations share may that be another than ours. There
    `user_team` may also name an organization, which for two of them stands for the
    workspace that the envelope names; for a third it is all we know.
    """
    if not envelope.is_ext_shared_channel:
        return origin_of_event(envelope).team
    team = part.user_team or part.team
    known = {
        envelope.enterprise_id: envelope.team_id,
        envelope.context_enterprise_id: envelope.context_team_id,
    }
    return (team and known.get(team)) or team


_LONGEST_TITLE: Final = 80


def make_trigger(
    origin: DeliveryOrigin,
    thread: TalkThread,
    name: str,
    actor: Actor,
    *,
    request: str,
    kind: TriggerKind,
    text: str = "",
    post_id: str = "",
) -> Trigger:
    """Make a trigger; `name` is what the request is called within its thread.

    `text` is what it was asked in, by default the request itself.
    """
    opens = kind is TriggerKind.BODY_MENTION
    words = text or request
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


_COMMAND: Final = TypeAdapter(SlashCommand)


class SlackTriggerRules(Value):
    """What counts as asking, beyond what Slack tells us is meant for us."""

    command: str = "/patchwright"


def read_command(body: bytes, rules: SlackTriggerRules) -> ParsedWebhook:
    """Read a request that no message stands for yet.

    Its text is escaped as in messages: the app's manifest wants it so.
    """
    sent = _COMMAND.validate_json(body)
    if sent.command.casefold() != rules.command.casefold():
        return Ignored(reason="other-command")
    origin = make_origin(
        team=sent.team_id,
        enterprise=sent.enterprise_id,
        is_for_all=sent.is_enterprise_install,
    )
    return make_trigger(
        origin,
        origin.new_thread(sent.channel_id, sent.trigger_id),
        "command",
        origin.actor(sent.user_id, sent.user_name),
        request=to_markdown(sent.text, names={}, own_id="").strip(),
        kind=TriggerKind.BODY_MENTION,
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
    """Tell whether the message mentions us, or may do so where our id is not told."""
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
