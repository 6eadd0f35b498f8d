"""Read what somebody typed after our slash command."""

from typing import Final

from pydantic import TypeAdapter

from patchwright.core.types.base import Value
from patchwright.core.types.triggers import Ignored, ParsedWebhook, TriggerKind
from patchwright.integrations.slack.reading.asking import make_trigger
from patchwright.integrations.slack.reading.interactions import SlashCommand
from patchwright.integrations.slack.reading.origin import make_origin
from patchwright.integrations.slack.text.incoming import to_markdown

_COMMAND: Final = TypeAdapter(SlashCommand)


class SlackTriggerRules(Value):
    """What counts as asking, beyond what Slack tells us is meant for us."""

    command: str = "/patchwright"


def read_command(body: bytes, listening: SlackTriggerRules) -> ParsedWebhook:
    """Read a request that no message stands for yet.

    Its text is escaped as in messages: the app's manifest wants it so.
    """
    sent = _COMMAND.validate_json(body)
    if sent.command.casefold() != listening.command.casefold():
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
