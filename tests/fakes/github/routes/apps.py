"""REST: Apps in their own name, and what their installations may reach."""

from tests.fakes.github.access import visible_repo
from tests.fakes.github.acts.accounts import (
    mint_installation_token,
    named_repositories,
)
from tests.fakes.github.auth import CallerKind
from tests.fakes.github.call import Call, Route, page_links, page_span, paged
from tests.fakes.github.exchange import Answer, RefusedError, not_found
from tests.fakes.github.render.apps import (
    app_json,
    installation_json,
    installation_token_json,
)
from tests.fakes.github.render.repositories import repository_json
from tests.fakes.github.state import Installation


def show_app(call: Call) -> Answer:
    return Answer(status=200, body=app_json(call.world, call.app()))


def list_installations(call: Call) -> Answer:
    found = [installation_json(call.world, one) for one in _installations(call)]
    return paged(call, found)


def show_installation(call: Call) -> Answer:
    return Answer(status=200, body=installation_json(call.world, _own(call)))


def show_repository_installation(call: Call) -> Answer:
    full_name = f"{call.args['owner']}/{call.args['repo']}".lower()
    for installation in _installations(call):
        if full_name in installation.repositories:
            body = installation_json(call.world, installation)
            return Answer(status=200, body=body)
    raise not_found()


def make_token(call: Call) -> Answer:
    installation = _own(call)
    if installation.suspended_at is not None:
        raise RefusedError(403, "This installation has been suspended")
    wanted = call.request.json()
    chosen = named_repositories(call.world, installation, wanted)
    token = mint_installation_token(
        call.world, installation, chosen, wanted.get("permissions")
    )
    body = installation_token_json(call.world, token, narrowed=chosen is not None)
    return Answer(status=201, body=body)


def list_repositories(call: Call) -> Answer:
    token = call.caller.token
    if call.caller.kind is not CallerKind.INSTALLATION or token is None:
        raise RefusedError(403, "This endpoint needs an installation access token")
    names = sorted(token.repositories or ())
    repos = [visible_repo(call.world, call.caller, name) for name in names]
    page, size = page_span(call)
    shown = repos[(page - 1) * size : page * size]
    body = {
        "total_count": len(repos),
        "repository_selection": "selected",
        "repositories": [repository_json(call.world, repo) for repo in shown],
    }
    return Answer(status=200, body=body, headers=page_links(call, len(repos)))


def _installations(call: Call) -> list[Installation]:
    app = call.app()
    return [i for i in call.world.installations.values() if i.app_id == app.id]


def _own(call: Call) -> Installation:
    wanted = call.number("installation_id")
    for installation in _installations(call):
        if installation.id == wanted:
            return installation
    raise not_found()


INSTALLATION = "/app/installations/{installation_id}"
ROUTES = (
    Route("GET", "/app", show_app),
    Route("GET", "/app/installations", list_installations),
    Route("GET", INSTALLATION, show_installation),
    Route("POST", f"{INSTALLATION}/access_tokens", make_token),
    Route("GET", "/repos/{owner}/{repo}/installation", show_repository_installation),
    Route("GET", "/installation/repositories", list_repositories),
)
