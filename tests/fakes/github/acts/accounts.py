"""People, Apps and the tokens they hold."""

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.fakes.github.exchange import Json, RefusedError
from tests.fakes.github.state import (
    AccountKind,
    App,
    Installation,
    Token,
    TokenKind,
    User,
    World,
)

ACTIONS_LOGIN = "github-actions[bot]"
DEFAULT_PERMISSIONS = {
    "actions": "read",
    "checks": "write",
    "contents": "write",
    "issues": "write",
    "metadata": "read",
    "pull_requests": "write",
    "statuses": "read",
}


def ensure_account(world: World, login: str, kind: AccountKind) -> User:
    """Return the account, made now if there was none."""
    known = world.users.get(login.lower())
    if known is not None:
        return known
    user = User(
        id=world.next_id(), login=login, kind=kind, created_at=world.clock.now()
    )
    world.users[login.lower()] = user
    return user


def add_user(world: World, login: str, *, bot: bool) -> str:
    """Make an account, unless there is one, and return a new token of it."""
    ensure_account(world, login, AccountKind.BOT if bot else AccountKind.USER)
    return mint_personal_token(world, login)


def mint_personal_token(world: World, login: str, *, prefix: str = "ghp_") -> str:
    value = f"{prefix}{secrets.token_hex(18)}"
    world.tokens[value] = Token(value=value, kind=TokenKind.PERSONAL, owner=login)
    return value


def mint_actions_token(
    world: World, full_name: str, permissions: Mapping[str, str]
) -> str:
    """Return what a workflow of that repository finds as GITHUB_TOKEN."""
    ensure_account(world, ACTIONS_LOGIN, AccountKind.BOT)
    value = f"ghs_{secrets.token_hex(18)}"
    world.tokens[value] = Token(
        value=value,
        kind=TokenKind.ACTIONS,
        owner=ACTIONS_LOGIN,
        expires_at=world.clock.now() + world.token_life,
        repositories=frozenset({full_name.lower()}),
        permissions={"metadata": "read", **permissions},
    )
    return value


def expire_token(world: World, value: str) -> None:
    token = world.tokens[value]
    world.tokens[value] = replace(token, expires_at=world.clock.now())


def add_app(
    world: World,
    app_id: int,
    slug: str,
    webhook_secret: str,
    permissions: Mapping[str, str] | None,
) -> str:
    """Register an App with its bot account and return its private key, as PEM."""
    private, public = _key_pair(app_id)
    app = App(
        id=app_id,
        slug=slug,
        owner=ensure_account(world, "app-maker", AccountKind.ORGANIZATION).login,
        webhook_secret=webhook_secret,
        public_key=public,
        permissions={"metadata": "read", **(permissions or DEFAULT_PERMISSIONS)},
        created_at=world.clock.now(),
    )
    world.apps[app_id] = app
    ensure_account(world, app.bot_login, AccountKind.BOT)
    return private


def install_app(
    world: World, app_id: int, account: str, repositories: Iterable[str]
) -> Installation:
    owner = ensure_account(world, account, AccountKind.ORGANIZATION)
    installation = Installation(
        id=world.next_id(),
        app_id=app_id,
        account=owner.login,
        repositories=frozenset(_full_name(account, r) for r in repositories),
        permissions=world.apps[app_id].permissions,
        created_at=world.clock.now(),
    )
    world.installations[installation.id] = installation
    return installation


def suspend(world: World, installation_id: int) -> None:
    installation = world.installations[installation_id]
    now = world.clock.now()
    world.installations[installation_id] = replace(installation, suspended_at=now)


def mint_installation_token(
    world: World,
    installation: Installation,
    repositories: frozenset[str] | None,
    permissions: Mapping[str, str] | None,
) -> Token:
    """Make a token of one hour, for all of the installation or a part of it.

    Asking for more than the installation has is refused with a 422.
    """
    if repositories is not None and not repositories <= installation.repositories:
        raise RefusedError(
            422,
            "There is at least one repository that does not exist or is not "
            "accessible to the parent installation.",
            [],
        )
    if permissions is not None and not permissions.items() <= _within(installation):
        raise RefusedError(
            422,
            "The permissions requested are not granted to this installation.",
            [],
        )
    token = Token(
        value=f"ghs_{secrets.token_hex(18)}",
        kind=TokenKind.INSTALLATION,
        owner=world.apps[installation.app_id].bot_login,
        expires_at=world.clock.now() + world.token_life,
        app_id=installation.app_id,
        installation_id=installation.id,
        repositories=installation.repositories
        if repositories is None
        else repositories,
        permissions={"metadata": "read", **(permissions or installation.permissions)},
    )
    world.tokens[token.value] = token
    return token


def named_repositories(
    world: World, installation: Installation, wanted: Json
) -> frozenset[str] | None:
    """Read which repositories a token is asked for; None where none are named."""
    names = wanted.get("repositories")
    ids = wanted.get("repository_ids")
    if names is None and ids is None:
        return None
    by_id = {repo.id: repo.full_name.lower() for repo in world.repos.values()}
    named = {_full_name(installation.account, name) for name in names or []}
    return frozenset(named | {by_id.get(number, "?") for number in ids or []})


def _within(installation: Installation) -> set[tuple[str, str]]:
    """Return every permission that is no more than what the installation holds."""
    levels = ("read", "write", "admin")
    return {
        (name, level)
        for name, held in installation.permissions.items()
        for level in levels[: levels.index(held) + 1]
    }


def _full_name(account: str, repository: str) -> str:
    """Return `owner/name` in lower case, from a bare name or a full one."""
    return (repository if "/" in repository else f"{account}/{repository}").lower()


@cache
def _key_pair(app_id: int) -> tuple[str, str]:
    """Return a private and public key; kept per App, because making one is slow."""
    del app_id
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return private.decode(), public.decode()
