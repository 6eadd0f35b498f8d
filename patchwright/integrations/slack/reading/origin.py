"""Tell whose delivery it is: which workspace, which installation, which person."""

from dataclasses import dataclass

from patchwright.core.errors import PayloadError
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import NOT_STARTED, TalkThread, ThreadKind
from patchwright.integrations.slack.actions import SERVICE
from patchwright.integrations.slack.reading.interactions import Interaction, InteractingUser
from patchwright.integrations.slack.reading.payloads import EventEnvelope, MessageEvent, ReactionEvent


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
    """Return the workspace of whoever wrote or reacted, empty if it isn't told.

    Only in a channel that organizations share may that be another than ours. There
    `user_team` may also name an organization, which for two of them stands for the
    workspace that the envelope names; for a third it is all we know.
    """
    if not envelope.is_ext_shared_channel:
        return origin_of_event(envelope).team
    told = part.user_team or part.team
    known = {
        envelope.enterprise_id: envelope.team_id,
        envelope.context_enterprise_id: envelope.context_team_id,
    }
    return (told and known.get(told)) or told
