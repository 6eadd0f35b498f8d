"""Pipelines, jobs and statuses as the API shows them."""

from tests.fakes.github.comparison import commit_of
from tests.fakes.gitlab.build_state import CommitStatus, Job, Pipeline
from tests.fakes.gitlab.exchange import Json
from tests.fakes.gitlab.render.projects import commit_json
from tests.fakes.gitlab.render.users import moment, user_json
from tests.fakes.gitlab.state import World

ENDED = frozenset({"success", "failed", "canceled", "skipped"})


def pipeline_json(world: World, pipeline: Pipeline, *, full: bool = False) -> Json:
    path = world.projects[pipeline.project].path
    status = world.builds.status_of(pipeline)
    shown = {
        "id": pipeline.id,
        "iid": pipeline.iid,
        "project_id": pipeline.project,
        "sha": pipeline.sha,
        "ref": pipeline.ref,
        "status": status,
        "source": pipeline.source,
        "created_at": moment(pipeline.created_at),
        "updated_at": moment(pipeline.updated_at),
        "web_url": f"{world.base_url}/{path}/-/pipelines/{pipeline.id}",
        "name": None,
    }
    return shown | _details(world, pipeline, status) if full else shown


def _details(world: World, pipeline: Pipeline, status: str) -> Json:
    path = world.projects[pipeline.project].path
    is_over = status in ENDED
    return {
        "before_sha": "0" * 40,
        "tag": False,
        "yaml_errors": None,
        "user": user_json(world, world.users[pipeline.user]),
        "started_at": moment(pipeline.created_at),
        "finished_at": moment(pipeline.updated_at) if is_over else None,
        "committed_at": None,
        "duration": 1 if is_over else None,
        "queued_duration": 1,
        "coverage": None,
        "archived": False,
        "detailed_status": {
            "icon": f"status_{status}",
            "text": status,
            "label": status,
            "group": status,
            "tooltip": status,
            "has_details": True,
            "details_path": f"/{path}/-/pipelines/{pipeline.id}",
            "illustration": None,
            "favicon": f"{world.base_url}/assets/ci_favicons/favicon_status.png",
        },
    }


def job_json(world: World, job: Job) -> Json:
    pipeline = world.builds.pipelines[job.pipeline]
    project = world.projects[pipeline.project]
    at = moment(job.created_at)
    is_over = job.status in ENDED
    return {
        "id": job.id,
        "status": job.status,
        "stage": job.stage,
        "name": job.name,
        "ref": pipeline.ref,
        "tag": False,
        "coverage": None,
        "allow_failure": job.allow_failure,
        "created_at": at,
        "started_at": at,
        "finished_at": at if is_over else None,
        "erased_at": None,
        "duration": 1.0 if is_over else None,
        "queued_duration": 0.5,
        "failure_reason": job.failure_reason,
        "user": user_json(world, world.users[pipeline.user]),
        "commit": commit_json(world, project, commit_of(project.git, pipeline.sha)),
        "pipeline": pipeline_json(world, pipeline),
        "web_url": f"{world.base_url}/{project.path}/-/jobs/{job.id}",
        "project": {"ci_job_token_scope_enabled": False},
        "artifacts": [],
        "runner": None,
        "runner_manager": None,
        "artifacts_expire_at": None,
        "archived": False,
        "tag_list": [],
    }


def status_json(world: World, status: CommitStatus) -> Json:
    at = moment(status.created_at)
    return {
        "id": status.id,
        "sha": status.sha,
        "ref": status.ref,
        "status": status.status,
        "name": status.name,
        "target_url": status.target_url,
        "description": status.description,
        "created_at": at,
        "started_at": None,
        "finished_at": at if status.status in ENDED else None,
        "allow_failure": status.allow_failure,
        "coverage": None,
        "pipeline_id": status.pipeline,
        "author": user_json(world, world.users[status.author]),
    }
