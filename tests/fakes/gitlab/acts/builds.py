"""Pipelines and jobs that run, and statuses that others set."""

from dataclasses import dataclass, replace

from tests.fakes.github import bare
from tests.fakes.gitlab.build_state import CommitStatus, Job, Pipeline
from tests.fakes.gitlab.exchange import Json, RefusedError, invalid, not_found, refused
from tests.fakes.gitlab.state import Project, World
from tests.fakes.gitlab.thread_state import ThreadKind
from tests.fakes.gitlab.webhooks.builds import tell_pipeline

STATES = ("pending", "running", "success", "failed", "canceled", "skipped")
MAX_DESCRIPTION = 255


@dataclass(frozen=True, kw_only=True)
class Report:
    """How a job ended, and what it has said."""

    name: str
    status: str = "failed"
    stage: str = "test"
    trace: str = ""
    allow_failure: bool = False


def run_pipeline(
    world: World, project: Project, branch: str, reports: list[Report], actor: int
) -> Pipeline:
    """Run a pipeline for where a branch stands, and tell how it ended."""
    sha = bare.find_commit(project.git, f"refs/heads/{branch}")
    if sha is None:
        raise LookupError(f"{project.path} has no branch {branch}")
    pipeline = begin_pipeline(world, project, branch, sha, actor=actor)
    for report in reports:
        add_job(world, pipeline, report)
    tell_pipeline(world, pipeline)
    return pipeline


def begin_pipeline(
    world: World,
    project: Project,
    branch: str,
    sha: str,
    *,
    actor: int,
    source: str = "push",
) -> Pipeline:
    taken = [
        one.iid for one in world.builds.pipelines.values() if one.project == project.id
    ]
    now = world.clock.now()
    pipeline = Pipeline(
        id=world.next_id(),
        iid=1 + max(taken, default=0),
        project=project.id,
        ref=branch,
        sha=sha,
        source=source,
        user=actor,
        created_at=now,
        updated_at=now,
        merge_request=_merge_request_of(world, project, branch),
    )
    world.builds.pipelines[pipeline.id] = pipeline
    return pipeline


def add_job(world: World, pipeline: Pipeline, report: Report) -> Job:
    is_failed = report.status == "failed"
    job = Job(
        id=world.next_id(),
        pipeline=pipeline.id,
        name=report.name,
        stage=report.stage,
        status=report.status,
        created_at=world.clock.now(),
        trace=report.trace,
        allow_failure=report.allow_failure,
        failure_reason="script_failure" if is_failed else None,
    )
    world.builds.jobs[job.id] = job
    return job


def end_job(world: World, job: Job, status: str, trace: str = "") -> None:
    """Let a job that runs come to its end, and tell of its pipeline."""
    reason = "script_failure" if status == "failed" else None
    world.builds.jobs[job.id] = replace(
        job, status=status, trace=trace or job.trace, failure_reason=reason
    )
    tell_pipeline(world, world.builds.pipelines[job.pipeline])


def set_status(
    world: World, project: Project, sha: str, wanted: Json, actor: int
) -> CommitStatus:
    """Set a status on a commit; it is one of the pipeline's jobs from then on.

    https://docs.gitlab.com/api/commits/#set-commit-pipeline-status
    """
    if bare.find_commit(project.git, sha) != sha:
        raise not_found("Commit Not Found")
    state, text = _read_status(wanted)
    ref = wanted.get("ref") or _branch_at(world, project, sha)
    pipeline = world.builds.newest_for(project.id, sha) or begin_pipeline(
        world, project, str(ref), sha, actor=actor, source="external"
    )
    name = str(wanted.get("name") or wanted.get("context") or "default")
    known = [one for one in world.builds.statuses_of(pipeline.id) if one.name == name]
    if known and known[0].status == state:
        raise _no_change(state)
    status = CommitStatus(
        id=known[0].id if known else world.next_id(),
        project=project.id,
        pipeline=pipeline.id,
        sha=sha,
        ref=str(ref),
        name=name,
        status=state,
        target_url=wanted.get("target_url"),
        description=text,
        author=actor,
        created_at=world.clock.now(),
    )
    world.builds.statuses[status.id] = status
    tell_pipeline(world, pipeline)
    return status


def _read_status(wanted: Json) -> tuple[str, str | None]:
    """Return state and description, or raise a 400 for what they may not be."""
    state = str(wanted.get("state", ""))
    if state not in STATES:
        raise refused(400, {"state": ["does not have a valid value"]})
    text = wanted.get("description")
    if text is not None and len(str(text)) > MAX_DESCRIPTION:
        problem = f"is too long (maximum is {MAX_DESCRIPTION} characters)"
        raise invalid(description=problem)
    return state, None if text is None else str(text)


def _no_change(state: str) -> RefusedError:
    verbs = {"pending": "enqueue", "running": "run", "success": "success"}
    verb = verbs.get(state, "drop")
    problem = (
        f"Cannot transition status via :{verb} from :{state} "
        f'(Reason(s): Status cannot transition via "{verb}")'
    )
    return RefusedError(400, {"message": problem})


def _branch_at(world: World, project: Project, sha: str) -> str:
    heads = world.heads.get(project.id, {})
    names = (ref for ref, tip in heads.items() if tip == sha)
    return next(names, project.default_branch).removeprefix("refs/heads/")


def _merge_request_of(world: World, project: Project, branch: str) -> int | None:
    for thread in world.threads.values():
        merge = thread.merge
        if (
            thread.kind is ThreadKind.MERGE_REQUEST
            and merge is not None
            and thread.is_open
            and (merge.source_project, merge.source_branch) == (project.id, branch)
        ):
            return thread.id
    return None
