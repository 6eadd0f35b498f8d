"""Pipelines, jobs, traces, and the statuses of commits."""

from tests.fakes.github import bare
from tests.fakes.github.exchange import Answer
from tests.fakes.gitlab.access import level_of
from tests.fakes.gitlab.acts import builds
from tests.fakes.gitlab.build_state import Job, Pipeline
from tests.fakes.gitlab.call import Call, Route, paged
from tests.fakes.gitlab.exchange import Json, forbidden, missing, not_found
from tests.fakes.gitlab.render.builds import job_json, pipeline_json, status_json
from tests.fakes.gitlab.state import Level, Project

PIPELINE = "/projects/{id}/pipelines/{pipeline_id}"
JOB = "/projects/{id}/jobs/{job_id}"


def list_pipelines(call: Call) -> Answer:
    """List pipelines, the newest first."""
    project = call.project()
    query = call.request.query
    found = [
        pipeline_json(call.world, one)
        for one in call.world.builds.pipelines.values()
        if one.project == project.id
        and query.get("sha") in (None, one.sha)
        and query.get("ref") in (None, one.ref)
        and query.get("status") in (None, call.world.builds.status_of(one))
    ]
    return paged(call, found[::-1])


def get_pipeline(call: Call) -> Answer:
    shown = pipeline_json(call.world, _pipeline(call), full=True)
    return Answer(status=200, body=shown)


def list_pipeline_jobs(call: Call) -> Answer:
    pipeline = _pipeline(call)
    found = call.world.builds.jobs_of(pipeline.id)
    return paged(call, [job_json(call.world, one) for one in _in_scope(call, found)])


def list_jobs(call: Call) -> Answer:
    project = call.project()
    found = [
        one
        for one in call.world.builds.jobs.values()
        if call.world.builds.pipelines[one.pipeline].project == project.id
    ]
    shown = [job_json(call.world, one) for one in _in_scope(call, found)]
    return paged(call, shown[::-1])


def _in_scope(call: Call, found: list[Job]) -> list[Job]:
    query = call.request.query
    scope = query.get("scope[]") or query.get("scope")
    return [one for one in found if scope in (None, one.status)]


def get_job(call: Call) -> Answer:
    return Answer(status=200, body=job_json(call.world, _job(call)))


def get_trace(call: Call) -> Answer:
    headers = {"Content-Type": "text/plain"}
    return Answer(status=200, body=_job(call).trace.encode(), headers=headers)


def list_statuses(call: Call) -> Answer:
    """List the newest status of each name, those of jobs among them.

    https://docs.gitlab.com/api/commits/#list-commit-statuses
    """
    project = _with_code(call)
    sha = _sha(call, project)
    found: list[Json] = []
    for pipeline in call.world.builds.pipelines.values():
        if (pipeline.project, pipeline.sha) != (project.id, sha):
            continue
        found += [_job_as_status(call, pipeline, one) for one in _jobs(call, pipeline)]
        statuses = call.world.builds.statuses_of(pipeline.id)
        found += [status_json(call.world, one) for one in statuses]
    name = call.request.query.get("name")
    return paged(call, [one for one in found if name in (None, one["name"])])


def _jobs(call: Call, pipeline: Pipeline) -> list[Job]:
    return call.world.builds.jobs_of(pipeline.id)


def _job_as_status(call: Call, pipeline: Pipeline, job: Job) -> Json:
    shown = job_json(call.world, job)
    names = ("id", "ref", "status", "name", "created_at", "started_at", "finished_at")
    return {
        **{name: shown[name] for name in names},
        "sha": pipeline.sha,
        "target_url": shown["web_url"],
        "description": None,
        "allow_failure": job.allow_failure,
        "coverage": None,
        "pipeline_id": pipeline.id,
        "author": shown["user"],
    }


def create_status(call: Call) -> Answer:
    project = call.project(Level.DEVELOPER)
    asked = {**call.request.query, **call.body()}
    if "state" not in asked:
        raise missing("state")
    made = builds.set_status(
        call.world, project, call.args["sha"], asked, call.user().id
    )
    return Answer(status=201, body=status_json(call.world, made))


def _pipeline(call: Call) -> Pipeline:
    project = call.project()
    found = call.world.builds.pipelines.get(call.number("pipeline_id"))
    if found is None or found.project != project.id:
        raise not_found()
    return found


def _job(call: Call) -> Job:
    project = _with_code(call)
    found = call.world.builds.jobs.get(call.number("job_id"))
    if found is None:
        raise not_found()
    if call.world.builds.pipelines[found.pipeline].project != project.id:
        raise not_found()
    return found


def _with_code(call: Call) -> Project:
    project = call.project()
    is_member = level_of(call.world, project, call.caller.user) >= Level.REPORTER
    if project.visibility.level == 0 and not is_member:
        raise forbidden()
    return project


def _sha(call: Call, project: Project) -> str:
    found = bare.find_commit(project.git, call.args["sha"])
    if found is None:
        raise not_found("Commit Not Found")
    return found


ROUTES = (
    Route("GET", "/projects/{id}/pipelines", list_pipelines),
    Route("GET", PIPELINE, get_pipeline),
    Route("GET", PIPELINE + "/jobs", list_pipeline_jobs),
    Route("GET", "/projects/{id}/jobs", list_jobs),
    Route("GET", JOB, get_job),
    Route("GET", JOB + "/trace", get_trace),
    Route("GET", "/projects/{id}/repository/commits/{sha}/statuses", list_statuses),
    Route("POST", "/projects/{id}/statuses/{sha}", create_status),
)
