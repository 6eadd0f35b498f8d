"""REST: the logs of jobs, the annotations of checks, and the statuses of commits."""

from tests.fakes.github import bare
from tests.fakes.github.access import Need
from tests.fakes.github.call import Call, Route, page_links, page_span, paged
from tests.fakes.github.ci_state import Annotation, Status
from tests.fakes.github.exchange import Answer, Json, RefusedError, not_found
from tests.fakes.github.log_store import log_address
from tests.fakes.github.render.repositories import api_path, repository_json
from tests.fakes.github.render.users import instant
from tests.fakes.github.routes.check_runs import CHECK, READ_CHECKS
from tests.fakes.github.state import Role

READ_ACTIONS = Need(("actions",), "read", Role.READ)
READ_STATUSES = Need(("statuses",), "read", Role.READ)


def show_log(call: Call) -> Answer:
    """Send to where the log lies; the address is signed and good for a minute.

    https://docs.github.com/rest/actions/workflow-jobs#download-job-logs-for-a-workflow-run
    """
    call.repo(READ_ACTIONS)
    job = call.number("job_id")
    if job not in call.world.builds.logs:
        raise not_found()
    return Answer(status=302, headers={"Location": log_address(call.world, job)})


def list_annotations(call: Call) -> Answer:
    call.repo(READ_CHECKS)
    found = call.world.builds.annotations.get(call.number("check_run_id"), ())
    return paged(call, [_annotation(one) for one in found])


def show_status(call: Call) -> Answer:
    """Show the newest status of each context, and what they amount to."""
    repo = call.repo(READ_STATUSES)
    sha = bare.find_commit(repo.git, call.args["ref"])
    if sha is None:
        raise RefusedError(422, f"No commit found for SHA: {call.args['ref']}")
    newest = {
        status.context: status
        for status in call.world.builds.statuses
        if (status.repo, status.sha) == (repo.full_name, sha)
    }
    shown = [_status(call, one) for one in newest.values()]
    page, size = page_span(call)
    url = f"{api_path(call.world, repo.full_name)}/commits/{sha}"
    body = {
        "state": _together({one.state for one in newest.values()}),
        "statuses": shown[(page - 1) * size : page * size],
        "sha": sha,
        "total_count": len(shown),
        "repository": repository_json(call.world, repo),
        "commit_url": url,
        "url": f"{url}/status",
    }
    return Answer(status=200, body=body, headers=page_links(call, len(shown)))


def _together(states: set[str]) -> str:
    if states & {"error", "failure"}:
        return "failure"
    return "success" if states == {"success"} else "pending"


def _status(call: Call, status: Status) -> Json:
    at = instant(status.created_at)
    return {
        "url": f"{api_path(call.world, status.repo)}/statuses/{status.sha}",
        "avatar_url": None,
        "id": status.id,
        "node_id": f"S_{status.id}",
        "state": status.state,
        "description": status.description,
        "target_url": f"{call.world.web_url}/builds/{status.id}",
        "context": status.context,
        "created_at": at,
        "updated_at": at,
    }


def _annotation(annotation: Annotation) -> Json:
    return {
        "path": annotation.path,
        "blob_href": "",
        "start_line": annotation.line,
        "end_line": annotation.line,
        "start_column": None,
        "end_column": None,
        "annotation_level": annotation.level,
        "title": "",
        "message": annotation.message,
        "raw_details": "",
    }


JOB = "/repos/{owner}/{repo}/actions/jobs/{job_id}"
ROUTES = (
    Route("GET", f"{JOB}/logs", show_log),
    Route("GET", f"{CHECK}/annotations", list_annotations),
    Route("GET", "/repos/{owner}/{repo}/commits/{ref}/status", show_status),
)
