"""Fetch the files that are attached to a ticket."""

import re
from typing import Final
from urllib.parse import urljoin, urlsplit

from requests import Response

from patchwright.core.errors import (
    InvalidRequestError,
    NotFoundError,
    ServiceUnavailableError,
)
from patchwright.integrations.http_limits import CHUNK_BYTES, read_limited
from patchwright.integrations.jira.client import JiraClient, ticket_path
from patchwright.integrations.jira.responses import (
    JiraAttachment,
    JiraModel,
    parse_answer,
)

MAX_REDIRECTS: Final = 3
# A data center's addresses, and Cloud's.
_FILE: Final = re.compile(
    r"/(?:secure/(?:attachment|thumbnail)/|rest/api/\d/attachment/content/)(\d+)(?=/|\Z)"
)
_OK: Final = 200
_MISSING: Final = frozenset({401, 403, 404, 410})


class _AttachmentFields(JiraModel):
    attachment: tuple[JiraAttachment, ...] = ()


class _AttachmentTicket(JiraModel):
    fields: _AttachmentFields = _AttachmentFields()


def fetch_attachment(api: JiraClient, key: str, url: str, max_bytes: int) -> bytes:
    """Return a file of this ticket; our rights open no others that a text names."""
    number = attachment_of(api.base_url, url)
    answer = api.get(ticket_path(key), {"fields": "attachment"})
    files = parse_answer(_AttachmentTicket, answer).fields.attachment
    found = next((file.content for file in files if file.id == number), None)
    if found is None:
        raise NotFoundError("this ticket has no such attached file")
    # Jira's own word for where it is, which may not lead elsewhere either.
    attachment_of(api.base_url, found)
    return _follow(api, found, max_bytes)


def attachment_of(base_url: str, url: str) -> str:
    """Return the id of the attachment; `InvalidRequestError` for anything else."""
    site = urlsplit(base_url)
    try:
        wanted = urlsplit(url)
    except ValueError as error:
        raise InvalidRequestError("it is not an address") from error
    is_here = (wanted.scheme, wanted.netloc) == (site.scheme, site.netloc)
    is_below = wanted.path.startswith(f"{site.path}/")
    path = wanted.path.removeprefix(site.path)
    found = _FILE.match(path) if is_here and is_below else None
    if found is None:
        raise InvalidRequestError("it is not a file of this Jira")
    return found[1]


def _follow(api: JiraClient, url: str, max_bytes: int) -> bytes:
    """Go where Jira sends us, as nobody: Cloud's files are on a host for files.

    https://developer.atlassian.com/cloud/jira/platform/rest/v3/api-group-issue-attachments/#api-rest-api-3-attachment-content-id-get
    """
    as_ourselves = True
    for _ in range(MAX_REDIRECTS + 1):
        with api.open(url, as_ourselves=as_ourselves) as answer:
            if not answer.is_redirect:
                return _read(answer, max_bytes)
            url = _next(url, answer.headers["Location"])
        as_ourselves = False
    raise ServiceUnavailableError("Jira redirects too often")


def _next(url: str, location: str) -> str:
    """Return where to go, which is no less secret than the way so far."""
    try:
        found = urljoin(url, location)
    except ValueError as error:
        raise InvalidRequestError("the redirect has no address") from error
    if urlsplit(found).scheme not in ("https", urlsplit(url).scheme):
        raise InvalidRequestError("the redirect goes to an address without TLS")
    return found


def _read(answer: Response, max_bytes: int) -> bytes:
    status = answer.status_code
    if status in _MISSING:
        raise NotFoundError(f"Jira answered {status}")
    if status != _OK:
        raise ServiceUnavailableError(f"Jira answered {status}")
    return read_limited(answer.iter_content(CHUNK_BYTES), max_bytes)
