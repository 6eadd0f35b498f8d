"""Read the words that people submit with a review of a pull request."""

from datetime import datetime
from enum import StrEnum

from github.Repository import Repository

from patchwright.core.types.threads import ForgeThread, ThreadPost
from patchwright.integrations.github.graphql import (
    POST_FRAGMENT,
    PageBefore,
    GraphQLModel,
    PostNode,
    owner_and_name,
    query,
)
from patchwright.integrations.github.post_ids import review_post
from patchwright.integrations.github.posts import read_pages_backwards

REVIEWS_QUERY = f"""\
query($owner: String!, $name: String!, $number: Int!, $before: String) {{
  repository(owner: $owner, name: $name) {{
    pullRequest(number: $number) {{
      reviews(last: 100, before: $before) {{
        pageInfo {{ hasPreviousPage startCursor }}
        nodes {{ ...written databaseId state submittedAt isMinimized }}
      }}
    }}
  }}
}}
{POST_FRAGMENT}"""


class _ReviewState(StrEnum):
    """How a review stands.

    https://docs.github.com/en/graphql/reference/enums#pullrequestreviewstate
    """

    APPROVED = "APPROVED"
    CHANGES_REQUESTED = "CHANGES_REQUESTED"
    COMMENTED = "COMMENTED"
    DISMISSED = "DISMISSED"
    PENDING = "PENDING"


_LABELS = {
    _ReviewState.APPROVED: "review, approved",
    _ReviewState.CHANGES_REQUESTED: "review, changes requested",
    _ReviewState.COMMENTED: "review",
    _ReviewState.DISMISSED: "review, dismissed",
}


class _ReviewNode(PostNode):
    database_id: int
    state: _ReviewState
    submitted_at: datetime | None = None
    is_minimized: bool = False

    @property
    def is_shown(self) -> bool:
        return bool(self.body.strip()) and self.state in _LABELS and not self.is_hidden

    @property
    def is_hidden(self) -> bool:
        # What is not submitted yet is seen by its author alone.
        return self.is_minimized or self.submitted_at is None


class _ReviewPage(GraphQLModel):
    page_info: PageBefore
    nodes: tuple[_ReviewNode, ...]


class _PullRequestReviews(GraphQLModel):
    reviews: _ReviewPage


class _ReviewsRepository(GraphQLModel):
    pull_request: _PullRequestReviews


class _ReviewsData(GraphQLModel):
    repository: _ReviewsRepository


def fetch_review_posts(repo: Repository, ref: ForgeThread) -> tuple[ThreadPost, ...]:
    """Return what submitted reviews say, oldest first; many say nothing themselves.

    Raises the errors of PyGithub.
    """
    asked = {**owner_and_name(ref.repo.full_name), "number": ref.number}

    def read(before: str | None) -> _ReviewPage:
        found = query(repo, REVIEWS_QUERY, {**asked, "before": before}, _ReviewsData)
        return found.repository.pull_request.reviews

    pages = read_pages_backwards(read, lambda reviews: reviews.page_info)
    return tuple(
        review.post(
            review_post(review.database_id), _LABELS[review.state], review.submitted_at
        )
        for page in pages
        for review in page.nodes
        if review.is_shown
    )
