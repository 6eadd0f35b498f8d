"""Fetch the files that posts link to, private ones too.

What people drop into a text is read through the API with our token: its address in the
pages is for browsers that are signed in.
https://docs.gitlab.com/api/project_markdown_uploads/
"""

import re
from typing import Final
from urllib.parse import quote, unquote, urlsplit

import requests
from gitlab.v4.objects import Project

from patchwright.core.types.errors import (
    InvalidRequestError,
    NotFoundError,
    ServiceError,
    ServiceUnavailableError,
)
from patchwright.core.types.threads import ForgeThread
from patchwright.integrations.gitlab.client import GitLabClient
from patchwright.integrations.gitlab.connection import (
    TIMEOUT_S,
    USER_AGENT,
    GitLabAddresses,
    without_credentials,
)
from patchwright.integrations.gitlab.repository import fetch_project
from patchwright.integrations.http.limits import CHUNK_BYTES, read_limited

# Where it stands in the project's own pages, or under the project's number.
_UPLOAD: Final = re.compile(r"/uploads/(?P<secret>[0-9a-f]{32})/(?P<name>[^/]+)")
_BY_NUMBER: Final = re.compile(r"/-/project/(?P<id>\d+)")
_OK: Final = 200
_MISSING: Final = frozenset({401, 403, 404, 410})
# For what there is no page without signing in.
_SIGN_IN: Final = 302


def fetch_attachment(
    api: GitLabClient, ref: ForgeThread, url: str, max_bytes: int
) -> bytes:
    """Return the file. Raises a `ServiceError` of a sentence that says why not."""
    path = path_on_server(api.addresses, url)
    upload = _UPLOAD.search(path)
    if upload is None or upload.end() != len(path):
        return _fetch_page(api, url, max_bytes)
    if not _is_of_project(api, ref, path[: upload.start()]):
        # A stranger could name an upload of any other project that we may read.
        return _fetch_page(api, url, max_bytes)
    try:
        return api.ask(
            ref.repo,
            lambda project: _fetch_upload(
                project, upload["secret"], unquote(upload["name"]), max_bytes
            ),
        )
    except NotFoundError:
        # Servers before 17.4 have only the page, which for a public project is for all.
        return _fetch_page(api, url, max_bytes)


def path_on_server(addresses: GitLabAddresses, url: str) -> str:
    """Return what follows the root of this GitLab, without the query.

    Raises `InvalidRequestError` for any other host: an address in a post may name one
    that only we can reach.
    """
    try:
        parts, root = urlsplit(url), urlsplit(addresses.base_url)
    except ValueError as error:
        raise InvalidRequestError("it is not an address") from error
    if not parts.netloc and url.startswith("/uploads/"):
        return parts.path
    is_here = (parts.scheme, parts.netloc) == (root.scheme, root.netloc)
    is_inside = parts.path.startswith(f"{root.path}/")
    is_climbing = ".." in unquote(parts.path).split("/")
    if not is_here or not is_inside or is_climbing:
        raise InvalidRequestError(
            f"{parts.hostname or 'it'} is not a host of this GitLab"
            if not is_here
            else "it is not a file of this GitLab"
        )
    return parts.path.removeprefix(root.path)


def _is_of_project(api: GitLabClient, ref: ForgeThread, place: str) -> bool:
    """Tell whether that is where the thread's own project has its uploads."""
    if place.lower() in ("", f"/{ref.repo.full_name.lower()}"):
        return True
    numbered = _BY_NUMBER.fullmatch(place)
    if numbered is None:
        return False
    return int(numbered["id"]) == fetch_project(api, ref.repo).id


def _fetch_upload(project: Project, secret: str, name: str, max_bytes: int) -> bytes:
    path = f"/projects/{project.encoded_id}/uploads/{secret}/{quote(name, safe='')}"
    answer = project.manager.gitlab.http_get(path, streamed=True, raw=True)
    if not isinstance(answer, requests.Response):
        raise ServiceError("GitLab's answer has an unexpected shape")
    with answer:
        return read_limited(answer.iter_content(CHUNK_BYTES), max_bytes)


def _fetch_page(api: GitLabClient, url: str, max_bytes: int) -> bytes:
    """Read what anybody may read: without our token, and without going elsewhere."""
    if not urlsplit(url).netloc:
        raise NotFoundError("GitLab has no such file")
    try:
        with (
            requests.Session() as session,
            session.get(
                url,
                headers={"User-Agent": USER_AGENT},
                auth=without_credentials,
                timeout=TIMEOUT_S,
                stream=True,
                allow_redirects=False,
                # Of each request: a session's own yields to REQUESTS_CA_BUNDLE.
                verify=api.connection.verify,
            ) as answer,
        ):
            return _read(answer, max_bytes)
    except requests.RequestException as error:
        kind = type(error).__name__
        raise ServiceUnavailableError(f"GitLab did not answer ({kind})") from error


def _read(answer: requests.Response, max_bytes: int) -> bytes:
    status = answer.status_code
    if status in _MISSING or status == _SIGN_IN:
        raise NotFoundError(f"GitLab answered {status}")
    if status != _OK:
        raise ServiceUnavailableError(f"GitLab answered {status}")
    return read_limited(answer.iter_content(CHUNK_BYTES), max_bytes)
