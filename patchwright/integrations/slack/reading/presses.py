"""Read what people press, pick and search for in our messages and on our pages."""

from dataclasses import dataclass
from typing import Final

from pydantic import TypeAdapter

from patchwright.core.types.people import Actor
from patchwright.core.types.threads import TalkThread
from patchwright.core.types.triggers import (
    DefaultChosen,
    FormWanted,
    Ignored,
    OptionsWanted,
    Reading,
    TriggerKind,
)
from patchwright.integrations.slack import actions
from patchwright.integrations.slack.actions import (
    action_of,
    decode_press,
    thread_of_block,
)
from patchwright.integrations.slack.reading.asking import ask
from patchwright.integrations.slack.reading.interactions import Action, Interaction
from patchwright.integrations.slack.reading.origin import (
    Origin,
    member_of,
    origin_of_interaction,
)
from patchwright.integrations.slack.reading.shortcuts import want_new_request

_INTERACTION: Final = TypeAdapter(Interaction)
_SEARCHED: Final = frozenset({actions.REPOSITORY, actions.DEFAULT_REPOSITORY})


@dataclass(frozen=True, slots=True)
class Pressing:
    """Somebody pressed something in an interaction of theirs."""

    interaction: Interaction
    action: Action

    @property
    def origin(self) -> Origin:
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


def read_press(body: bytes) -> Reading:
    interaction = _INTERACTION.validate_json(body)
    if not interaction.actions:
        return Ignored(reason="no-action")
    pressing = Pressing(interaction, interaction.actions[0])
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
            return want_new_request(interaction)
        case actions.OPEN:
            return Ignored(reason="link")
        case _:
            return Ignored(reason="other-action")


def read_typing(body: bytes) -> Reading:
    """Read what somebody types to find a repository."""
    interaction = _INTERACTION.validate_json(body)
    if action_of(interaction.action_id) not in _SEARCHED:
        return Ignored(reason="other-action")
    origin = _origin_of(interaction, interaction.block_id)
    return OptionsWanted(
        actor=member_of(origin, interaction.user),
        query=interaction.value,
        installation=origin.installation,
    )


def _origin_of(interaction: Interaction, block_id: str) -> Origin:
    """Return whose app it is: our blocks say so, where a guest of theirs may press."""
    named = thread_of_block(block_id)
    if named is None:
        return origin_of_interaction(interaction)
    return Origin(named.place.partition("/")[0])


def _read_command(pressing: Pressing) -> Reading:
    press = decode_press(pressing.action.value)
    if press.asks:
        return FormWanted(
            actor=pressing.actor,
            handle=pressing.interaction.trigger_id,
            thread=pressing.thread,
            command=press.command,
            asks=press.asks,
            installation=pressing.origin.installation,
        )
    return _answer(pressing, press.command, TriggerKind.COMMENT_MENTION)


def _read_pick(pressing: Pressing) -> Reading:
    if not pressing.action.picked:
        return Ignored(reason="nothing-picked")
    return _answer(pressing, pressing.action.picked, TriggerKind.REPLY)


def _answer(pressing: Pressing, request: str, kind: TriggerKind) -> Reading:
    if pressing.thread is None:
        return Ignored(reason="no-thread")
    # Only the time tells the second press from the first.
    stamp = pressing.action.action_ts or pressing.interaction.trigger_id
    return ask(
        pressing.origin,
        pressing.thread,
        f"press:{pressing.interaction.user.id}:{stamp}",
        pressing.actor,
        request=request,
        kind=kind,
    )
