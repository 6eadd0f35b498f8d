"""Pipelines, their jobs, and the statuses that others set on commits."""

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """A pipeline; `merge_request` is the number of the thread that it ran for."""

    id: int
    iid: int
    project: int
    ref: str
    sha: str
    source: str
    user: int
    created_at: datetime
    updated_at: datetime
    merge_request: int | None = None


@dataclass(frozen=True, kw_only=True)
class Job:
    """A job and what it has said; `failure_reason` is GitLab's word."""

    id: int
    pipeline: int
    name: str
    stage: str
    status: str
    created_at: datetime
    trace: str = ""
    allow_failure: bool = False
    failure_reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class CommitStatus:
    """What another program says of a commit; it belongs to a pipeline as jobs do."""

    id: int
    project: int
    pipeline: int
    sha: str
    ref: str | None
    name: str
    status: str
    target_url: str | None
    description: str | None
    author: int
    created_at: datetime
    allow_failure: bool = False


@dataclass(kw_only=True)
class Builds:
    """All of them, by number."""

    pipelines: dict[int, Pipeline] = field(default_factory=dict)
    jobs: dict[int, Job] = field(default_factory=dict)
    statuses: dict[int, CommitStatus] = field(default_factory=dict)

    def jobs_of(self, pipeline: int) -> list[Job]:
        return [one for one in self.jobs.values() if one.pipeline == pipeline]

    def statuses_of(self, pipeline: int) -> list[CommitStatus]:
        return [one for one in self.statuses.values() if one.pipeline == pipeline]

    def newest_for(self, project: int, sha: str) -> Pipeline | None:
        found = [
            one
            for one in self.pipelines.values()
            if one.project == project and one.sha == sha
        ]
        return found[-1] if found else None

    def status_of(self, pipeline: Pipeline) -> str:
        """Return how a pipeline stands, by what belongs to it.

        https://docs.gitlab.com/ci/pipelines/
        """
        jobs: list[Job | CommitStatus] = [*self.jobs_of(pipeline.id)]
        jobs += self.statuses_of(pipeline.id)
        parts = [(one.status, one.allow_failure) for one in jobs]
        states = [
            "success" if allowed and state == "failed" else state
            for state, allowed in parts
        ]
        for state in ("running", "pending", "created", "failed", "canceled"):
            if state in states:
                return "pending" if state == "created" else state
        return "success"
