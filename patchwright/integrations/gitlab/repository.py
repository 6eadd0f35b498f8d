"""Read a project, its files, branches and commits, with no checkout."""

from typing import Final
from urllib.parse import quote

import requests
from gitlab.v4.objects import Project

from patchwright.core.types.errors import (
    InvalidRequestError,
    NotFoundError,
    ServiceError,
)
from patchwright.core.types.threads import RepoRef, Repository
from patchwright.integrations.gitlab.answers import (
    CommitAnswer,
    ProjectAnswer,
)
from patchwright.integrations.gitlab.client import GitLabClient
from patchwright.integrations.gitlab.settings import FORMS
from patchwright.integrations.http.limits import CHUNK_BYTES, read_limited

MAX_FILE_BYTES: Final = 1_000_000
# Where there is no commit, there is no branch yet either; git will say so.
FIRST_BRANCH: Final = "main"


def fetch_project(api: GitLabClient, repo: RepoRef) -> ProjectAnswer:
    """Return the project by the name that it has now, whichever it was asked by."""
    return api.ask(
        repo,
        lambda project: ProjectAnswer.model_validate(
            project.manager.gitlab.projects.get(project.id).asdict()
        ),
    )


def fetch_repository(api: GitLabClient, repo: RepoRef) -> Repository:
    """Return the repository of a project.

    An internal one counts as private: it is for those who have an account there, and
    what is read in it must not get to everybody. So does a public project that shows
    its code to members alone.
    """
    found = fetch_project(api, repo)
    name = found.path_with_namespace
    return Repository(
        ref=RepoRef(forge=repo.forge, full_name=name),
        default_branch=found.default_branch or FIRST_BRANCH,
        clone_url=api.addresses.clone_url(name),
        web_url=api.addresses.repository_url(name),
        private=not found.shows_code_to_all,
        id=str(found.id),
        forms=FORMS,
    )


def fetch_file(api: GitLabClient, repo: RepoRef, path: str, ref: str) -> bytes | None:
    """Return a file; None for what is none, such as a folder or a submodule.

    Raises `InvalidRequestError` for one of more than a megabyte.
    """
    try:
        return api.ask(repo, lambda project: _read_file(project, path, ref or "HEAD"))
    except NotFoundError:
        return None


def _read_file(project: Project, path: str, ref: str) -> bytes:
    answer = project.manager.gitlab.http_get(
        f"/projects/{project.encoded_id}/repository/files/{quote(path, safe='')}/raw",
        query_data={"ref": ref},
        streamed=True,
        raw=True,
    )
    if not isinstance(answer, requests.Response):
        raise ServiceError("GitLab's answer has an unexpected shape")
    with answer:
        try:
            return read_limited(answer.iter_content(CHUNK_BYTES), MAX_FILE_BYTES)
        except InvalidRequestError as error:
            raise InvalidRequestError(f"{path} is larger than a megabyte") from error


def has_branch(api: GitLabClient, repo: RepoRef, branch: str) -> bool:
    try:
        api.ask(repo, lambda project: project.branches.get(branch))
    except NotFoundError:
        return False
    return True


def fetch_commit_message(api: GitLabClient, repo: RepoRef, sha: str) -> str | None:
    """Return a commit's message; `sha` may be the beginning of its id."""
    try:
        found = api.ask(repo, lambda project: project.commits.get(sha).asdict())
    except (NotFoundError, InvalidRequestError):
        return None
    return CommitAnswer.model_validate(found).message
