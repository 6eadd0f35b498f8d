"""Accounts as GitHub's JSON shows them."""

from datetime import datetime

from tests.fakes.github.exchange import Json
from tests.fakes.github.state import AccountKind, User, World

LINKS = {
    "followers_url": "/followers",
    "following_url": "/following{/other_user}",
    "gists_url": "/gists{/gist_id}",
    "starred_url": "/starred{/owner}{/repo}",
    "subscriptions_url": "/subscriptions",
    "organizations_url": "/orgs",
    "repos_url": "/repos",
    "events_url": "/events{/privacy}",
    "received_events_url": "/received_events",
}


def instant(at: datetime) -> str:
    """Return a time as GitHub writes it: UTC, whole seconds."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def user_json(world: World, user: User) -> Json:
    # The brackets of a bot's login are no URL characters.
    path = user.login.replace("[", "%5B").replace("]", "%5D")
    url = f"{world.api_url}/users/{path}"
    page = f"apps/{user.login.removesuffix('[bot]')}"
    return {
        "login": user.login,
        "id": user.id,
        "node_id": f"U_{user.id}",
        "avatar_url": f"{world.web_url}/avatars/u/{user.id}",
        "gravatar_id": "",
        "url": url,
        "html_url": f"{world.web_url}/{page if _is_bot(user) else path}",
        **{name: url + suffix for name, suffix in LINKS.items()},
        "type": user.kind.value,
        "site_admin": False,
    }


def profile_json(world: World, user: User) -> Json:
    """Return what anybody sees who opens the account."""
    unknown = ("company", "blog", "location", "email", "hireable", "bio")
    counts = ("public_repos", "public_gists", "followers", "following")
    return {
        **user_json(world, user),
        "name": user.login,
        **dict.fromkeys(unknown),
        **dict.fromkeys(counts, 0),
        "created_at": instant(user.created_at),
        "updated_at": instant(user.created_at),
        "user_view_type": "public",
    }


def _is_bot(user: User) -> bool:
    return user.kind is AccountKind.BOT
