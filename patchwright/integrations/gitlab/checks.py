"""Read the jobs and statuses of a commit with their traces, and report one of ours."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

import requests
import structlog
from gitlab.v4.objects import Project

from patchwright.core.forge import CheckReport, Checks, CheckState, FailedCheck
from patchwright.core.types.errors import (
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
)
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.gitlab.answers import (
    CommitStatusAnswer,
    MergeRequestAnswer,
    PipelineAnswer,
)
from patchwright.integrations.gitlab.client import GitLabClient
from patchwright.integrations.gitlab.connection import LARGEST_PAGE
from patchwright.integrations.gitlab.words import in_own_words
from patchwright.integrations.http.limits import CHUNK_BYTES
from patchwright.integrations.http.log_tail import last_lines, plain_log, read_end

# What people see in the list; `fetch_checks` knows our own by it.
CHECK_NAME: Final = "Patchwright"
MAX_PAGES: Final = 10
MAX_TRACES: Final = 5
# https://docs.gitlab.com/api/commits/#set-commit-pipeline-status
_MAX_DESCRIPTION_CHARS: Final = 255
_STATES: Final[Mapping[CheckState, str]] = {
    CheckState.IN_PROGRESS: "running",
    CheckState.SUCCESS: "success",
    # GitLab has no verdict that is neither good nor bad; this one stops nothing.
    CheckState.NEUTRAL: "success",
    CheckState.FAILURE: "failed",
    CheckState.ACTION_REQUIRED: "pending",
    CheckState.CANCELLED: "canceled",
}
# Servers before 18.3 refuse to be told what they know already.
# https://gitlab.com/gitlab-org/gitlab/-/merge_requests/198626
_SAME_AGAIN: Final = "Cannot transition status"
_FAILED: Final = "failed"
# To be canceled or skipped is no verdict, and a manual job waits for a person.
# https://docs.gitlab.com/ci/jobs/#available-job-statuses
_UNFINISHED: Final = frozenset(
    {"created", "pending", "preparing", "running", "scheduled"}
    | {"waiting_for_callback", "waiting_for_resource"}
)
_OPEN: Final = "opened"
# A line may begin with its time and stream, and the parts of a job have marks.
# https://docs.gitlab.com/ci/jobs/job_logs/
_NOISE: Final = re.compile(
    r"^\d{4}-\d\d-\d\dT[\d:.]+Z \d\d[OE][ +]?"
    r"|section_(?:start|end):\d+:[\w.-]+(?:\[[^\]\r\n]*\])?\r?(?:\x1b\[0K)?"
    r"|^[^\r\n]*\r(?=[^\r\n])",
    re.MULTILINE,
)

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Part:
    """A job or status, and the project whose it is."""

    project: int | str
    status: CommitStatusAnswer

    @property
    def has_failed(self) -> bool:
        return self.status.status == _FAILED and not self.status.allow_failure

    @property
    def is_pending(self) -> bool:
        return self.status.status in _UNFINISHED


def fetch_checks(api: GitLabClient, repo: RepoRef, sha: str) -> Checks:
    """Return how they stand, as far as we may see them."""
    try:
        return api.ask(repo, lambda project: _fetch(project, sha))
    except PermissionDeniedError as error:
        log.warning("checks_not_readable", repo=str(repo), error=str(error))
        return Checks()


def _fetch(project: Project, sha: str) -> Checks:
    parts = [one for one in _list(project, sha) if one.status.name != CHECK_NAME]
    failed = [one for one in parts if one.has_failed]
    traces = {
        place: _fetch_trace(project, one)
        for place, one in enumerate(failed[:MAX_TRACES])
    }
    return Checks(
        failed=tuple(
            _failed_check(one.status, traces.get(place, ""))
            for place, one in enumerate(failed)
        ),
        pending=tuple(one.status.name for one in parts if one.is_pending),
    )


def _list(project: Project, sha: str) -> Iterator[_Part]:
    """Yield what ran for a commit: each job and status of a name once, its newest.

    GitLab counts jobs among the statuses of their commit. A pipeline of a merge request
    may run for a commit that merges the two branches, or in the project of a fork.
    """
    commit = project.commits.get(sha, lazy=True)
    listed = commit.statuses.list(iterator=True, per_page=LARGEST_PAGE)
    found = islice(listed, MAX_PAGES * LARGEST_PAGE)
    yield from (
        _Part(project.id, CommitStatusAnswer.model_validate(one.asdict()))
        for one in found
    )
    for pull in _list_open_pulls(project, sha):
        yield from _list_jobs_elsewhere(project, pull)


def _list_open_pulls(project: Project, sha: str) -> list[MergeRequestAnswer]:
    try:
        found = project.commits.get(sha, lazy=True).merge_requests(iterator=True)
        pulls = map(MergeRequestAnswer.model_validate, found)
        return [one for one in pulls if (one.state, one.sha) == (_OPEN, sha)]
    except NotFoundError:
        return []


def _list_jobs_elsewhere(project: Project, pull: MergeRequestAnswer) -> Iterator[_Part]:
    thread = project.mergerequests.get(pull.iid, lazy=True)
    newest = next(iter(thread.pipelines.list(page=1, per_page=1)), None)
    if newest is None:
        return
    pipeline = PipelineAnswer.model_validate(newest.asdict())
    place = pipeline.project_id or pull.project_id
    if (place, pipeline.sha) == (pull.project_id, pull.sha):
        return
    path = f"/projects/{place}/pipelines/{pipeline.id}/jobs"
    jobs = project.manager.gitlab.http_list(
        path, query_data={"per_page": LARGEST_PAGE}, iterator=True
    )
    for one in islice(jobs, MAX_PAGES * LARGEST_PAGE):
        yield _Part(place, CommitStatusAnswer.model_validate(one))


def _fetch_trace(project: Project, part: _Part) -> str:
    """Return the end of what a job printed, empty for what is no job.

    Traces are erased after a while, and may be for members alone.
    """
    here = project.encoded_id if part.project == project.id else part.project
    path = f"/projects/{here}/jobs/{part.status.id}/trace"
    try:
        answer = project.manager.gitlab.http_get(path, streamed=True, raw=True)
    except (NotFoundError, PermissionDeniedError):
        return ""
    if not isinstance(answer, requests.Response):
        return ""
    with answer:
        return clean_trace(read_end(answer.iter_content(CHUNK_BYTES)))


def clean_trace(raw: bytes) -> str:
    """Return what a job printed, without times, colours and marks of its parts."""
    return last_lines(plain_log(raw, _NOISE).strip("\n"))


def _failed_check(status: CommitStatusAnswer, trace: str) -> FailedCheck:
    said = (status.description, status.failure_reason.replace("_", " "))
    return FailedCheck(
        name=status.name,
        url=status.url,
        summary="\n".join(part for part in said if part.strip()),
        log=trace,
    )


def report_check(
    api: GitLabClient, repo: RepoRef, sha: str, report: CheckReport
) -> None:
    """Show it as a status of the commit; that has a line for it, and a link.

    GitLab keeps one status of a name, so that there is no key to find it by.
    """
    wanted = {
        "state": _STATES[report.state],
        "name": CHECK_NAME,
        "description": in_own_words(report.title)[:_MAX_DESCRIPTION_CHARS],
        **({"target_url": report.url} if report.url else {}),
    }
    try:
        api.ask(
            repo,
            lambda project: project.commits.get(sha, lazy=True).statuses.create(wanted),
        )
    except InvalidRequestError as error:
        if _SAME_AGAIN not in str(error):
            raise
