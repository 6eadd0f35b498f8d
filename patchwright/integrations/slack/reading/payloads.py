"""The fields of Slack's events that are read; everything else is passed over."""

from typing import Annotated, Any

from pydantic import BeforeValidator

from patchwright.integrations.slack.payloads import MessageContent, Flag, SlackModel, Text

# Of a clock; anything that is no such number counts for none.
Seconds = Annotated[
    int, BeforeValidator(lambda v: v if isinstance(v, int) and 0 < v < 1 << 33 else 0)
]


class DeliveryHead(SlackModel):
    """What tells one kind of delivery from another."""

    type: Text = ""
    command: Text = ""
    ssl_check: Text = ""
    challenge: Text = ""
    event_id: Text = ""
    trigger_id: Text = ""


class Authorization(SlackModel):
    """One installation of the app that may see an event, of perhaps several.

    https://docs.slack.dev/apis/events-api/#authorizations
    """

    team_id: Text = ""
    enterprise_id: Text = ""
    user_id: Text = ""
    is_bot: Flag = False
    is_enterprise_install: Flag = False


class EventEnvelope(SlackModel):
    """What comes around every event."""

    team_id: Text = ""
    enterprise_id: Text = ""
    context_team_id: Text = ""
    context_enterprise_id: Text = ""
    api_app_id: Text = ""
    event_time: Seconds = 0
    is_ext_shared_channel: Flag = False
    authorizations: tuple[Authorization, ...] = ()
    event: dict[str, Any]

    @property
    def authorization(self) -> Authorization:
        return self.authorizations[0] if self.authorizations else Authorization()


class AuthorProfile(SlackModel):
    display_name: Text = ""
    real_name: Text = ""
    name: Text = ""


class AuthorBotProfile(SlackModel):
    app_id: Text = ""


class MessageEvent(MessageContent):
    """https://docs.slack.dev/reference/events/message."""

    channel: Text = ""
    channel_type: Text = ""
    ts: Text = ""
    thread_ts: Text = ""
    user: Text = ""
    user_profile: AuthorProfile | None = None
    user_team: Text = ""
    team: Text = ""
    subtype: Text = ""
    bot_id: Text = ""
    bot_profile: AuthorBotProfile | None = None
    app_id: Text = ""

    @property
    def root(self) -> str:
        """The time stamp of the thread's first message, which may be this one."""
        return self.thread_ts or self.ts

    @property
    def is_root(self) -> bool:
        return self.root == self.ts


class ReactionItem(SlackModel):
    type: Text = ""
    channel: Text = ""
    ts: Text = ""


class ReactionEvent(SlackModel):
    """https://docs.slack.dev/reference/events/reaction_added."""

    user: Text = ""
    user_team: Text = ""
    team: Text = ""
    reaction: Text = ""
    item: ReactionItem
    event_ts: Text = ""


class HomeOpened(SlackModel):
    user: str
    tab: Text = ""


class RevokedTokens(SlackModel):
    """Whose tokens of each kind were revoked, by the ids of users."""

    bot: tuple[str, ...] = ()


class TokensRevoked(SlackModel):
    tokens: RevokedTokens = RevokedTokens()
