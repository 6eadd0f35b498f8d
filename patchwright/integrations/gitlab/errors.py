"""GitLab's refusals as errors of the project: the one place that knows both."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import urlsplit

from gitlab import GitlabError
from gitlab.base import RESTObject
from pydantic import ValidationError
from requests import RequestException, Response
from requests.exceptions import SSLError

from patchwright.core.types.errors import (
    AlreadyExistsError,
    AuthenticationError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitedError,
    ServiceError,
    ServiceUnavailableError,
)

# When GitLab does not say how long to wait.
DEFAULT_WAIT: Final = timedelta(minutes=1)
_REFUSED: Final = 400
_UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND, _NOT_ALLOWED = 401, 403, 404, 405
_CONFLICT, _GONE, _TOO_MANY, _BROKEN = 409, 410, 429, 500
_INVALID: Final = frozenset({400, 405, 406, 409, 412, 413, 415, 422})
_NO_MESSAGE: Final = "no explanation"
_MAX_CHARS: Final = 500
_TITLE: Final = re.compile(r"<title>([^<]{1,200})", re.IGNORECASE)
_EXISTS: Final = ("already exists", "already been taken")
# Somebody else's request holds what this one needs; the same may work in a moment.
_LOCKED: Final = "resource lock"
# A write to a project by a name that it had. https://docs.gitlab.com/api/rest/#redirects
_MOVED: Final = "moved project"
_SCOPE: Final = "insufficient_scope"


class ProjectMovedError(NotFoundError):
    """The project has another name now, and is written to by that alone."""


@contextmanager
def translate_errors() -> Iterator[None]:
    """Let no error of python-gitlab or of its transport out."""
    try:
        yield
    except SSLError as error:
        raise ServiceError(
            "GitLab's certificate comes from an authority that is not trusted here; "
            "set gitlab.ca_bundle to the file of that authority"
        ) from error
    except RequestException as error:
        raise ServiceUnavailableError(
            f"GitLab did not answer ({type(error).__name__})"
        ) from error
    except (GitlabError, ValidationError) as error:
        raise ServiceError("GitLab's answer has an unexpected shape") from error
    except AttributeError as error:
        # What python-gitlab raises for a field that an answer lacks.
        if not isinstance(error.obj, RESTObject):
            raise
        raise ServiceError("GitLab's answer has an unexpected shape") from error


def check_answer(answer: Response, now: datetime, *, is_file: bool = False) -> None:
    """Raise what an answer means that is a refusal, or no answer of GitLab's API.

    `is_file`: whatever it has may be what was asked for.
    """
    if answer.status_code >= _REFUSED:
        raise map_error(answer, now)
    is_page = answer.headers.get("content-type", "").startswith("text/html")
    if is_page and not is_file:
        title = _TITLE.search(answer.text)
        named = f" ({title[1].strip()})" if title else ""
        raise ServiceError(
            f"a web page{named} came in place of an answer of GitLab's API: "
            "gitlab.base_url leads to something else, or a proxy answers for it"
        )


def map_error(answer: Response, now: datetime) -> ServiceError:
    """Say in our words what an answer of 400 and above means."""
    status, headers = answer.status_code, answer.headers
    data = _json_of(answer)
    words = f"GitLab answered {status}: {_message_of(answer, data)}"
    # Where too many logins have failed, 403 is a limit as well.
    if status == _TOO_MANY or (status == _FORBIDDEN and "retry-after" in headers):
        return RateLimitedError(words, _end_of_wait(headers, now))
    if status == _NOT_ALLOWED and _MOVED in words:
        return ProjectMovedError(words)
    if status >= _BROKEN or (status == _CONFLICT and _is_locked(answer, words)):
        return ServiceUnavailableError(words)
    if status in _INVALID:
        exists = any(phrase in words for phrase in _EXISTS)
        kind = AlreadyExistsError if exists else InvalidRequestError
        return kind(words, _fields(data))
    return _BY_STATUS.get(status, ServiceError)(words)


_BY_STATUS: Final[Mapping[int, type[ServiceError]]] = {
    _UNAUTHORIZED: AuthenticationError,
    _FORBIDDEN: PermissionDeniedError,
    _NOT_FOUND: NotFoundError,
    _GONE: NotFoundError,
}


def outside_error(base_url: str, target: str) -> ServiceError:
    """Say that we were sent away from the API, without the secrets of an address."""
    parts = urlsplit(target)
    where = f"{parts.scheme}://{parts.hostname}{parts.path}"
    return ServiceError(
        f"GitLab redirects from gitlab.base_url ({base_url}) to {where}: set it to the "
        "address that people see in their browser"
    )


def _is_locked(answer: Response, words: str) -> bool:
    return _LOCKED in f"{answer.reason} {words}".lower()


def _end_of_wait(headers: Mapping[str, str], now: datetime) -> datetime:
    """https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/."""
    wait = headers.get("retry-after", "")
    if wait.isdecimal():
        return now + timedelta(seconds=int(wait))
    if wait:
        return _date_of(wait) or now + DEFAULT_WAIT
    reset = headers.get("ratelimit-reset", "")
    if reset.isdecimal():
        return datetime.fromtimestamp(int(reset), UTC)
    return now + DEFAULT_WAIT


def _date_of(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text).astimezone(UTC)
    except ValueError:
        return None


def _json_of(answer: Response) -> Mapping[str, object]:
    try:
        data = json.loads(answer.content)
    except (ValueError, RecursionError):
        # A proxy in between answers in a form of its own.
        return {}
    return data if isinstance(data, dict) else {}


def _message_of(answer: Response, data: Mapping[str, object]) -> str:
    """Return what is wrong as a whole, and what is wrong with single fields."""
    if not data:
        title = _TITLE.search(answer.text)
        return title[1].strip() if title else _NO_MESSAGE
    if data.get("error") == _SCOPE:
        scope = data.get("scope") or "api"
        return f"the token lacks the scope `{scope}`"
    parts = [_problem_text(data.get(key)) for key in ("message", "error")]
    parts.append(_problem_text(data.get("error_description")))
    known = dict.fromkeys(part for part in parts if part)
    return "; ".join(known)[:_MAX_CHARS] or _NO_MESSAGE


def _problem_text(problem: object) -> str:
    """Write what may be a sentence, several, or several for each field."""
    match problem:
        case None:
            return ""
        case list():
            return ", ".join(map(_problem_text, problem))
        case dict():
            named = (f"{key}: {_problem_text(one)}" for key, one in problem.items())
            return "; ".join(named)
        case _:
            return str(problem)


def _fields(data: Mapping[str, object]) -> frozenset[str]:
    """Return the names of the fields that are wrong."""
    problems = data.get("message")
    return frozenset(problems) if isinstance(problems, dict) else frozenset()
