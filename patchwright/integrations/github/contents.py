"""Read a repository and single files of it, without a checkout."""

import base64
from typing import Literal
from urllib.parse import quote

import github.Repository
from pydantic import BaseModel, TypeAdapter

from patchwright.core.errors import InvalidRequestError, NotFoundError
from patchwright.core.types.threads import RepoRef, Repository
from patchwright.integrations.github.api import GitHubClient


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

    def read(asked: github.Repository.Repository) -> _FileContent | _LinkContent | list[_FolderEntry]:
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
