"""The fields of GitHub's deliveries that are read; everything else is passed over."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints

# https://docs.github.com/en/webhooks/webhook-events-and-payloads

# It becomes part of addresses: a name made of dots alone would lead elsewhere.
RepositoryName = Annotated[
    str, StringConstraints(pattern=r"(?-u)^[\w-]+/[\w.-]*[\w-][\w.-]*$")
]
# Who is shown where an account was deleted and GitHub sends null. https://github.com/ghost
GHOST = "ghost"
# GitHub sends null for a body that was left empty.
Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]


class Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class User(Part):
    login: str
    id: int = 0
    type: str = "User"


class Named(Part):
    name: str = ""


class Slugged(Part):
    slug: str = ""


class Repository(Part):
    id: int = 0
    full_name: RepositoryName


class Installation(Part):
    id: int


class Before(Part):
    """What a field held before an edit."""

    from_: Text = ""

    model_config = ConfigDict(
        frozen=True, extra="ignore", alias_generator=lambda name: name.rstrip("_")
    )


class Changes(Part):
    """What an edit changed; a part that stayed as it was is absent."""

    body: Before | None = None


class Thread(Part):
    """An issue, a pull request or a discussion; a deleted author is null.

    Only a pull request says whether it was `merged`.
    """

    number: int
    title: Text = ""
    body: Text = ""
    user: User | None = None
    updated_at: str = ""
    pull_request: dict[str, Any] | None = None
    merged: bool | None = None
    performed_via_github_app: Slugged | None = None


class Comment(Part):
    id: int
    body: Text = ""
    user: User | None = None
    performed_via_github_app: Slugged | None = None


class DiscussionComment(Comment):
    node_id: str = ""


class ReviewComment(Comment):
    """A comment on lines; a review holds it, also where it is the only one."""

    pull_request_review_id: int | None = None


class Review(Comment):
    """The words of a review, and what it comes to, such as `changes_requested`."""

    state: str = ""


class Delivery(Part):
    action: str = ""
    repository: Repository
    sender: User
    installation: Installation | None = None
    changes: Changes = Changes()
    label: Named = Named()
    assignee: User | None = None


class IssueDelivery(Delivery):
    issue: Thread


class PullRequestDelivery(Delivery):
    pull_request: Thread


class DiscussionDelivery(Delivery):
    discussion: Thread


class CommentDelivery(IssueDelivery):
    comment: Comment


class DiscussionCommentDelivery(DiscussionDelivery):
    comment: DiscussionComment


class ReviewDelivery(PullRequestDelivery):
    review: Review


class ReviewCommentDelivery(PullRequestDelivery):
    comment: ReviewComment
