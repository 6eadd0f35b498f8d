"""GitHub's refusals as errors of the project: the one place that knows both."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from github import BadAttributeException, GithubException, RateLimitExceededException
from pydantic import ValidationError
from requests import RequestException
from requests.exceptions import SSLError

from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import (
    AlreadyExistsError,
    AuthenticationError,
    DraftRefusedError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitedError,
    ServiceError,
    ServiceUnavailableError,
)

# "Wait for at least one minute", when GitHub does not say how long.
# https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
DEFAULT_WAIT = timedelta(minutes=1)

_UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND, _GONE = 401, 403, 404, 410
_TOO_MANY, _BROKEN = 429, 500
_INVALID = (400, 422)
# GraphQL refuses with 200, and a type where REST has a status.
# https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
_LIMIT_TYPES = frozenset({"RATE_LIMIT", "RATE_LIMITED"})


@contextmanager
def translate_errors(clock: Clock) -> Iterator[None]:
    """Let no error of PyGithub or of its transport out."""
    try:
        yield
    except GithubException as error:
        raise map_error(error, clock.now()) from error
    except SSLError as error:
        raise ServiceError(
            "GitHub's certificate comes from an authority that is not trusted here; "
            "set github.ca_bundle to the file of that authority"
        ) from error
    except RequestException as error:
        raise ServiceUnavailableError(
            f"GitHub did not answer ({type(error).__name__})"
        ) from error
    except (BadAttributeException, ValidationError) as error:
        raise ServiceError("GitHub's answer has an unexpected shape") from error
    except AttributeError as error:
        # PyGithub looks for a message in whatever JSON a refusal has.
        if error.name != "get":
            raise
        raise ServiceError("GitHub's error response has an unexpected shape") from error
    except (RuntimeError, AssertionError) as error:
        # What PyGithub raises when it is sent to another host or scheme.
        raise ServiceError(
            f"GitHub redirects to another host than github.api_url: {error}"
        ) from error


def map_error(error: GithubException, now: datetime) -> ServiceError:
    """Say in our words what an answer of 400 and above means."""
    words = f"GitHub answered {error.status}: {_message_of(error.data)}"
    headers = {key.lower(): value for key, value in (error.headers or {}).items()}
    if _is_limit(error, headers):
        return RateLimitedError(words, _end_of_wait(headers, now))
    by_type = next(filter(None, map(_BY_TYPE.get, _types(error.data))), None)
    if by_type is not None:
        return by_type(words)
    if error.status >= _BROKEN:
        return ServiceUnavailableError(words)
    if error.status in _INVALID:
        return _invalid_request(words)
    return _BY_STATUS.get(error.status, ServiceError)(words)


def _invalid_request(words: str) -> InvalidRequestError:
    """Tell apart what GitHub tells apart by its words alone."""
    if "already exists" in words:
        return AlreadyExistsError(words)
    is_about_draft = "draft" in words.lower()
    return DraftRefusedError(words) if is_about_draft else InvalidRequestError(words)


_BY_STATUS: Mapping[int, type[ServiceError]] = {
    _UNAUTHORIZED: AuthenticationError,
    _FORBIDDEN: PermissionDeniedError,
    _NOT_FOUND: NotFoundError,
    _GONE: NotFoundError,
}


_BY_TYPE: Mapping[str, type[ServiceError]] = {
    "FORBIDDEN": PermissionDeniedError,
    "INSUFFICIENT_SCOPES": PermissionDeniedError,
    "INTERNAL": ServiceUnavailableError,
    "NOT_FOUND": NotFoundError,
    "SERVICE_UNAVAILABLE": ServiceUnavailableError,
}


def _is_limit(error: GithubException, headers: Mapping[str, str]) -> bool:
    # A secondary limit is a 403 too, often with most of the primary quota left.
    if error.status == _TOO_MANY or isinstance(error, RateLimitExceededException):
        return True
    if not _LIMIT_TYPES.isdisjoint(_types(error.data)):
        return True
    if error.status != _FORBIDDEN:
        return False
    return "retry-after" in headers or headers.get("x-ratelimit-remaining") == "0"


def _end_of_wait(headers: Mapping[str, str], now: datetime) -> datetime:
    wait = headers.get("retry-after", "")
    if wait.isdigit():
        return now + timedelta(seconds=int(wait))
    if wait:
        return _date_of(wait) or now + DEFAULT_WAIT
    reset = headers.get("x-ratelimit-reset", "")
    if headers.get("x-ratelimit-remaining") == "0" and reset.isdigit():
        return datetime.fromtimestamp(int(reset), UTC)
    return now + DEFAULT_WAIT


def _date_of(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text).astimezone(UTC)
    except ValueError:
        return None


def _message_of(data: object) -> str:
    if not isinstance(data, dict):
        return "no explanation"
    parts = [str(data.get("message") or "")]
    parts += [_problem_text(problem) for problem in _problems(data)]
    return "; ".join(part for part in parts if part) or "no explanation"


def _types(data: object) -> tuple[str, ...]:
    """Return what kinds of errors a GraphQL answer names; REST names none."""
    problems = _problems(data) if isinstance(data, dict) else []
    kinds = (one.get("type") for one in problems if isinstance(one, dict))
    return tuple(kind for kind in kinds if isinstance(kind, str))


def _problems(data: Mapping[str, object]) -> list[object]:
    problems = data.get("errors")
    return problems if isinstance(problems, list) else []


def _problem_text(problem: object) -> str:
    if not isinstance(problem, dict):
        return str(problem)
    message = problem.get("message") or problem.get("code") or ""
    field = problem.get("field")
    return f"{field}: {message}" if field else str(message)
