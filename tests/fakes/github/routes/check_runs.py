"""REST: what Apps report about commits."""

from tests.fakes.github import bare
from tests.fakes.github.access import Need
from tests.fakes.github.acts.checks import begin_check, change_check, checks_on
from tests.fakes.github.call import Call, Route, page_links, page_span
from tests.fakes.github.check_state import CheckRun
from tests.fakes.github.exchange import Answer, RefusedError, not_found
from tests.fakes.github.render.checks import check_run_json
from tests.fakes.github.state import Repo, Role

READ_CHECKS = Need(("checks",), "read", Role.READ)
WRITE_CHECKS = Need(("checks",), "write", Role.WRITE)


def list_checks(call: Call) -> Answer:
    """List the runs of a commit; by default only the newest of each name."""
    repo = call.repo(READ_CHECKS)
    sha = bare.find_commit(repo.git, call.args["ref"])
    if sha is None:
        raise RefusedError(422, f"No commit found for SHA: {call.args['ref']}")
    query = call.request.query
    runs = [
        run
        for run in checks_on(call.world, repo.full_name, sha)
        if query.get("check_name") in (None, run.name)
    ]
    if query.get("filter", "latest") == "latest":
        runs = list({(run.name, run.app_slug): run for run in runs}.values())
    page, size = page_span(call)
    part = runs[(page - 1) * size : page * size]
    body = {
        "total_count": len(runs),
        "check_runs": [check_run_json(call.world, run) for run in part],
    }
    return Answer(status=200, body=body, headers=page_links(call, len(runs)))


def create_check(call: Call) -> Answer:
    repo, slug = _as_app(call)
    wanted = call.request.json()
    if bare.find_commit(repo.git, str(wanted.get("head_sha", ""))) is None:
        raise RefusedError(422, f"No commit found for SHA: {wanted.get('head_sha')}")
    run = begin_check(call.world, repo, slug, wanted)
    return Answer(status=201, body=check_run_json(call.world, run))


def show_check(call: Call) -> Answer:
    run = _run(call, call.repo(READ_CHECKS))
    return Answer(status=200, body=check_run_json(call.world, run))


def update_check(call: Call) -> Answer:
    repo, slug = _as_app(call)
    run = _run(call, repo)
    if run.app_slug != slug:
        raise RefusedError(403, "Invalid app_id - check run can only be modified")
    changed = change_check(call.world, run, call.request.json())
    return Answer(status=200, body=check_run_json(call.world, changed))


def _as_app(call: Call) -> tuple[Repo, str]:
    """Let in installations of Apps, and nobody else.

    https://docs.github.com/rest/checks/runs#create-a-check-run
    """
    call.repo()
    slug = call.app_slug()
    if slug is None:
        raise RefusedError(403, "You must authenticate via a GitHub App.")
    return call.repo(WRITE_CHECKS), slug


def _run(call: Call, repo: Repo) -> CheckRun:
    run = call.world.check_runs.get(call.number("check_run_id"))
    if run is None or run.repo != repo.full_name:
        raise not_found()
    return run


CHECK = "/repos/{owner}/{repo}/check-runs/{check_run_id}"
ROUTES = (
    Route("POST", "/repos/{owner}/{repo}/check-runs", create_check),
    Route("GET", CHECK, show_check),
    Route("PATCH", CHECK, update_check),
    Route("GET", "/repos/{owner}/{repo}/commits/{ref}/check-runs", list_checks),
)
