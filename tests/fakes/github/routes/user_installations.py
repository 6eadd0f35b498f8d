"""REST: what a person reaches through an App, or by themselves."""

from tests.fakes.github.access import NOBODY
from tests.fakes.github.call import Call, Route, page_links, page_span, paged
from tests.fakes.github.exchange import Answer, RefusedError, not_found
from tests.fakes.github.render.apps import installation_json
from tests.fakes.github.render.repositories import repository_json
from tests.fakes.github.state import Installation, Repo, Role


def list_installations(call: Call) -> Answer:
    shown = [installation_json(call.world, one) for one in _installations(call)]
    return _counted(call, "installations", shown)


def list_repositories(call: Call) -> Answer:
    wanted = call.number("installation_id")
    for installation in _installations(call):
        if installation.id == wanted:
            repos = _shared(call, installation)
            shown = [repository_json(call.world, repo) for repo in repos]
            return _counted(call, "repositories", shown)
    raise not_found()


def list_own_repositories(call: Call) -> Answer:
    login = call.actor()
    repos = sorted(call.world.repos.values(), key=lambda repo: repo.full_name)
    theirs = [repo for repo in repos if _is_granted(repo, login)]
    return paged(call, [repository_json(call.world, repo) for repo in theirs])


def _installations(call: Call) -> list[Installation]:
    app = call.caller.app
    if app is None:
        problem = (
            "You must authenticate with an access token authorized to a GitHub App "
            "in order to list installations"
        )
        raise RefusedError(403, problem)
    return [
        installation
        for installation in call.world.installations.values()
        if installation.app_id == app.id and _shared(call, installation)
    ]


def _shared(call: Call, installation: Installation) -> list[Repo]:
    """Return what both the App and the person were let into, by name."""
    login = call.actor()
    repos = [call.world.repo(name) for name in sorted(installation.repositories)]
    return [repo for repo in repos if _is_granted(repo, login)]


def _is_granted(repo: Repo, login: str) -> bool:
    # That everybody may read it is not enough.
    granted = repo.grants.get(login.lower(), NOBODY)
    return granted.role >= Role.READ or repo.owner.lower() == login.lower()


def _counted(call: Call, name: str, items: list[dict[str, object]]) -> Answer:
    page, size = page_span(call)
    body = {
        "total_count": len(items),
        name: items[(page - 1) * size : page * size],
    }
    return Answer(status=200, body=body, headers=page_links(call, len(items)))


INSTALLATIONS = "/user/installations"
ROUTES = (
    Route("GET", INSTALLATIONS, list_installations),
    Route(
        "GET", f"{INSTALLATIONS}/{{installation_id}}/repositories", list_repositories
    ),
    Route("GET", "/user/repos", list_own_repositories),
)
