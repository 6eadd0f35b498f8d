"""Apps, installations and their tokens as GitHub's JSON shows them."""

from tests.fakes.github.exchange import Json
from tests.fakes.github.render.repositories import repository_json
from tests.fakes.github.render.users import instant, user_json
from tests.fakes.github.state import App, Installation, Token, World

EVENTS = ("issue_comment", "issues", "pull_request")


def app_json(world: World, app: App) -> Json:
    return {
        "id": app.id,
        "slug": app.slug,
        "node_id": f"A_{app.id}",
        "owner": user_json(world, world.user(app.owner)),
        "name": app.slug,
        "description": "",
        "external_url": f"{world.web_url}/{app.slug}",
        "html_url": f"{world.web_url}/{_folder(world)}/{app.slug}",
        "created_at": instant(app.created_at),
        "updated_at": instant(app.created_at),
        "permissions": dict(app.permissions),
        "events": sorted(world.registry.events.get(app.id, EVENTS)),
    }


def _folder(world: World) -> str:
    # https://docs.github.com/en/enterprise-server@latest/apps/sharing-github-apps/sharing-your-github-app
    return "github-apps" if world.enterprise else "apps"


def maker_json(world: World, slug: str | None) -> Json | None:
    """Return the App that wrote a text, or None where a person did."""
    if slug is None:
        return None
    return next(app_json(world, a) for a in world.apps.values() if a.slug == slug)


def installation_json(world: World, installation: Installation) -> Json:
    app = world.apps[installation.app_id]
    account = world.user(installation.account)
    url = f"{world.api_url}/app/installations/{installation.id}"
    suspended = installation.suspended_at
    return {
        "id": installation.id,
        "account": user_json(world, account),
        "repository_selection": "selected",
        "access_tokens_url": f"{url}/access_tokens",
        "repositories_url": f"{world.api_url}/installation/repositories",
        "html_url": f"{world.web_url}/settings/installations/{installation.id}",
        "app_id": app.id,
        "app_slug": app.slug,
        "target_id": account.id,
        "target_type": account.kind.value,
        "permissions": dict(installation.permissions),
        "events": sorted(world.registry.events.get(app.id, EVENTS)),
        "created_at": instant(installation.created_at),
        "updated_at": instant(installation.created_at),
        "single_file_name": None,
        "suspended_by": None,
        "suspended_at": None if suspended is None else instant(suspended),
    }


def installation_token_json(world: World, token: Token, *, narrowed: bool) -> Json:
    """Return a new token; repositories are listed where it was asked for some."""
    shown: Json = {
        "token": token.value,
        "expires_at": instant(token.expires_at or world.clock.now()),
        "permissions": dict(token.permissions),
        "repository_selection": "selected",
    }
    if narrowed:
        names = sorted(token.repositories or ())
        shown["repositories"] = [repository_json(world, world.repo(n)) for n in names]
    return shown
