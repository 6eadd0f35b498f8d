"""What people write in channels, and what Slack tells the app of it."""

from dataclasses import dataclass

from tests.fakes.slack.render import events
from tests.fakes.slack.state import Channel, File, Installation, Json, Message, World


@dataclass(frozen=True, kw_only=True)
class Said:
    """What somebody says; `thread_ts` is the message that it answers."""

    user: str
    text: str
    thread_ts: str = ""
    subtype: str = ""
    files: tuple[File, ...] = ()
    blocks: tuple[Json, ...] = ()
    attachments: tuple[Json, ...] = ()


def say(world: World, channel: Channel, said: Said) -> tuple[Message, list[Json]]:
    """Post as a person; return the message, and the events of it."""
    if said.user not in channel.members:
        raise ValueError(f"{said.user} is not in {channel.id}")
    message = Message(
        channel=channel.id,
        ts=world.new_ts(),
        user=said.user,
        text=said.text,
        team=world.people[said.user].team,
        thread_ts=said.thread_ts,
        subtype="file_share" if said.files else said.subtype,
        files=said.files,
        blocks=said.blocks,
        attachments=said.attachments,
    )
    _begin_thread(world, channel, said.thread_ts)
    world.messages[channel.id, message.ts] = message
    return message, _events_of(world, channel, message)


def edit(world: World, old: Message, text: str) -> tuple[Message, list[Json]]:
    """Change a message as its author; a call that is new is told as one."""
    channel = world.channels[old.channel]
    new = world.change(old, text=text, edited_ts=world.new_ts())
    bot = listening(world, channel)
    if bot is None:
        return new, []
    told = [events.changed(world, channel, old, new)]
    if calls(new, bot) and not calls(old, bot) and channel.kind != "im":
        told.append(events.mentioned(world, channel, new))
    return new, _wrapped(world, bot, told, channel)


def unfurl(world: World, old: Message, url: str) -> list[Json]:
    """Show a preview of a link, as Slack does by itself some moments later."""
    channel = world.channels[old.channel]
    preview: Json = {"from_url": url, "title": "A page", "text": "What it says"}
    new = world.change(old, attachments=(*old.attachments, preview))
    bot = listening(world, channel)
    if bot is None:
        return []
    return _wrapped(world, bot, [events.changed(world, channel, old, new)], channel)


def delete(world: World, old: Message) -> list[Json]:
    """Delete it; a root with replies stays as a tombstone."""
    channel = world.channels[old.channel]
    if len(world.in_thread(old.channel, old.ts)) > 1:
        world.change(
            old,
            subtype="tombstone",
            user="USLACKBOT",
            text="This message was deleted.",
            files=(),
        )
    else:
        del world.messages[old.channel, old.ts]
    bot = listening(world, channel)
    if bot is None:
        return []
    return _wrapped(world, bot, [events.deleted(world, channel, old)], channel)


def react(world: World, message: Message, user: str, name: str) -> list[Json]:
    given = world.reactions.setdefault((message.channel, message.ts), [])
    given.append((user, name))
    channel = world.channels[message.channel]
    bot = listening(world, channel)
    if bot is None:
        return []
    told = [events.reacted(world, message, user, name)]
    return _wrapped(world, bot, told, channel)


def listening(world: World, channel: Channel) -> Installation | None:
    """Return the app where it is a member, and hears what is said."""
    teams = (channel.team, *sorted(channel.shared_with))
    for bot in filter(None, map(world.bot_of, teams)):
        if bot.bot_user in channel.members:
            return bot
    return None


def calls(message: Message, bot: Installation) -> bool:
    return f"<@{bot.bot_user}>" in message.text


def _events_of(world: World, channel: Channel, message: Message) -> list[Json]:
    bot = listening(world, channel)
    if bot is None:
        return []
    told = [events.posted(world, channel, message)]
    # In a direct message nobody need be called; and what is said beside a file may be
    # told as a file that was shared, and no more.
    if calls(message, bot) and channel.kind != "im" and not message.files:
        told.append(events.mentioned(world, channel, message))
    return _wrapped(world, bot, told, channel)


def _wrapped(
    world: World, bot: Installation, told: list[Json], channel: Channel
) -> list[Json]:
    return [events.wrapped(world, bot, event, channel) for event in told]


def _begin_thread(world: World, channel: Channel, ts: str) -> None:
    if not ts:
        return
    root = world.messages[channel.id, ts]
    if root.is_reply:
        raise ValueError("Slack's threads have no threads of their own")
    world.change(root, thread_ts=ts)
