"""Read what people press, pick and search for in our messages and on our pages."""

from dataclasses import dataclass
from typing import Final

from pydantic import TypeAdapter

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
from patchwright.integrations.slack import actions
from patchwright.integrations.slack.actions import (
    action_of,
    decode_press,
    thread_of_block,
)
from patchwright.integrations.slack.reading.asking import make_trigger
from patchwright.integrations.slack.reading.interactions import BlockAction, Interaction
from patchwright.integrations.slack.reading.origin import (
    DeliveryOrigin,
    member_of,
    origin_of_interaction,
)
from patchwright.integrations.slack.reading.shortcuts import new_request_form

_INTERACTION: Final = TypeAdapter(Interaction)
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
    pressing = PressedAction(interaction, interaction.actions[0])
    match action_of(pressing.action.action_id):
        case actions.COMMAND:
            return _read_command(pressing)
        case actions.REPOSITORY:
            return _read_pick(pressing)
        case actions.DEFAULT_REPOSITORY:
            return DefaultChosen(
                actor=pressing.actor,
                repository=pressing.action.picked,
                installation=pressing.origin.installation,
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


def _read_command(pressing: PressedAction) -> ParsedWebhook:
    press = decode_press(pressing.action.value)
    if press.asks:
        return FormRequest(
            actor=pressing.actor,
            handle=pressing.interaction.trigger_id,
            thread=pressing.thread,
            command=press.command,
            asks=press.asks,
            installation=pressing.origin.installation,
        )
    return _command_trigger(pressing, press.command, TriggerKind.COMMENT_MENTION)


def _read_pick(pressing: PressedAction) -> ParsedWebhook:
    if not pressing.action.picked:
        return Ignored(reason="nothing-picked")
    return _command_trigger(pressing, pressing.action.picked, TriggerKind.REPLY)


def _command_trigger(pressing: PressedAction, request: str, kind: TriggerKind) -> ParsedWebhook:
    if pressing.thread is None:
        return Ignored(reason="no-thread")
    # Only the time tells the second press from the first.
    stamp = pressing.action.action_ts or pressing.interaction.trigger_id
    return make_trigger(
        pressing.origin,
        pressing.thread,
        f"press:{pressing.interaction.user.id}:{stamp}",
        pressing.actor,
        request=request,
        kind=kind,
    )
