"""Read what people press, pick, search for and fill in: buttons, shortcuts, forms."""

from dataclasses import dataclass
from typing import Final

from pydantic import TypeAdapter

from patchwright.core.types.errors import PayloadError
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import TalkThread
from patchwright.core.types.triggers import (
    DefaultChosen,
    FormRequest,
    Ignored,
    OptionsRequest,
    ParsedWebhook,
    TriggerKind,
)
from patchwright.integrations.slack.text import actions
from patchwright.integrations.slack.text.actions import (
    FORM,
    FORM_REPOSITORY,
    FORM_WORDS,
    SHORTCUT_FIX_THIS,
    SHORTCUT_NEW_REQUEST,
    action_of,
    decode_form,
    decode_press,
    thread_of_block,
)
from patchwright.integrations.slack.text.mrkdwn import to_markdown
from patchwright.integrations.slack.webhooks.payloads import (
    BlockAction,
    Interaction,
    ModalView,
)
from patchwright.integrations.slack.webhooks.triggers import (
    DeliveryOrigin,
    make_trigger,
    member_of,
    origin_of_interaction,
)

_INTERACTION: Final = TypeAdapter(Interaction)


def read_message_shortcut(body: bytes) -> ParsedWebhook:
    """Read a request about somebody's message: its words become the request."""
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


def read_submission(body: bytes) -> ParsedWebhook:
    sent = _INTERACTION.validate_json(body)
    view = sent.view
    if view is None:
        raise PayloadError("the delivery has no form")
    if view.callback_id != FORM:
        return Ignored(reason="other-form")
    target = decode_form(view.private_metadata)
    request = f"{target.command} {_words_of(view)}".strip()
    if not request:
        return Ignored(reason="nothing-written")
    origin = origin_of_interaction(sent)
    # A separate request begins in the thread where its author is told of it.
    own = origin.new_thread(f"@{sent.user.id}", sent.trigger_id)
    return make_trigger(
        origin,
        target.thread or own,
        f"form:{view.id}",
        member_of(origin, sent.user),
        request=request,
        kind=(
            TriggerKind.COMMENT_MENTION if target.thread else TriggerKind.BODY_MENTION
        ),
    )


def _words_of(view: ModalView) -> str:
    words = view.find(FORM_WORDS).value.strip()
    repository = view.find(FORM_REPOSITORY).picked
    return f"{words}\n\nrepo:{repository}" if words and repository else words


_SEARCHED: Final = frozenset({actions.REPOSITORY, actions.DEFAULT_REPOSITORY})


@dataclass(frozen=True, slots=True)
class PressedAction:
    """Somebody pressed something in an interaction of theirs."""

    interaction: Interaction
    action: BlockAction

    @property
    def origin(self) -> DeliveryOrigin:
        return _origin_of(self.interaction, self.action.block_id)

    @property
    def actor(self) -> Actor:
        return member_of(self.origin, self.interaction.user)

    @property
    def thread(self) -> TalkThread | None:
        """What it is about: the block says so, or else the message stands there."""
        named = thread_of_block(self.action.block_id)
        place = self.interaction.container
        stamp = place.thread_ts or place.message_ts
        if named is not None or not (place.channel_id and stamp):
            return named
        return self.origin.thread(place.channel_id, stamp)


def read_press(body: bytes) -> ParsedWebhook:
    interaction = _INTERACTION.validate_json(body)
    if not interaction.actions:
        return Ignored(reason="no-action")
    pressed = PressedAction(interaction, interaction.actions[0])
    match action_of(pressed.action.action_id):
        case actions.COMMAND:
            return _read_command(pressed)
        case actions.REPOSITORY:
            return _read_pick(pressed)
        case actions.DEFAULT_REPOSITORY:
            return DefaultChosen(
                actor=pressed.actor,
                repository=pressed.action.picked,
                installation=pressed.origin.installation,
            )
        case actions.NEW_REQUEST:
            return new_request_form(interaction)
        case actions.OPEN:
            return Ignored(reason="link")
        case _:
            return Ignored(reason="other-action")


def read_search(body: bytes) -> ParsedWebhook:
    """Read what somebody types to find a repository."""
    interaction = _INTERACTION.validate_json(body)
    if action_of(interaction.action_id) not in _SEARCHED:
        return Ignored(reason="other-action")
    origin = _origin_of(interaction, interaction.block_id)
    return OptionsRequest(
        actor=member_of(origin, interaction.user),
        query=interaction.value,
        installation=origin.installation,
    )


def _origin_of(interaction: Interaction, block_id: str) -> DeliveryOrigin:
    """Return whose app it is: our blocks say so, where a guest of theirs may press."""
    named = thread_of_block(block_id)
    if named is None:
        return origin_of_interaction(interaction)
    return DeliveryOrigin(named.place.partition("/")[0])


def _read_command(pressed: PressedAction) -> ParsedWebhook:
    press = decode_press(pressed.action.value)
    if press.asks:
        return FormRequest(
            actor=pressed.actor,
            handle=pressed.interaction.trigger_id,
            thread=pressed.thread,
            command=press.command,
            asks=press.asks,
            installation=pressed.origin.installation,
        )
    return _command_trigger(pressed, press.command, TriggerKind.COMMENT_MENTION)


def _read_pick(pressed: PressedAction) -> ParsedWebhook:
    if not pressed.action.picked:
        return Ignored(reason="nothing-picked")
    return _command_trigger(pressed, pressed.action.picked, TriggerKind.REPLY)


def _command_trigger(
    pressed: PressedAction, request: str, kind: TriggerKind
) -> ParsedWebhook:
    if pressed.thread is None:
        return Ignored(reason="no-thread")
    # Only the time tells the second press from the first.
    stamp = pressed.action.action_ts or pressed.interaction.trigger_id
    return make_trigger(
        pressed.origin,
        pressed.thread,
        f"press:{pressed.interaction.user.id}:{stamp}",
        pressed.actor,
        request=request,
        kind=kind,
    )
