"""Read what people think of a pull request, and who works on an issue already."""

from github.Repository import Repository

from patchwright.core.forge import CompetingPullRequest
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.github.api import GitHubClient
from patchwright.integrations.github.graphql import (
    GraphQLModel,
    AuthorNode,
    owner_and_name,
    query,
)
from patchwright.integrations.github.payloads import GHOST

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


def fetch_change_requesters(api: GitHubClient, repo: RepoRef, number: int) -> tuple[str, ...]:
    """Return the people whose last word on a pull request is to change it."""
    return api.ask(repo, lambda found: _change_requesters(found, repo, number))


def fetch_competing_pulls(api: GitHubClient, repo: RepoRef, issue: int) -> tuple[CompetingPullRequest, ...]:
    """Return the open pull requests of people other than us that close an issue."""
    own = api.own_login
    return api.ask(repo, lambda found: _competing_pull_requests(found, repo, issue, own))


def _change_requesters(found: Repository, repo: RepoRef, number: int) -> tuple[str, ...]:
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
