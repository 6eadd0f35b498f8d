"""Jira's refusals as errors of the project: the one place that knows both."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

from requests import RequestException, Response
from requests.exceptions import SSLError

from patchwright.core.errors import (
    AuthenticationError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitedError,
    ServiceError,
    ServiceUnavailableError,
)

# Where Jira asks us to wait and does not say how long.
DEFAULT_WAIT = timedelta(minutes=1)
_TOO_MANY, _CONFLICT, _BROKEN = 429, 409, 500
_NO_MESSAGE: Final = "no explanation"
_MAX_CHARS: Final = 500
_TITLE: Final = re.compile(r"<title>([^<]{1,200})", re.IGNORECASE)
# Whoever is not let in is nobody there, and nobody is told that a ticket is missing.
# https://developer.atlassian.com/server/jira/platform/jira-rest-api-example-basic-authentication-6291732/
_LOGIN: Final = "x-seraph-loginreason"
_NOT_LET_IN: Final = ("AUTHENTICATED_FAILED", "AUTHENTICATION_DENIED")
_DENIED: Final = "x-authentication-denied-reason"


@contextmanager
def translate_errors() -> Iterator[None]:
    """Let no error of the transport out."""
    try:
        yield
    except SSLError as error:
        raise ServiceError(
            "Jira's certificate comes from an authority that is not trusted here; set "
            "jira.ca_bundle to the file of that authority"
        ) from error
    except RequestException as error:
        raise ServiceUnavailableError(
            f"Jira did not answer ({type(error).__name__})"
        ) from error


def map_error(answer: Response, now: datetime) -> ServiceError:
    """Say in our words what an answer of 400 and above means."""
    status, headers = answer.status_code, answer.headers
    words = f"Jira answered {status}: {_message_of(answer)}"
    if status == _TOO_MANY:
        return RateLimitedError(words, _end_of_wait(headers, now))
    if headers.get(_DENIED):
        return AuthenticationError(f"{words}; a person must log in once with this user")
    if any(reason in headers.get(_LOGIN, "") for reason in _NOT_LET_IN):
        return AuthenticationError(
            f"{words}; it does not accept jira.token: set a valid one"
        )
    if status >= _BROKEN or status == _CONFLICT:
        return ServiceUnavailableError(words)
    if status in _INVALID:
        return InvalidRequestError(words, _fields(answer))
    return _BY_STATUS.get(status, ServiceError)(words)


_BY_STATUS: Mapping[int, type[ServiceError]] = {
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    410: NotFoundError,
}
_INVALID: Final = frozenset({400, 413, 422})


def _end_of_wait(headers: Mapping[str, str], now: datetime) -> datetime:
    # https://developer.atlassian.com/cloud/jira/platform/rate-limiting/
    wait = headers.get("retry-after", "")
    if wait.isdecimal():
        return now + timedelta(seconds=int(wait))
    try:
        return parsedate_to_datetime(wait).astimezone(UTC)
    except ValueError:
        return now + DEFAULT_WAIT


def _fields(answer: Response) -> frozenset[str]:
    """Return the names of the fields that are wrong."""
    try:
        data = answer.json()
    except ValueError:
        return frozenset()
    single = data.get("errors") if isinstance(data, dict) else None
    return frozenset(single) if isinstance(single, dict) else frozenset()


def _message_of(answer: Response) -> str:
    """Return what is wrong as a whole, and what is wrong with single fields."""
    try:
        data = answer.json()
    except ValueError:
        title = _TITLE.search(answer.text)
        return title[1].strip() if title else _NO_MESSAGE
    return _message_in(data)[:_MAX_CHARS] if isinstance(data, dict) else _NO_MESSAGE


def _message_in(data: Mapping[str, object]) -> str:
    general = data.get("errorMessages")
    parts = [str(part) for part in general] if isinstance(general, list) else []
    single = data.get("errors")
    if isinstance(single, dict):
        parts += [f"{field}: {problem}" for field, problem in single.items()]
    other = (data.get(name) for name in ("message", "errorMessage", "error"))
    parts += [part for part in other if isinstance(part, str)]
    return "; ".join(part for part in parts if part) or _NO_MESSAGE
