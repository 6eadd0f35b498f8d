"""Look up single things that somebody has named: a comment, the head of a branch."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from patchwright.core.errors import NotFoundError
from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.github.api import Api
from patchwright.integrations.github.payloads import GHOST, Part, Slugged, Text, User
from patchwright.integrations.github.post_ids import review_comment_post, review_post
from patchwright.integrations.github.reading.listening import actor_of

# Comments on issues and pull requests, and those on lines of a pull request, are two
# kinds with ids of their own: https://docs.github.com/en/rest/issues/comments and
# https://docs.github.com/en/rest/pulls/comments
_KINDS: Final = ("issues", "pulls")


class Said(Value):
    """A comment: where it stands, who wrote it, and with which App, if with one."""

    number: int
    post_id: str
    text: str
    author: Actor
    app: str = ""
    review_id: str = ""


class _Comment(Part):
    id: int
    body: Text = ""
    user: User | None = None
    issue_url: str = ""
    pull_request_url: str = ""
    pull_request_review_id: int | None = None
    performed_via_github_app: Slugged | None = None


class _Tip(Part):
    sha: str


class _Branch(Part):
    commit: _Tip


def fetch_comment(api: Api, repo: RepoRef, comment_id: int) -> Said:
    """Return a comment; raises `NotFoundError` where there is none of that id."""
    for kind in _KINDS:
        try:
            found = _ask(api, repo, f"{kind}/comments/{comment_id}")
        except NotFoundError:
            continue
        return _said(_Comment.model_validate(found))
    raise NotFoundError(f"{repo.full_name} has no comment {comment_id}")


def fetch_review_texts(
    api: Api, repo: RepoRef, number: int, review_id: str
) -> Mapping[str, str]:
    """Return the texts of a review by the ids of their posts, its own words first.

    Of very many comments it returns the first hundred.
    """
    path = f"pulls/{number}/reviews/{quote(review_id, safe='')}"
    review = _Comment.model_validate(_ask(api, repo, path))
    comments = _ask(api, repo, f"{path}/comments?per_page=100")
    said = map(_Comment.model_validate, comments)
    return {
        review_post(review.id): review.body,
        **{review_comment_post(one.id): one.body for one in said},
    }


def fetch_head(api: Api, repo: RepoRef, branch: str) -> str:
    """Return the newest commit of a branch; raises `NotFoundError` for none."""
    found = _ask(api, repo, f"branches/{quote(branch, safe='')}")
    return _Branch.model_validate(found).commit.sha


def _ask(api: Api, repo: RepoRef, path: str) -> Any:  # noqa: ANN401 - JSON, read above
    _, answer = api.ask(
        repo,
        lambda asked: asked.requester.requestJsonAndCheck("GET", f"{asked.url}/{path}"),
    )
    return answer


def _said(comment: _Comment) -> Said:
    is_on_lines = bool(comment.pull_request_url)
    thread = comment.pull_request_url or comment.issue_url
    review = comment.pull_request_review_id
    app = comment.performed_via_github_app
    return Said(
        number=int(thread.rpartition("/")[2]),
        post_id=review_comment_post(comment.id) if is_on_lines else str(comment.id),
        text=comment.body,
        author=actor_of(comment.user or User(login=GHOST)),
        app=app.slug if app else "",
        review_id="" if review is None else str(review),
    )
