"""React to what somebody wrote."""

from patchwright.core.errors import InvalidRequestError
from patchwright.core.types.threads import TalkThread
from patchwright.core.types.triggers import Trigger
from patchwright.integrations.slack.api import SlackClient
from patchwright.integrations.slack.errors import SlackRefusalError
from patchwright.integrations.slack.payloads import EmptyResponse
from patchwright.integrations.slack.places import channel_of, is_unopened, team_of


def react(api: SlackClient, trigger: Trigger, reaction: str) -> None:
    """React to the message that asked; where there is none there is nothing to do."""
    ref = trigger.thread
    if not isinstance(ref, TalkThread):
        raise InvalidRequestError(f"{ref} is no thread of Slack's")
    if is_unopened(ref):
        return
    channel = channel_of(ref)
    try:
        api.ask(
            team_of(ref),
            EmptyResponse,
            lambda client: client.reactions_add(
                channel=channel, timestamp=trigger.post_id or ref.id, name=reaction
            ),
        )
    except SlackRefusalError as error:
        if error.code != "already_reacted":
            raise
