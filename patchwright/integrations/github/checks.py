"""Read the checks of a commit with their logs, and report a check of ours."""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import partial
from typing import Final, TypedDict, TypeVar
from urllib.parse import urlsplit

import requests
import structlog
from github import GithubException, UnknownObjectException
from github.Repository import Repository
from pydantic import BaseModel, ConfigDict, TypeAdapter

from patchwright.core.forge import CheckReport, Checks, CheckState, FailedCheck
from patchwright.core.text.strings import truncate_middle
from patchwright.core.types.errors import PermissionDeniedError
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.github.client import GitHubClient
from patchwright.integrations.github.connection import (
    LARGEST_PAGE,
    TIMEOUT_S,
    USER_AGENT,
    without_credentials,
)
from patchwright.integrations.github.webhooks.payloads import Text
from patchwright.integrations.http.log_tail import last_lines, plain_log, read_end

# What people see in the list; `fetch_checks` knows our own by it.
CHECK_NAME: Final = "Patchwright"
# https://docs.github.com/en/rest/checks/runs#create-a-check-run
_MAX_SUMMARY_CHARS: Final = 65_535
_MAX_TITLE_CHARS: Final = 255


class _CheckRunFields(TypedDict, total=False):
    """What creating and changing a check run have in common."""

    external_id: str
    status: str
    started_at: datetime
    conclusion: str
    completed_at: datetime
    details_url: str
    output: dict[str, object]


def report_check(
    api: GitHubClient, repo: RepoRef, sha: str, report: CheckReport
) -> None:
    """Show it; only an App may, so anybody else is denied it."""
    api.ask(repo, lambda found: _report(found, sha, report))


def _report(repo: Repository, sha: str, report: CheckReport) -> None:
    # All of them: by default GitHub lists only the newest run of a name.
    runs = repo.get_commit(sha).get_check_runs(check_name=CHECK_NAME, filter="all")
    ours = next((run for run in runs if run.external_id == report.key), None)
    fields = _check_run_fields(report)
    if ours is None:
        repo.create_check_run(CHECK_NAME, sha, **fields)  # type: ignore[arg-type]
    else:
        ours.edit(**fields)


def _check_run_fields(report: CheckReport) -> _CheckRunFields:
    fields = _CheckRunFields(
        external_id=report.key,
        output={
            "title": report.title[:_MAX_TITLE_CHARS],
            "summary": truncate_middle(report.summary, _MAX_SUMMARY_CHARS),
        },
    )
    if report.url:
        fields["details_url"] = report.url
    if report.state is CheckState.IN_PROGRESS:
        fields["status"] = "in_progress"
        fields["started_at"] = report.at
    else:
        fields["status"] = "completed"
        fields["conclusion"] = report.state.value
        fields["completed_at"] = report.at
    return fields


_CHUNK: Final = 64 * 1024
_OK, _FORBIDDEN, _GONE = 200, 403, 410

# Each line begins with the time it was printed at.
_TIME = re.compile(r"^\ufeff?\d{4}-\d\d-\d\dT[\d:.]+Z ?", re.MULTILINE)
# What comes after the last of these is the runner tidying up.
_ERROR = re.compile(r"^##\[error\].*$", re.MULTILINE)


def fetch_log_tail(repo: Repository, job_id: int) -> str:
    """Return the end of a job's log, or an empty text if it cannot be read.

    GitHub deletes logs after some months, and an App may lack the permission.
    """
    address = _find_address(repo, job_id)
    if not address:
        return ""
    with requests.Session() as session:
        # A .netrc file must not stand in for the token that we leave out.
        session.auth = without_credentials
        verify: str | bool = repo.requester.kwargs["verify"]
        return clean_log(_download_end(session, address, verify=verify))


def clean_log(raw: bytes) -> str:
    """Return what a job printed up to its last error, without times and colours."""
    plain = plain_log(raw, _TIME)
    *_, last = _ends_of_errors(plain)
    return last_lines(plain[:last].strip("\n"))


def _ends_of_errors(text: str) -> Iterator[int]:
    yield len(text)
    for error in _ERROR.finditer(text):
        yield error.end()


def _find_address(repo: Repository, job_id: int) -> str:
    """Return where the log lies: an address that is signed and good for a minute.

    https://docs.github.com/en/rest/actions/workflow-jobs#download-job-logs-for-a-workflow-run
    """
    try:
        headers, _ = repo.requester.requestJsonAndCheck(
            "GET", f"{repo.url}/actions/jobs/{job_id}/logs"
        )
    except UnknownObjectException:
        return ""
    except GithubException as error:
        if error.status not in (_FORBIDDEN, _GONE):
            raise
        return ""
    address = str(headers.get("location", ""))
    return address if _is_safe(address, repo.requester.base_url) else ""


def _is_safe(address: str, api_url: str) -> bool:
    """Tell whether to go there: nothing readable on the way, or the same server."""
    there, here = urlsplit(address), urlsplit(api_url)
    same = (there.scheme, there.netloc) == (here.scheme, here.netloc)
    return there.scheme == "https" or same


def _download_end(
    session: requests.Session, address: str, *, verify: str | bool
) -> bytes:
    """Read it without our token, which is none of that store's business."""
    try:
        return _read_end(session, address, verify=verify)
    except requests.RequestException:
        return b""


def _read_end(session: requests.Session, address: str, *, verify: str | bool) -> bytes:
    headers = {"User-Agent": USER_AGENT}
    with session.get(
        address,
        headers=headers,
        timeout=TIMEOUT_S,
        stream=True,
        allow_redirects=False,
        # Of each request: a session's own yields to REQUESTS_CA_BUNDLE.
        verify=verify,
    ) as answer:
        if answer.status_code != _OK:
            return b""
        return read_end(answer.iter_content(_CHUNK))


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


def _fetch_logs(
    api: GitHubClient, repo: RepoRef, failed: Iterable[_CheckRun]
) -> dict[int, str]:
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
    texts = (run.output.title, run.output.summary)
    return FailedCheck(
        name=run.name,
        url=run.html_url or run.details_url,
        summary="\n".join(part for part in texts if part.strip()),
        log=log,
    )


def _failed_status(status: _CommitStatus) -> FailedCheck:
    return FailedCheck(
        name=status.context, url=status.target_url, summary=status.description
    )
