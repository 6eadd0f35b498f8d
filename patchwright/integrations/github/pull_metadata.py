"""Reviewers, labels, milestone, requested changes and competing pull requests."""

from collections.abc import Iterator, Sequence

from github.Issue import Issue
from github.Milestone import Milestone
from github.NamedUser import NamedUser
from github.PullRequest import PullRequest
from github.Repository import Repository

from patchwright.core.forge import CompetingPullRequest, PullMetadata
from patchwright.core.types.errors import (
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    ServiceError,
)
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.github.client import GitHubClient
from patchwright.integrations.github.graphql import (
    AuthorNode,
    GraphQLModel,
    owner_and_name,
    query,
)
from patchwright.integrations.github.webhooks.payloads import GHOST

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
        yield _refusal_line(
            f"The labels {_quoted_names(labels)} could not be set", error
        )


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
        names = _quoted_names(left)
        yield f"{names} could not be assigned: GitHub does not allow it."


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
        yield _refusal_line("The issue's milestone could not be set", error)


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
            yield _refusal_line(
                f"{_quoted_names(reviewers)} could not be asked to review", error
            )
            return
        for one in reviewers:
            yield from _ask_reviewers(api, repo, number, (one,))


def _quoted_names(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _refusal_line(what: str, error: ServiceError) -> str:
    return f"{what}: {str(error).rstrip('.')}."


_CHANGES_REQUESTED = "CHANGES_REQUESTED"
# The newest review of each person that approves, asks for changes or was dismissed;
# mere comments do not count.
# https://docs.github.com/en/graphql/reference/objects#pullrequest
LATEST_REVIEWS_QUERY = """\
query($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      latestOpinionatedReviews(first: 100) {
        nodes { state author { __typename login } }
      }
    }
  }
}
"""
# https://docs.github.com/en/graphql/reference/objects#issue
COMPETING_PULL_REQUESTS_QUERY = """\
query($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    issue(number: $number) {
      closedByPullRequestsReferences(first: 20, includeClosedPrs: false) {
        nodes { number url state author { __typename login } }
      }
    }
  }
}
"""


class _LatestReview(GraphQLModel):
    state: str
    author: AuthorNode | None = None


class _LatestReviews(GraphQLModel):
    nodes: tuple[_LatestReview, ...]


class _ReviewedPullRequest(GraphQLModel):
    latest_opinionated_reviews: _LatestReviews


class _ReviewedRepository(GraphQLModel):
    pull_request: _ReviewedPullRequest


class _LatestReviewsData(GraphQLModel):
    repository: _ReviewedRepository


class _ClosingPullRequest(GraphQLModel):
    number: int
    url: str
    state: str
    author: AuthorNode | None = None


class _ClosingPullRequests(GraphQLModel):
    nodes: tuple[_ClosingPullRequest, ...]


class _ClosedIssue(GraphQLModel):
    closed_by_pull_requests_references: _ClosingPullRequests


class _ClosedIssueRepository(GraphQLModel):
    issue: _ClosedIssue


class _ClosingData(GraphQLModel):
    repository: _ClosedIssueRepository


def fetch_change_requesters(
    api: GitHubClient, repo: RepoRef, number: int
) -> tuple[str, ...]:
    """Return the people whose last word on a pull request is to change it."""
    return api.ask(repo, lambda found: _change_requesters(found, repo, number))


def fetch_competing_pulls(
    api: GitHubClient, repo: RepoRef, issue: int
) -> tuple[CompetingPullRequest, ...]:
    """Return the open pull requests of people other than us that close an issue."""
    own = api.own_login
    return api.ask(
        repo, lambda found: _competing_pull_requests(found, repo, issue, own)
    )


def _change_requesters(
    found: Repository, repo: RepoRef, number: int
) -> tuple[str, ...]:
    asked = {**owner_and_name(repo.full_name), "number": number}
    answer = query(found, LATEST_REVIEWS_QUERY, asked, _LatestReviewsData)
    reviews = answer.repository.pull_request.latest_opinionated_reviews.nodes
    return tuple(
        review.author.login
        for review in reviews
        if review.state == _CHANGES_REQUESTED
        and review.author is not None
        and not review.author.actor.is_bot
    )


def _competing_pull_requests(
    found: Repository, repo: RepoRef, issue: int, own: str
) -> tuple[CompetingPullRequest, ...]:
    asked = {**owner_and_name(repo.full_name), "number": issue}
    answer = query(found, COMPETING_PULL_REQUESTS_QUERY, asked, _ClosingData)
    pulls = answer.repository.issue.closed_by_pull_requests_references.nodes
    return tuple(
        CompetingPullRequest(
            number=pull.number,
            url=pull.url,
            author=pull.author.login if pull.author else GHOST,
        )
        for pull in pulls
        if pull.state == "OPEN" and not _is_of_a_bot(pull, own)
    )


def _is_of_a_bot(pull: _ClosingPullRequest, own: str) -> bool:
    actor = pull.author.actor if pull.author else None
    return actor is not None and (actor.is_bot or actor.login == own)
