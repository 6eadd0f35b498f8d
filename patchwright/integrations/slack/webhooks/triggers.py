"""The requests in Slack, and the triggers made from them."""

from dataclasses import dataclass
from typing import Final

from pydantic import TypeAdapter

from patchwright.core.errors import PayloadError
from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import NOT_STARTED, TalkThread, ThreadKind
from patchwright.core.types.triggers import Ignored, ParsedWebhook, Trigger, TriggerKind
from patchwright.integrations.slack.actions import SERVICE
from patchwright.integrations.slack.text.mrkdwn import to_markdown
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
