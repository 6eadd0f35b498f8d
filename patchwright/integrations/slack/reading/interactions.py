"""The fields that are read of what people press, pick, type and send to us."""

from patchwright.integrations.slack.payloads import Flag, SlackModel, Text
from patchwright.integrations.slack.reading.payloads import MessageEvent


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
