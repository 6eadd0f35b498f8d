"""The files that people put into messages: named in the text, fetched when wanted."""

from typing import Final
from urllib.parse import urlsplit

import requests
from pydantic import SecretStr

from patchwright.core.errors import (
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    ServiceUnavailableError,
)
from patchwright.integrations.http_limits import CHUNK_BYTES, read_limited
from patchwright.integrations.slack.client import TIMEOUT_S, SlackClient

_OK, _REDIRECTED, _BROKEN = 200, 300, 400
_DENIED: Final = frozenset({401, 403})
_MISSING: Final = frozenset({404, 410})
_SLACK: Final = "slack.com"


def fetch_file(api: SlackClient, team: str, url: str, max_bytes: int) -> bytes:
    """Return the file. Raises a `ServiceError` of a sentence that says why not."""
    check_host(api.api_url, url)
    try:
        with requests.Session() as session:
            return _download(session, (url, api.tokens.token_of(team)), max_bytes)
    except requests.RequestException as error:
        kind = type(error).__name__
        raise ServiceUnavailableError(f"Slack did not answer ({kind})") from error


def check_host(api_url: str, url: str) -> None:
    """Raise `InvalidRequestError` for what is not on a host of Slack's.

    The token goes there, and a message may name any host.
    """
    try:
        parts, api = urlsplit(url), urlsplit(api_url)
    except ValueError as error:
        raise InvalidRequestError("it is not an address") from error
    if (parts.scheme, parts.netloc) == (api.scheme, api.netloc):
        return
    host = parts.hostname or ""
    # Only the host: no port, no name and no password.
    is_plain = parts.netloc.lower() == host
    roots = (_SLACK, api.hostname or _SLACK)
    is_slacks = any(host == root or host.endswith(f".{root}") for root in roots)
    if parts.scheme == "https" and is_plain and is_slacks:
        return
    raise InvalidRequestError(f"{host or 'it'} is not a host of Slack")


def _download(
    session: requests.Session, request: tuple[str, SecretStr], max_bytes: int
) -> bytes:
    """Follow no redirect: who lacks the right is sent to a page to sign in.

    https://docs.slack.dev/reference/objects/file-object#authentication
    """
    url, token = request
    session.auth = _Bearer(token)
    with session.get(
        url, timeout=TIMEOUT_S, stream=True, allow_redirects=False
    ) as answer:
        return _read(answer, max_bytes)


class _Bearer(requests.auth.AuthBase):
    """Shows the token; requests would else take credentials from a .netrc file."""

    def __init__(self, token: SecretStr) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self._token.get_secret_value()}"
        return request


def _read(answer: requests.Response, max_bytes: int) -> bytes:
    status = answer.status_code
    if status in _DENIED or _REDIRECTED <= status < _BROKEN:
        raise PermissionDeniedError("Slack does not allow the bot to read it")
    if status in _MISSING:
        raise NotFoundError(f"Slack answered {status}")
    if status != _OK:
        raise ServiceUnavailableError(f"Slack answered {status}")
    return read_limited(answer.iter_content(CHUNK_BYTES), max_bytes)
