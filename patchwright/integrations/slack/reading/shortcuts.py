"""Read a shortcut: it was chosen beside a message, or from Slack's own menu."""

from typing import Final

from pydantic import TypeAdapter

from patchwright.core.types.triggers import FormRequest, Ignored, ParsedWebhook, TriggerKind
from patchwright.integrations.slack.actions import (
    SHORTCUT_FIX_THIS,
    SHORTCUT_NEW_REQUEST,
)
from patchwright.integrations.slack.reading.asking import make_trigger
from patchwright.integrations.slack.reading.interactions import Interaction
from patchwright.integrations.slack.reading.origin import (
    member_of,
    origin_of_interaction,
)
from patchwright.integrations.slack.text.incoming import to_markdown

_INTERACTION: Final = TypeAdapter(Interaction)


def read_message_shortcut(body: bytes) -> ParsedWebhook:
    """Read a wish about somebody's message: its words become the request."""
    chosen = _INTERACTION.validate_json(body)
    if chosen.callback_id != SHORTCUT_FIX_THIS:
        return Ignored(reason="other-shortcut")
    message, channel = chosen.message, chosen.channel
    if message is None or channel is None or not message.ts:
        return Ignored(reason="not-a-message")
    origin = origin_of_interaction(chosen)
    return make_trigger(
        origin,
        origin.thread(channel.id, message.root),
        # Chosen once more, it asks once more: only the time tells them apart.
        f"shortcut:{message.ts}:{chosen.action_ts or chosen.trigger_id}",
        member_of(origin, chosen.user),
        request=to_markdown(message.text, names={}, own_id=""),
        kind=(
            TriggerKind.BODY_MENTION if message.is_root else TriggerKind.COMMENT_MENTION
        ),
        post_id="" if message.is_root else message.ts,
    )


def read_shortcut(body: bytes) -> ParsedWebhook:
    chosen = _INTERACTION.validate_json(body)
    if chosen.callback_id != SHORTCUT_NEW_REQUEST:
        return Ignored(reason="other-shortcut")
    return new_request_form(chosen)


def new_request_form(interaction: Interaction) -> FormRequest:
    """Ask for the form of a request that is in no thread yet."""
    origin = origin_of_interaction(interaction)
    return FormRequest(
        actor=member_of(origin, interaction.user),
        handle=interaction.trigger_id,
        thread=None,
        command="",
        asks="",
        installation=origin.installation,
    )
