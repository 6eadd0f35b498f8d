"""Look up single things that somebody has named: a comment, the head of a branch."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from patchwright.core.errors import NotFoundError
from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.github.api import GitHubClient
from patchwright.integrations.github.payloads import GHOST, GitHubModel, AppPayload, Text, GitHubUser
from patchwright.integrations.github.post_ids import review_comment_post, review_post
from patchwright.integrations.github.reading.listening import actor_of

# Comments on issues and pull requests, and those on lines of a pull request, are two
# kinds with ids of their own: https://docs.github.com/en/rest/issues/comments and
# https://docs.github.com/en/rest/pulls/comments
_KINDS: Final = ("issues", "pulls")


class FoundComment(Value):
    """A comment: where it stands, who wrote it, and with which App, if with one."""

    number: int
    post_id: str
    text: str
    author: Actor
    app: str = ""
    review_id: str = ""


class _CommentAnswer(GitHubModel):
    id: int
    body: Text = ""
    user: GitHubUser | None = None
    issue_url: str = ""
    pull_request_url: str = ""
    pull_request_review_id: int | None = None
    performed_via_github_app: AppPayload | None = None


class _BranchTip(GitHubModel):
    sha: str


class _BranchAnswer(GitHubModel):
    commit: _BranchTip


def fetch_comment(api: GitHubClient, repo: RepoRef, comment_id: int) -> FoundComment:
    """Return a comment; raises `NotFoundError` where there is none of that id."""
    for kind in _KINDS:
        try:
            found = _get(api, repo, f"{kind}/comments/{comment_id}")
        except NotFoundError:
            continue
        return _found_comment(_CommentAnswer.model_validate(found))
    raise NotFoundError(f"{repo.full_name} has no comment {comment_id}")


def fetch_review_texts(
    api: GitHubClient, repo: RepoRef, number: int, review_id: str
) -> Mapping[str, str]:
    """Return the texts of a review by the ids of their posts, its own words first.

    Of very many comments it returns the first hundred.
    """
    path = f"pulls/{number}/reviews/{quote(review_id, safe='')}"
    review = _CommentAnswer.model_validate(_get(api, repo, path))
    comments = _get(api, repo, f"{path}/comments?per_page=100")
    said = map(_CommentAnswer.model_validate, comments)
    return {
        review_post(review.id): review.body,
        **{review_comment_post(one.id): one.body for one in said},
    }


def fetch_head(api: GitHubClient, repo: RepoRef, branch: str) -> str:
    """Return the newest commit of a branch; raises `NotFoundError` for none."""
    found = _get(api, repo, f"branches/{quote(branch, safe='')}")
    return _BranchAnswer.model_validate(found).commit.sha


def _get(api: GitHubClient, repo: RepoRef, path: str) -> Any:  # noqa: ANN401 - JSON, read above
    _, answer = api.ask(
        repo,
        lambda asked: asked.requester.requestJsonAndCheck("GET", f"{asked.url}/{path}"),
    )
    return answer


def _found_comment(comment: _CommentAnswer) -> FoundComment:
    is_on_lines = bool(comment.pull_request_url)
    thread = comment.pull_request_url or comment.issue_url
    review = comment.pull_request_review_id
    app = comment.performed_via_github_app
    return FoundComment(
        number=int(thread.rpartition("/")[2]),
        post_id=review_comment_post(comment.id) if is_on_lines else str(comment.id),
        text=comment.body,
        author=actor_of(comment.user or GitHubUser(login=GHOST)),
        app=app.slug if app else "",
        review_id="" if review is None else str(review),
    )
