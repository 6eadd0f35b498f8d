"""Read a repository, its files, branches, commits and comments, with no checkout."""

import base64
from collections.abc import Mapping
from typing import Any, Final, Literal
from urllib.parse import quote

import github.Repository
from pydantic import BaseModel, TypeAdapter

from patchwright.core.types.base import Value
from patchwright.core.types.errors import InvalidRequestError, NotFoundError
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import RepoRef, Repository
from patchwright.integrations.github.client import GitHubClient
from patchwright.integrations.github.webhooks import payloads
from patchwright.integrations.github.webhooks.triggers import actor_of


class _FileContent(BaseModel):
    type: Literal["file"]
    encoding: str
    content: str
    submodule_git_url: str | None = None


class _LinkContent(BaseModel):
    """A link to nothing in the repository, or a submodule."""

    type: Literal["symlink", "submodule"]


class _FolderEntry(BaseModel):
    """Something in a folder."""

    path: str


class _RepositoryAnswer(BaseModel):
    full_name: str
    default_branch: str
    private: bool
    id: int = 0


_ANSWER: TypeAdapter[_FileContent | _LinkContent | list[_FolderEntry]] = TypeAdapter(
    _FileContent | _LinkContent | list[_FolderEntry]
)


def fetch_repository(api: GitHubClient, repo: RepoRef) -> Repository:
    found = api.ask(
        repo,
        lambda asked: _RepositoryAnswer.model_validate(
            api.etag_cache.fetch(asked.requester, asked.url)
        ),
    )
    # A renamed repository answers under its old name, and tells the new one.
    name = found.full_name
    return Repository(
        ref=RepoRef(forge=repo.forge, full_name=name),
        default_branch=found.default_branch,
        clone_url=api.addresses.clone_url(name),
        web_url=api.addresses.repository_url(name),
        private=found.private,
        id=str(found.id or ""),
    )


def fetch_file(api: GitHubClient, repo: RepoRef, path: str, ref: str) -> bytes | None:
    """Return a file; None for what is none, such as a folder or a submodule.

    Raises `InvalidRequestError` for one of more than a megabyte.
    """
    parameters = {"ref": ref} if ref else {}

    def read(
        asked: github.Repository.Repository,
    ) -> _FileContent | _LinkContent | list[_FolderEntry]:
        address = f"{asked.url}/contents/{quote(path)}"
        answer = api.etag_cache.fetch(asked.requester, address, parameters)
        return _ANSWER.validate_python(answer)

    try:
        found = api.ask(repo, read)
    except NotFoundError:
        return None
    return _bytes_of(found, path) if isinstance(found, _FileContent) else None


def _bytes_of(found: _FileContent, path: str) -> bytes | None:
    if found.submodule_git_url:
        return None
    # A larger file has no content here, and "none" for its encoding.
    # https://docs.github.com/en/rest/repos/contents#get-repository-content
    if found.encoding != "base64":
        raise InvalidRequestError(f"{path} is larger than a megabyte")
    return base64.b64decode(found.content)


class _CommitText(BaseModel):
    message: payloads.Text = ""


class _CommitAnswer(BaseModel):
    commit: _CommitText


def has_branch(api: GitHubClient, repo: RepoRef, branch: str) -> bool:
    name = quote(branch, safe="")
    try:
        api.ask(
            repo,
            lambda asked: asked.requester.requestJsonAndCheck(
                "GET", f"{asked.url}/branches/{name}"
            ),
        )
    except NotFoundError:
        return False
    return True


def fetch_commit_message(api: GitHubClient, repo: RepoRef, sha: str) -> str | None:
    """Return a commit's message; `sha` may be the beginning of its id.

    What is no commit, or of several the beginning, is answered as invalid.
    https://docs.github.com/en/rest/commits/commits#get-a-commit
    """
    try:
        _, answer = api.ask(
            repo,
            lambda asked: asked.requester.requestJsonAndCheck(
                "GET", f"{asked.url}/commits/{sha}"
            ),
        )
    except (NotFoundError, InvalidRequestError):
        return None
    return _CommitAnswer.model_validate(answer).commit.message


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


class _CommentAnswer(payloads.GitHubModel):
    id: int
    body: payloads.Text = ""
    user: payloads.GitHubUser | None = None
    issue_url: str = ""
    pull_request_url: str = ""
    pull_request_review_id: int | None = None
    performed_via_github_app: payloads.AppPayload | None = None


class _BranchTip(payloads.GitHubModel):
    sha: str


class _BranchAnswer(payloads.GitHubModel):
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
    answers = map(_CommentAnswer.model_validate, comments)
    return {
        payloads.review_post(review.id): review.body,
        **{payloads.review_comment_post(one.id): one.body for one in answers},
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
        post_id=payloads.review_comment_post(comment.id)
        if is_on_lines
        else str(comment.id),
        text=comment.body,
        author=actor_of(comment.user or payloads.GitHubUser(login=payloads.GHOST)),
        app=app.slug if app else "",
        review_id="" if review is None else str(review),
    )
