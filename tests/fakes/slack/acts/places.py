"""Workspaces, people, channels, and the app's being there."""

from dataclasses import replace

from tests.fakes.slack.state import (
    Channel,
    Installation,
    Kind,
    Person,
    Workspace,
    World,
)

BOT_NAME = "patchwright"


def add_workspace(world: World, name: str, enterprise: str) -> Workspace:
    workspace = Workspace(id=world.new_id("T"), name=name, enterprise=enterprise)
    world.workspaces[workspace.id] = workspace
    return workspace


def add_person(world: World, team: str, name: str, display_name: str) -> Person:
    person = Person(
        id=world.new_id("U"), name=name, display_name=display_name, team=team
    )
    world.people[person.id] = person
    return person


def install(
    world: World, team: str, *, scopes: frozenset[str], for_all: bool
) -> Installation:
    """Give the app a token, in place of the one it had there."""
    workspace = world.workspaces[team]
    before = world.bot_of(team)
    if before is not None:
        del world.installations[before.token]
    bot = _bot(world, team, before)
    installed = Installation(
        token=f"xoxb-{world.new_id('token')}",
        team="" if for_all else team,
        enterprise=workspace.enterprise,
        is_for_all=for_all,
        bot_user=bot.id,
        bot_id=bot.bot_id,
        scopes=scopes,
    )
    world.installations[installed.token] = installed
    return installed


def _bot(world: World, team: str, before: Installation | None) -> Person:
    if before is not None:
        return world.people[before.bot_user]
    bot = Person(
        id=world.new_id("U"),
        name=BOT_NAME,
        display_name="Patchwright",
        team=team,
        bot_id=world.new_id("B"),
    )
    world.people[bot.id] = bot
    return bot


def add_channel(world: World, channel: Channel) -> Channel:
    world.channels[channel.id] = channel
    return channel


def join(world: World, channel: Channel, user: str) -> None:
    members = channel.members | {user}
    world.channels[channel.id] = replace(channel, members=members)


def leave(world: World, channel: Channel, user: str) -> None:
    members = channel.members - {user}
    world.channels[channel.id] = replace(channel, members=members)


def open_direct(world: World, bot: Installation, user: str) -> Channel:
    """Return the one talk between a person and the app."""
    members = frozenset({bot.bot_user, user})
    for channel in world.channels.values():
        if channel.kind is Kind.DIRECT and channel.members == members:
            return channel
    team = world.people[user].team
    direct = Channel(
        id=world.new_id("D"), name="", kind=Kind.DIRECT, team=team, members=members
    )
    return add_channel(world, direct)
