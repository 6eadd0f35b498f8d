"""Open the talk between one person and us."""

from patchwright.core.types.threads import TalkThread
from patchwright.integrations.slack.api import SlackClient
from patchwright.integrations.slack.payloads import OpenedConversation
from patchwright.integrations.slack.places import team_of


def open_direct_message(api: SlackClient, ref: TalkThread, user: str) -> TalkThread:
    """Return the thread as one in the talk with that person."""
    team = team_of(ref)
    opened = api.ask(
        team, OpenedConversation, lambda client: client.conversations_open(users=user)
    )
    return ref.replace(place=f"{team}/{opened.channel.id}")
