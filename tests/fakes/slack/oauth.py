"""The web flow by which workspaces install the app.

https://docs.slack.dev/authentication/installing-with-oauth
"""

import base64
import hmac
from collections.abc import Mapping
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.fakes.slack.acts.places import install
from tests.fakes.slack.call import RefusedError
from tests.fakes.slack.state import Grant, Json, World


def approve(world: World, address: str, user: str, team: str, *, for_all: bool) -> str:
    """Agree, as that person, to what the address asks for; return the way back."""
    asked = {
        key: values[0] for key, values in parse_qs(urlsplit(address).query).items()
    }
    if asked["client_id"] != world.app.client_id:
        raise ValueError("Slack shows an error: Invalid client_id parameter")
    if asked["redirect_uri"] not in world.app.redirect_uris:
        raise ValueError("Slack shows an error: redirect_uri did not match")
    scopes = frozenset(asked["scope"].split(","))
    if not scopes <= world.app.scopes:
        raise ValueError("Slack shows an error: Invalid permissions requested")
    installation = install(world, team, scopes=scopes, for_all=for_all)
    code = f"code-{world.new_id('G')}"
    world.grants[code] = Grant(
        installation=installation,
        redirect_uri=asked["redirect_uri"],
        installed_by=user,
    )
    query = urlencode({"code": code, "state": asked["state"]})
    return f"{asked['redirect_uri']}?{query}"


def access(world: World, headers: Mapping[str, str], args: Json) -> Json:
    """Exchange a code, once, for a token."""
    wanted = f"{world.app.client_id}:{world.app.client_secret}"
    shown = headers.get("authorization", "").removeprefix("Basic ")
    expected = base64.b64encode(wanted.encode()).decode()
    if not hmac.compare_digest(shown, expected):
        raise RefusedError("bad_client_secret")
    grant = world.grants.pop(str(args.get("code")), None)
    if grant is None:
        raise RefusedError("invalid_code")
    if args.get("redirect_uri") != grant.redirect_uri:
        raise RefusedError("bad_redirect_uri")
    return {"ok": True, **_access(world, grant)}


def _access(world: World, grant: Grant) -> Json:
    one = grant.installation
    team = world.workspaces.get(one.team)
    enterprise = {"id": one.enterprise, "name": "Org"} if one.enterprise else None
    return {
        "app_id": world.app.id,
        "authed_user": {"id": grant.installed_by},
        "scope": ",".join(sorted(one.scopes)),
        "token_type": "bot",
        "access_token": one.token,
        "bot_user_id": one.bot_user,
        "team": {"id": team.id, "name": team.name} if team else None,
        "enterprise": enterprise,
        "is_enterprise_install": one.is_for_all,
    }
