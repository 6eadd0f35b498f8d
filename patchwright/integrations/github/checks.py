"""Read how the checks of a commit stand, and what the failed ones printed."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final, TypeVar

import structlog
from github.Repository import Repository
from pydantic import BaseModel, ConfigDict, TypeAdapter

from patchwright.core.errors import PermissionDeniedError
from patchwright.core.forge import Checks, FailedCheck
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.github.api import GitHubClient
from patchwright.integrations.github.check_runs import CHECK_NAME
from patchwright.integrations.github.connection import LARGEST_PAGE
from patchwright.integrations.github.job_logs import fetch_log_tail
from patchwright.integrations.github.payloads import Text

MAX_PAGES: Final = 10
MAX_LOGS: Final = 5
_MAX_ANNOTATIONS: Final = 30
_ACTIONS: Final = "github-actions"
_COMPLETED: Final = "completed"
# What waits does so for a person.
_AT_REST: Final = frozenset({_COMPLETED, "waiting"})
# What a change of the code may cure. To be cancelled, skipped or stale is no verdict,
# and where an action is required a person has to do it.
# https://docs.github.com/en/rest/checks/runs#get-a-check-run
_FAILED: Final = frozenset({"failure", "timed_out", "startup_failure"})
# https://docs.github.com/en/rest/commits/statuses#get-the-combined-status-for-a-specific-reference
_BAD_STATES: Final = frozenset({"failure", "error"})
_PENDING: Final = "pending"
_JOB: Final = re.compile(r"/actions/runs/\d+/job/(\d+)")


class _CheckModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _CheckApp(_CheckModel):
    slug: str = ""


class _CheckOutput(_CheckModel):
    title: Text = ""
    summary: Text = ""
    annotations_count: int = 0


class _CheckRun(_CheckModel):
    id: int
    name: str
    status: str
    conclusion: str | None = None
    html_url: Text = ""
    details_url: Text = ""
    app: _CheckApp | None = None
    output: _CheckOutput = _CheckOutput()

    @property
    def has_failed(self) -> bool:
        return self.status == _COMPLETED and self.conclusion in _FAILED

    @property
    def job_id(self) -> int | None:
        """The job of GitHub Actions behind it, if there is one."""
        job = _JOB.search(self.details_url)
        is_job = self.app is not None and self.app.slug == _ACTIONS
        return int(job[1]) if job and is_job else None


class _CheckRunPage(_CheckModel):
    total_count: int
    check_runs: tuple[_CheckRun, ...]


class _CommitStatus(_CheckModel):
    context: str
    state: str
    description: Text = ""
    target_url: Text = ""


class _CommitStatusPage(_CheckModel):
    total_count: int
    statuses: tuple[_CommitStatus, ...]


class _Annotation(_CheckModel):
    path: str
    start_line: int
    annotation_level: Text = ""
    message: Text = ""


_ANNOTATIONS = TypeAdapter(tuple[_Annotation, ...])
_Page = TypeVar("_Page", _CheckRunPage, _CommitStatusPage)
_Found = TypeVar("_Found", _CheckRun, _CommitStatus)

log = structlog.get_logger(__name__)


def fetch_checks(api: GitHubClient, repo: RepoRef, sha: str) -> Checks:
    """Return how they stand, as far as we may see them: tokens may lack the right."""
    runs = _ask_if_allowed(api, repo, lambda found: _list_runs(found, sha))
    statuses = _ask_if_allowed(api, repo, lambda found: _list_statuses(found, sha))
    failed = [run for run in runs if run.has_failed]
    logs = _fetch_logs(api, repo, failed)
    return Checks(
        failed=(
            *(_failed_run(run, logs.get(run.id, "")) for run in failed),
            *(_failed_status(one) for one in statuses if one.state in _BAD_STATES),
        ),
        pending=(
            *(run.name for run in runs if run.status not in _AT_REST),
            *(one.context for one in statuses if one.state == _PENDING),
        ),
    )


def _ask_if_allowed(
    api: GitHubClient, repo: RepoRef, question: Callable[[Repository], list[_Found]]
) -> list[_Found]:
    try:
        return api.ask(repo, question)
    except PermissionDeniedError as error:
        log.warning("checks_not_readable", repo=str(repo), error=str(error))
        return []


def _list_runs(found: Repository, sha: str) -> list[_CheckRun]:
    pages = _pages(found, f"{found.url}/commits/{sha}/check-runs", _CheckRunPage)
    runs = [run for page in pages for run in page.check_runs]
    return [run for run in runs if run.name != CHECK_NAME]


def _list_statuses(found: Repository, sha: str) -> list[_CommitStatus]:
    pages = _pages(found, f"{found.url}/commits/{sha}/status", _CommitStatusPage)
    return [status for page in pages for status in page.statuses]


def _pages(found: Repository, url: str, shape: type[_Page]) -> Iterator[_Page]:
    for number in range(1, MAX_PAGES + 1):
        wanted = {"per_page": LARGEST_PAGE, "page": number}
        _, answer = found.requester.requestJsonAndCheck("GET", url, parameters=wanted)
        page = shape.model_validate(answer)
        yield page
        if page.total_count <= number * LARGEST_PAGE:
            return


def _fetch_logs(api: GitHubClient, repo: RepoRef, failed: Iterable[_CheckRun]) -> dict[int, str]:
    """Return what the first of them printed, or else said about lines of files."""
    logs: dict[int, str] = {}
    for run in list(failed)[:MAX_LOGS]:
        logs[run.id] = api.ask(repo, partial(_fetch_log, run))
    return logs


def _fetch_log(run: _CheckRun, found: Repository) -> str:
    log = fetch_log_tail(found, run.job_id) if run.job_id is not None else ""
    if log or not run.output.annotations_count:
        return log
    _, answer = found.requester.requestJsonAndCheck(
        "GET", f"{found.url}/check-runs/{run.id}/annotations"
    )
    annotations = _ANNOTATIONS.validate_python(answer)[:_MAX_ANNOTATIONS]
    return "\n".join(
        f"{one.path}:{one.start_line}: {one.annotation_level}: {one.message}"
        for one in annotations
    )


def _failed_run(run: _CheckRun, log: str) -> FailedCheck:
    said = (run.output.title, run.output.summary)
    return FailedCheck(
        name=run.name,
        url=run.html_url or run.details_url,
        summary="\n".join(part for part in said if part.strip()),
        log=log,
    )


def _failed_status(status: _CommitStatus) -> FailedCheck:
    return FailedCheck(
        name=status.context, url=status.target_url, summary=status.description
    )
