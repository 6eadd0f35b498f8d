"""The fields of GitHub's deliveries that are read, and the ids of posts."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints

# https://docs.github.com/en/webhooks/webhook-events-and-payloads

# It becomes part of addresses: a name of only dots would change the path.
RepositoryName = Annotated[
    str, StringConstraints(pattern=r"(?-u)^[\w-]+/[\w.-]*[\w-][\w.-]*$")
]
# Who is shown where an account was deleted and GitHub sends null. https://github.com/ghost
GHOST = "ghost"
# GitHub sends null for a body that was left empty.
Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]


class GitHubModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class GitHubUser(GitHubModel):
    login: str
    id: int = 0
    type: str = "User"


class NamedPayload(GitHubModel):
    name: str = ""


class AppPayload(GitHubModel):
    slug: str = ""


class RepositoryPayload(GitHubModel):
    id: int = 0
    full_name: RepositoryName


class InstallationPayload(GitHubModel):
    id: int


class PreviousText(GitHubModel):
    """What a field held before an edit."""

    from_: Text = ""

    model_config = ConfigDict(
        frozen=True, extra="ignore", alias_generator=lambda name: name.rstrip("_")
    )


class EditPayload(GitHubModel):
    """What an edit changed; a part that stayed as it was is absent."""

    body: PreviousText | None = None


class HeadPayload(GitHubModel):
    """The commit in which a pull request ends."""

    sha: str = ""


class ThreadPayload(GitHubModel):
    """An issue, a pull request or a discussion; a deleted author is null.

    Only a pull request says whether it was `merged`, and has a `head`.
    """

    number: int
    title: Text = ""
    body: Text = ""
    user: GitHubUser | None = None
    updated_at: str = ""
    pull_request: dict[str, Any] | None = None
    merged: bool | None = None
    head: HeadPayload = HeadPayload()
    performed_via_github_app: AppPayload | None = None


class CommentPayload(GitHubModel):
    id: int
    body: Text = ""
    user: GitHubUser | None = None
    performed_via_github_app: AppPayload | None = None


class DiscussionCommentPayload(CommentPayload):
    node_id: str = ""


class ReviewCommentPayload(CommentPayload):
    """A comment on lines; a review holds it, also where it is the only one."""

    pull_request_review_id: int | None = None


class ReviewPayload(CommentPayload):
    """The words of a review, and what it comes to, such as `changes_requested`."""

    state: str = ""


class GitHubDelivery(GitHubModel):
    action: str = ""
    repository: RepositoryPayload
    sender: GitHubUser
    installation: InstallationPayload | None = None
    changes: EditPayload = EditPayload()
    label: NamedPayload = NamedPayload()
    assignee: GitHubUser | None = None


class IssueDelivery(GitHubDelivery):
    issue: ThreadPayload


class PullRequestDelivery(GitHubDelivery):
    pull_request: ThreadPayload


class DiscussionDelivery(GitHubDelivery):
    discussion: ThreadPayload


class CommentDelivery(IssueDelivery):
    comment: CommentPayload


class DiscussionCommentDelivery(DiscussionDelivery):
    comment: DiscussionCommentPayload


class ReviewDelivery(PullRequestDelivery):
    review: ReviewPayload


class ReviewCommentDelivery(PullRequestDelivery):
    comment: ReviewCommentPayload


_REVIEW = "review:"
_REVIEW_COMMENT = "review-comment:"


def review_post(review_id: int) -> str:
    return f"{_REVIEW}{review_id}"


def review_comment_post(comment_id: int) -> str:
    return f"{_REVIEW_COMMENT}{comment_id}"


def review_comment_of(post_id: str) -> int | None:
    """Return the number of a comment on lines, None if the post is none."""
    return _number(post_id, _REVIEW_COMMENT)


def review_of(post_id: str) -> int | None:
    """Return the number of a review, None if the post is none."""
    return _number(post_id, _REVIEW)


def _number(post_id: str, prefix: str) -> int | None:
    rest = post_id.removeprefix(prefix)
    return int(rest) if rest != post_id and rest.isdecimal() else None
