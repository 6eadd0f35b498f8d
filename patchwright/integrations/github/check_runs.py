"""Show how a run goes in the list of checks of a commit."""

from datetime import datetime
from typing import Final, TypedDict

from github.Repository import Repository

from patchwright.core.forge import CheckReport, CheckState
from patchwright.core.text.cut import truncate_middle
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.github.api import GitHubClient

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


def report_check(api: GitHubClient, repo: RepoRef, sha: str, report: CheckReport) -> None:
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
