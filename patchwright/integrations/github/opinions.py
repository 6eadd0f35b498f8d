"""Read what people think of a pull request, and who works on an issue already."""

from github.Repository import Repository

from patchwright.core.forge import Rival
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.github.api import Api
from patchwright.integrations.github.graphql import (
    Part,
    Writer,
    owner_and_name,
    query,
)
from patchwright.integrations.github.payloads import GHOST

_OBJECTION = "CHANGES_REQUESTED"
# The newest review of each person that approves, asks for changes or was dismissed;
# mere comments do not count.
# https://docs.github.com/en/graphql/reference/objects#pullrequest
OPINIONS = """\
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
RIVALS = """\
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


class _Review(Part):
    state: str
    author: Writer | None = None


class _Reviews(Part):
    nodes: tuple[_Review, ...]


class _Reviewed(Part):
    latest_opinionated_reviews: _Reviews


class _OfReviews(Part):
    pull_request: _Reviewed


class _Opinions(Part):
    repository: _OfReviews


class _Pull(Part):
    number: int
    url: str
    state: str
    author: Writer | None = None


class _Pulls(Part):
    nodes: tuple[_Pull, ...]


class _Issue(Part):
    closed_by_pull_requests_references: _Pulls


class _OfIssue(Part):
    issue: _Issue


class _Closing(Part):
    repository: _OfIssue


def fetch_objectors(api: Api, repo: RepoRef, number: int) -> tuple[str, ...]:
    """Return the people whose last word on a pull request is to change it."""
    return api.ask(repo, lambda found: _objectors(found, repo, number))


def fetch_rivals(api: Api, repo: RepoRef, issue: int) -> tuple[Rival, ...]:
    """Return the open pull requests of people other than us that close an issue."""
    own = api.own_login
    return api.ask(repo, lambda found: _rivals(found, repo, issue, own))


def _objectors(found: Repository, repo: RepoRef, number: int) -> tuple[str, ...]:
    asked = {**owner_and_name(repo.full_name), "number": number}
    answer = query(found, OPINIONS, asked, _Opinions)
    reviews = answer.repository.pull_request.latest_opinionated_reviews.nodes
    return tuple(
        review.author.login
        for review in reviews
        if review.state == _OBJECTION
        and review.author is not None
        and not review.author.actor.is_bot
    )


def _rivals(
    found: Repository, repo: RepoRef, issue: int, own: str
) -> tuple[Rival, ...]:
    asked = {**owner_and_name(repo.full_name), "number": issue}
    answer = query(found, RIVALS, asked, _Closing)
    pulls = answer.repository.issue.closed_by_pull_requests_references.nodes
    return tuple(
        Rival(
            number=pull.number,
            url=pull.url,
            author=pull.author.login if pull.author else GHOST,
        )
        for pull in pulls
        if pull.state == "OPEN" and not _is_of_a_bot(pull, own)
    )


def _is_of_a_bot(pull: _Pull, own: str) -> bool:
    actor = pull.author.actor if pull.author else None
    return actor is not None and (actor.is_bot or actor.login == own)
