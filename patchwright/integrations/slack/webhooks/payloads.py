"""The fields of Slack's events, interactions and slash commands that are read."""

from typing import Annotated, Any

from pydantic import BeforeValidator

from patchwright.integrations.slack.text.message_content import (
    Flag,
    MessageContent,
    SlackModel,
    Text,
)

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


class SlackEntity(SlackModel):
    id: Text = ""


class InteractingUser(SlackModel):
    id: str
    username: Text = ""
    name: Text = ""
    team_id: Text = ""


class MessageContainer(SlackModel):
    type: Text = ""
    channel_id: Text = ""
    message_ts: Text = ""
    thread_ts: Text = ""


class SelectedOption(SlackModel):
    value: Text = ""


class BlockAction(SlackModel):
    """https://docs.slack.dev/reference/interaction-payloads/block_actions-payload."""

    action_id: Text = ""
    block_id: Text = ""
    value: Text = ""
    action_ts: Text = ""
    selected_option: SelectedOption | None = None

    @property
    def picked(self) -> str:
        return self.selected_option.value if self.selected_option else ""


class FormState(SlackModel):
    """What was filled in, by the id of the block and that of the action."""

    values: dict[str, dict[str, BlockAction]] = {}


class ModalView(SlackModel):
    id: str
    callback_id: Text = ""
    private_metadata: Text = ""
    app_installed_team_id: Text = ""
    state: FormState = FormState()

    def find(self, action_id: str) -> BlockAction:
        """Return what was filled into a field, nothing if there is no such field."""
        for block in self.state.values.values():
            if action_id in block:
                return block[action_id]
        return BlockAction()


class Interaction(SlackModel):
    """Somebody pressed, picked or typed something that is ours.

    https://docs.slack.dev/interactivity/handling-user-interaction
    """

    team: SlackEntity | None = None
    enterprise: SlackEntity | None = None
    is_enterprise_install: Flag = False
    user: InteractingUser
    channel: SlackEntity | None = None
    container: MessageContainer = MessageContainer()
    message: MessageEvent | None = None
    message_ts: Text = ""
    trigger_id: Text = ""
    callback_id: Text = ""
    action_id: Text = ""
    block_id: Text = ""
    action_ts: Text = ""
    value: Text = ""
    actions: tuple[BlockAction, ...] = ()
    view: ModalView | None = None


class SlashCommand(SlackModel):
    """https://docs.slack.dev/interactivity/implementing-slash-commands."""

    team_id: str
    enterprise_id: Text = ""
    is_enterprise_install: Flag = False
    channel_id: str
    user_id: str
    user_name: Text = ""
    command: str
    text: Text = ""
    trigger_id: str
