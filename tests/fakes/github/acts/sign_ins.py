"""Somebody at a browser lets an App know who they are."""

import base64
import hashlib
import secrets
from dataclasses import dataclass, replace
from datetime import timedelta

from tests.fakes.github.acts.accounts import mint_personal_token
from tests.fakes.github.exchange import Json, not_found
from tests.fakes.github.registry_state import Approval, Registration, Renewal
from tests.fakes.github.state import World

# https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
CODE_LIFE = timedelta(minutes=10)
# https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/refreshing-user-access-tokens
TOKEN_LIFE = timedelta(hours=8)
REFRESH_LIFE = timedelta(days=183)


@dataclass(frozen=True)
class Wish:
    """What an App sends along with somebody."""

    client_id: str
    redirect_uri: str
    challenge: str
    method: str


@dataclass(frozen=True)
class Exchange:
    """What an App hands in to learn who it was."""

    client_id: str
    client_secret: str
    code: str
    redirect_uri: str
    verifier: str


@dataclass(frozen=True)
class Sent:
    """Where the browser goes, and with what: a code or an error."""

    address: str
    answer: dict[str, str]


def sit_down(world: World, login: str) -> None:
    """Let that person use the browser; '' says no to every App."""
    world.registry.at_the_browser = login


def approve(world: World, wish: Wish) -> Sent:
    client = world.registry.find_client(wish.client_id)
    if client is None:
        raise not_found()
    if wish.redirect_uri not in client.callback_urls:
        return Sent(client.callback_urls[0], {"error": "redirect_uri_mismatch"})
    # Only S256 is accepted.
    # https://github.blog/changelog/2025-07-14-pkce-support-for-oauth-and-github-app-authentication
    if wish.challenge and wish.method != "S256":
        return Sent(wish.redirect_uri, {"error": "invalid_request"})
    if not world.registry.at_the_browser:
        return Sent(wish.redirect_uri, {"error": "access_denied"})
    code = secrets.token_hex(10)
    world.registry.approvals[code] = Approval(
        client_id=wish.client_id,
        login=world.registry.at_the_browser,
        redirect_uri=wish.redirect_uri,
        challenge=wish.challenge,
        expires_at=world.clock.now() + CODE_LIFE,
    )
    return Sent(wish.redirect_uri, {"code": code})


def exchange(world: World, wanted: Exchange) -> Json:
    """Return a token of that person, or the error that GitHub answers instead."""
    client = world.registry.find_client(wanted.client_id)
    if client is None or client.client_secret != wanted.client_secret:
        return {"error": "incorrect_client_credentials"}
    approval = world.registry.approvals.pop(wanted.code, None)
    if approval is None or not _fits(approval, wanted, world):
        return {"error": "bad_verification_code"}
    return _mint(world, client, approval.login)


def renew(world: World, client_id: str, client_secret: str, old: str) -> Json:
    """Return new tokens for a refresh token, which counts once."""
    client = world.registry.find_client(client_id)
    if client is None or client.client_secret != client_secret:
        return {"error": "incorrect_client_credentials"}
    renewal = world.registry.renewals.pop(old, None)
    if (
        renewal is None
        or renewal.client_id != client_id
        or renewal.expires_at <= world.clock.now()
    ):
        return {"error": "bad_refresh_token"}
    world.tokens.pop(renewal.token, None)
    return _mint(world, client, renewal.login)


def revoke_grants(world: World, app_id: int, login: str) -> None:
    """Let a person take back, in their settings, what they let an App do."""
    with world.lock:
        registry = world.registry
        client = registry.registrations[app_id]
        for value, renewal in list(registry.renewals.items()):
            if renewal.client_id == client.client_id and renewal.login == login:
                del registry.renewals[value]
                world.tokens.pop(renewal.token, None)


def _mint(world: World, client: Registration, login: str) -> Json:
    if client.app_id in world.registry.oauth_apps:
        token = mint_personal_token(world, login, prefix="gho_")
        return {"access_token": token, "token_type": "bearer", "scope": "repo"}
    token = mint_personal_token(world, login, prefix="ghu_")
    now = world.clock.now()
    world.tokens[token] = replace(
        world.tokens[token], app_id=client.app_id, expires_at=now + TOKEN_LIFE
    )
    refresh_token = f"ghr_{secrets.token_hex(38)}"
    world.registry.renewals[refresh_token] = Renewal(
        client_id=client.client_id,
        login=login,
        token=token,
        expires_at=now + REFRESH_LIFE,
    )
    return {
        "access_token": token,
        "expires_in": int(TOKEN_LIFE.total_seconds()),
        "refresh_token": refresh_token,
        "refresh_token_expires_in": int(REFRESH_LIFE.total_seconds()),
        "token_type": "bearer",
        "scope": "",
    }


def _fits(approval: Approval, wanted: Exchange, world: World) -> bool:
    return (
        approval.expires_at > world.clock.now()
        and approval.client_id == wanted.client_id
        and approval.redirect_uri == wanted.redirect_uri
        and (not approval.challenge or approval.challenge == _of(wanted.verifier))
    )


def _of(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
