"""Put reviewers, labels, assignees and milestone on a pull request."""

from collections.abc import Iterator, Sequence

from github.Issue import Issue
from github.Milestone import Milestone
from github.NamedUser import NamedUser
from github.PullRequest import PullRequest
from github.Repository import Repository

from patchwright.core.errors import (
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    ServiceError,
)
from patchwright.core.forge import PullMetadata
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.github.api import GitHubClient

_TEAM = "team/"
_REFUSALS = (InvalidRequestError, NotFoundError, PermissionDeniedError)


def add_pull_metadata(
    api: GitHubClient, repo: RepoRef, number: int, pull_metadata: PullMetadata
) -> tuple[str, ...]:
    """Add what is missing, each thing by itself: one refusal must not stop the rest."""
    missing = api.ask(repo, lambda found: _missing(found, number, pull_metadata))
    return (
        *_add_labels(api, repo, number, missing.labels),
        *_assign(api, repo, number, missing.assignees),
        *_set_milestone(api, repo, number, missing.milestone),
        *_ask_reviewers(api, repo, number, missing.reviewers),
    )


def request_review(
    api: GitHubClient, repo: RepoRef, number: int, reviewers: tuple[str, ...]
) -> None:
    """Ask for a review, also of those who have given one."""
    people = [name for name in reviewers if not name.startswith(_TEAM)]
    teams = [name.removeprefix(_TEAM) for name in reviewers if name.startswith(_TEAM)]

    def ask(found: Repository) -> None:
        pull = found.get_pull(number)
        pull.create_review_request(reviewers=people, team_reviewers=teams)

    api.ask(repo, ask)


def fetch_milestone(api: GitHubClient, repo: RepoRef, issue: int) -> int | None:
    return api.ask(repo, lambda found: _milestone(found.get_issue(issue)))


def _milestone(thread: Issue | PullRequest) -> int | None:
    # PyGithub's types know no null; GitHub's answers do.
    milestone: Milestone | None = thread.milestone
    return milestone.number if milestone is not None else None


def _missing(found: Repository, number: int, wanted: PullMetadata) -> PullMetadata:
    pull = found.get_pull(number)
    labels = {label.name.lower() for label in pull.labels}
    assignees = {person.login.lower() for person in pull.assignees}
    return PullMetadata(
        labels=_not_yet_there(wanted.labels, labels),
        assignees=_not_yet_there(wanted.assignees, assignees),
        reviewers=_not_yet_there(wanted.reviewers, _known_reviewers(pull))
        if wanted.reviewers
        else (),
        milestone=wanted.milestone if _milestone(pull) is None else None,
    )


def _known_reviewers(pull: PullRequest) -> set[str]:
    """Return those who were asked or have answered, and the author, who cannot be."""
    asked = {person.login.lower() for person in pull.requested_reviewers}
    teams = {f"{_TEAM}{team.slug}".lower() for team in pull.requested_teams}
    people: list[NamedUser | None] = [one.user for one in pull.get_reviews()]
    answered = {person.login.lower() for person in (*people, pull.user) if person}
    return asked | teams | answered


def _not_yet_there(wanted: Sequence[str], there: set[str]) -> tuple[str, ...]:
    return tuple(name for name in dict.fromkeys(wanted) if name.lower() not in there)


def _add_labels(
    api: GitHubClient, repo: RepoRef, number: int, labels: Sequence[str]
) -> Iterator[str]:
    if not labels:
        return
    try:
        api.ask(repo, lambda found: found.get_issue(number).add_to_labels(*labels))
    except _REFUSALS as error:
        yield _refusal_line(f"The labels {_quoted_names(labels)} were not put on", error)


def _assign(
    api: GitHubClient, repo: RepoRef, number: int, people: Sequence[str]
) -> Iterator[str]:
    """Assign; GitHub answers well and leaves out whom it does not let be assigned.

    https://docs.github.com/en/rest/issues/assignees#add-assignees-to-an-issue
    """
    if not people:
        return

    def assign(found: Repository) -> set[str]:
        issue = found.get_issue(number)
        issue.add_to_assignees(*people)
        return {person.login.lower() for person in issue.assignees}

    try:
        assigned = api.ask(repo, assign)
    except _REFUSALS as error:
        yield _refusal_line(f"{_quoted_names(people)} could not be assigned", error)
        return
    if left := _not_yet_there(people, assigned):
        yield f"{_quoted_names(left)} could not be assigned: GitHub does not let them be."


def _set_milestone(
    api: GitHubClient, repo: RepoRef, number: int, milestone: int | None
) -> Iterator[str]:
    if milestone is None:
        return

    def edit(found: Repository) -> None:
        # PyGithub would fetch the milestone first.
        address = f"{found.url}/issues/{number}"
        wanted = {"milestone": milestone}
        found.requester.requestJsonAndCheck("PATCH", address, input=wanted)

    try:
        api.ask(repo, edit)
    except _REFUSALS as error:
        yield _refusal_line("The issue's milestone was not taken over", error)


def _ask_reviewers(
    api: GitHubClient, repo: RepoRef, number: int, reviewers: Sequence[str]
) -> Iterator[str]:
    """Ask all at once; one of them who may not review spoils it for all others."""
    if not reviewers:
        return
    try:
        request_review(api, repo, number, tuple(reviewers))
    except _REFUSALS as error:
        if len(reviewers) == 1:
            yield _refusal_line(f"{_quoted_names(reviewers)} could not be asked to review", error)
            return
        for one in reviewers:
            yield from _ask_reviewers(api, repo, number, (one,))


def _quoted_names(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _refusal_line(what: str, error: ServiceError) -> str:
    return f"{what}: {str(error).rstrip('.')}."
