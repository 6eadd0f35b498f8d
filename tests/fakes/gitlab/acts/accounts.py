"""People, groups, and the tokens that stand for them."""

import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

from tests.fakes.gitlab.state import (
    Group,
    Level,
    Project,
    Token,
    TokenKind,
    User,
    World,
)

PREFIX = "glpat-"
TOKEN_LIFE = timedelta(days=365)


def add_user(
    world: World,
    username: str,
    *,
    name: str = "",
    is_bot: bool = False,
    is_admin: bool = False,
    is_external: bool = False,
) -> User:
    """Return the account of that name, which is made where there is none."""
    known = world.find_user(username)
    if known is not None:
        return known
    user = User(
        id=world.next_id(),
        username=username,
        name=name or username.replace("-", " ").replace("_", " ").title(),
        created_at=world.clock.now(),
        is_bot=is_bot,
        is_admin=is_admin,
        is_external=is_external,
    )
    world.users[user.id] = user
    return user


def block(world: World, username: str) -> None:
    user = world.user(username)
    world.users[user.id] = replace(user, state="blocked")


def add_group(world: World, path: str) -> Group:
    """Return the group, which is made with all above it where there is none."""
    above = path.rpartition("/")[0]
    if above:
        add_group(world, above)
    known = world.groups.get(path.lower())
    return known or _put_group(world, Group(id=world.next_id(), path=path))


def join_group(world: World, path: str, username: str, level: Level) -> None:
    """Make somebody a member, which holds for all that lies within."""
    group = add_group(world, path)
    members = {**group.members, world.user(username).id: level}
    _put_group(world, replace(group, members=members))


def join_project(world: World, project: Project, username: str, level: Level) -> None:
    members = {**project.members, world.user(username).id: level}
    world.put_project(replace(project, members=members))


def leave_project(world: World, project: Project, username: str) -> None:
    left = world.user(username).id
    members = {who: level for who, level in project.members.items() if who != left}
    world.put_project(replace(project, members=members))


def share(world: World, project: Project, group: str, level: Level) -> None:
    """Let the members of a group in, at most at this level."""
    add_group(world, group)
    world.put_project(replace(project, shared={**project.shared, group: level}))


def mint_token(
    world: World,
    user: User,
    *,
    scopes: Sequence[str] = ("api",),
    kind: TokenKind = TokenKind.PERSONAL,
    name: str = "token",
    expires_on: date | None = None,
) -> Token:
    """Return a new token; as on the real one, each ends some day."""
    value = f"{PREFIX}{secrets.token_urlsafe(20)}"
    token = Token(
        id=world.next_id(),
        value=value,
        kind=kind,
        user=user.id,
        name=name,
        scopes=tuple(scopes),
        created_at=world.clock.now(),
        expires_on=expires_on or world.clock.now().date() + TOKEN_LIFE,
    )
    world.tokens[value] = token
    return token


def mint_project_token(
    world: World, project: Project, level: Level, scopes: Sequence[str], name: str
) -> Token:
    """Return a token of a bot user that is a member of this project alone.

    https://docs.gitlab.com/user/project/settings/project_access_tokens/
    """
    bot = _add_bot(world, f"project_{project.id}_bot", name)
    join_project(world, world.projects[project.id], bot.username, level)
    return mint_token(world, bot, scopes=scopes, kind=TokenKind.PROJECT, name=name)


def mint_group_token(
    world: World, path: str, level: Level, scopes: Sequence[str], name: str
) -> Token:
    group = add_group(world, path)
    bot = _add_bot(world, f"group_{group.id}_bot", name)
    join_group(world, path, bot.username, level)
    return mint_token(world, bot, scopes=scopes, kind=TokenKind.GROUP, name=name)


def revoke(world: World, value: str) -> None:
    world.tokens[value] = replace(world.tokens[value], revoked=True)


def _add_bot(world: World, prefix: str, name: str) -> User:
    username = f"{prefix}_{secrets.token_hex(16)}"
    return add_user(world, username, name=name, is_bot=True)


def _put_group(world: World, group: Group) -> Group:
    world.groups[group.path.lower()] = group
    return group
