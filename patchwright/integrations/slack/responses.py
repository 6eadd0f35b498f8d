"""The fields of Slack's answers that are read; everything else is passed over."""

from typing import Annotated

from pydantic import BeforeValidator

from patchwright.integrations.slack.text.message_content import (
    MessageContent,
    SlackModel,
    Text,
)


class EmptyResponse(SlackModel):
    """An answer of which nothing is read."""


class BotIdentity(SlackModel):
    """https://docs.slack.dev/reference/methods/auth.test."""

    url: Text = ""
    team: Text = ""
    team_id: Text = ""
    user: Text = ""
    user_id: Text = ""
    bot_id: Text = ""
    enterprise_id: Text = ""
    is_enterprise_install: bool = False


class PostedMessage(SlackModel):
    """`ts` names the message, `channel` is where it came to stand."""

    ts: str
    channel: str


class UserProfile(SlackModel):
    display_name: Text = ""
    real_name: Text = ""


class SlackUser(SlackModel):
    id: str
    name: Text = ""
    real_name: Text = ""
    profile: UserProfile = UserProfile()

    @property
    def shown(self) -> str:
        """The name that others see; people may leave any of them empty."""
        profile = self.profile
        names = (profile.display_name, profile.real_name, self.real_name, self.name)
        return next(filter(None, names), self.id)


class UserResponse(SlackModel):
    user: SlackUser


class SlackConversation(SlackModel):
    id: str


class OpenedConversation(SlackModel):
    channel: SlackConversation


class Permalink(SlackModel):
    permalink: str


class BotName(SlackModel):
    name: Text = ""


class Edited(SlackModel):
    ts: Text = ""


class MetadataPayload(SlackModel):
    """What we noted in our message; `marks` has one in each line."""

    marks: Text = ""
    part_of: Text = ""


class MessageMetadata(SlackModel):
    event_type: Text = ""
    event_payload: Annotated[
        MetadataPayload, BeforeValidator(lambda v: v if isinstance(v, dict) else {})
    ] = MetadataPayload()


class SlackMessage(MessageContent):
    """https://docs.slack.dev/reference/events/message."""

    ts: str
    user: Text = ""
    username: Text = ""
    subtype: Text = ""
    bot_id: Text = ""
    team: Text = ""
    user_team: Text = ""
    reply_count: int = 0
    bot_profile: BotName | None = None
    edited: Edited | None = None
    metadata: MessageMetadata | None = None


class NextCursor(SlackModel):
    next_cursor: Text = ""


class MessagePage(SlackModel):
    messages: tuple[SlackMessage, ...] = ()
    response_metadata: NextCursor | None = None

    @property
    def cursor(self) -> str:
        return self.response_metadata.next_cursor if self.response_metadata else ""


class SlackTeam(SlackModel):
    id: Text = ""
    name: Text = ""


class OAuthAccess(SlackModel):
    """https://docs.slack.dev/reference/methods/oauth.v2.access."""

    access_token: str
    scope: Text = ""
    team: SlackTeam | None = None
    enterprise: SlackTeam | None = None
    is_enterprise_install: bool = False
