"""The fields that are read of what people press, pick, type and send to us."""

from patchwright.integrations.slack.payloads import Flag, Part, Text
from patchwright.integrations.slack.reading.payloads import Message


class Entity(Part):
    id: Text = ""


class Person(Part):
    id: str
    username: Text = ""
    name: Text = ""
    team_id: Text = ""


class Container(Part):
    type: Text = ""
    channel_id: Text = ""
    message_ts: Text = ""
    thread_ts: Text = ""


class Option(Part):
    value: Text = ""


class Action(Part):
    """https://docs.slack.dev/reference/interaction-payloads/block_actions-payload."""

    action_id: Text = ""
    block_id: Text = ""
    value: Text = ""
    action_ts: Text = ""
    selected_option: Option | None = None

    @property
    def picked(self) -> str:
        return self.selected_option.value if self.selected_option else ""


class State(Part):
    """What was filled in, by the id of the block and that of the action."""

    values: dict[str, dict[str, Action]] = {}


class View(Part):
    id: str
    callback_id: Text = ""
    private_metadata: Text = ""
    app_installed_team_id: Text = ""
    state: State = State()

    def find(self, action_id: str) -> Action:
        """Return what was filled into a field, nothing if there is no such field."""
        for block in self.state.values.values():
            if action_id in block:
                return block[action_id]
        return Action()


class Interaction(Part):
    """Somebody pressed, picked or typed something that is ours.

    https://docs.slack.dev/interactivity/handling-user-interaction
    """

    team: Entity | None = None
    enterprise: Entity | None = None
    is_enterprise_install: Flag = False
    user: Person
    channel: Entity | None = None
    container: Container = Container()
    message: Message | None = None
    message_ts: Text = ""
    trigger_id: Text = ""
    callback_id: Text = ""
    action_id: Text = ""
    block_id: Text = ""
    action_ts: Text = ""
    value: Text = ""
    actions: tuple[Action, ...] = ()
    view: View | None = None


class SlashCommand(Part):
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
