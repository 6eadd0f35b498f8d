"""Tell how pipelines stand."""

from dataclasses import replace

from tests.fakes.github.comparison import commit_of
from tests.fakes.gitlab.build_state import Job, Pipeline
from tests.fakes.gitlab.diffs import merge_status
from tests.fakes.gitlab.exchange import Json
from tests.fakes.gitlab.state import World
from tests.fakes.gitlab.webhooks.facts import (
    commit_facts,
    moment,
    project_facts,
    user_facts,
)
from tests.fakes.gitlab.webhooks.outbox import PIPELINE, announce
from tests.fakes.gitlab.webhooks.threads import thread_url

_DETAILED = {"success": "passed", "skipped": "skipped"}


def tell_pipeline(world: World, pipeline: Pipeline) -> None:
    status = world.builds.status_of(pipeline)
    announce(
        world,
        pipeline.project,
        replace(PIPELINE, action=status),
        lambda: _body(world, pipeline, status),
    )


def _body(world: World, pipeline: Pipeline, status: str) -> Json:
    project = world.projects[pipeline.project]
    jobs = world.builds.jobs_of(pipeline.id)
    is_over = status in {"success", "failed", "canceled", "skipped"}
    at = moment(pipeline.created_at)
    page = f"{world.base_url}/{project.path}/-/pipelines/{pipeline.id}"
    commit = commit_of(project.git, pipeline.sha)
    return {
        "object_kind": "pipeline",
        "object_attributes": {
            "id": pipeline.id,
            "iid": pipeline.iid,
            "name": None,
            "ref": pipeline.ref,
            "tag": False,
            "sha": pipeline.sha,
            "before_sha": "0" * 40,
            "source": pipeline.source,
            "status": status,
            "detailed_status": _DETAILED.get(status, status),
            "stages": list(dict.fromkeys(job.stage for job in jobs)),
            "created_at": at,
            "finished_at": at if is_over else None,
            "duration": 1 if is_over else None,
            "queued_duration": 1,
            "protected_ref": pipeline.ref in project.protected,
            "variables": [],
            "url": page,
        },
        "merge_request": _merge_request(world, pipeline),
        "user": user_facts(world, pipeline.user),
        "project": project_facts(world, project),
        "commit": commit_facts(world, project, commit),
        "builds": [_job(world, pipeline, job) for job in reversed(jobs)],
    }


def _merge_request(world: World, pipeline: Pipeline) -> Json | None:
    if pipeline.merge_request is None:
        return None
    thread = world.threads[pipeline.merge_request]
    status = merge_status(world, thread)
    return {
        "id": thread.id,
        "iid": thread.iid,
        "title": thread.title,
        "source_branch": thread.proposed.source_branch,
        "source_project_id": thread.proposed.source_project,
        "target_branch": thread.proposed.target_branch,
        "target_project_id": thread.project,
        "state": thread.state,
        "merge_status": status.merge_status,
        "detailed_merge_status": status.detailed,
        "url": thread_url(world, thread),
    }


def _job(world: World, pipeline: Pipeline, job: Job) -> Json:
    at = moment(job.created_at)
    is_over = job.status in {"success", "failed", "canceled"}
    return {
        "id": job.id,
        "stage": job.stage,
        "name": job.name,
        "status": job.status,
        "created_at": at,
        "started_at": at,
        "finished_at": at if is_over else None,
        "duration": 1.0 if is_over else None,
        "queued_duration": 0.5,
        "failure_reason": job.failure_reason,
        "when": "on_success",
        "manual": False,
        "allow_failure": job.allow_failure,
        "user": user_facts(world, pipeline.user),
        "runner": None,
        "artifacts_file": {"filename": None, "size": None},
        "environment": None,
    }
