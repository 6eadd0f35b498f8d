"""GitHub's refusals as errors of the project: the one place that knows both."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from github import BadAttributeException, GithubException, RateLimitExceededException
from pydantic import ValidationError
from requests import RequestException

from patchwright.core.clock import Clock
from patchwright.core.errors import (
    AuthenticationError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitedError,
    ServiceError,
    ServiceUnavailableError,
)

# "Wait for at least one minute", when GitHub does not say how long.
# https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
UNSAID_WAIT = timedelta(minutes=1)

_UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND, _GONE = 401, 403, 404, 410
_TOO_MANY, _BROKEN = 429, 500
_INVALID = (400, 422)


@contextmanager
def translated(clock: Clock) -> Iterator[None]:
    """Let no error of PyGithub or of its transport out."""
    try:
        yield
    except GithubException as error:
        raise explain(error, clock.now()) from error
    except RequestException as error:
        raise ServiceUnavailableError(
            f"GitHub did not answer ({type(error).__name__})"
        ) from error
    except (BadAttributeException, ValidationError) as error:
        raise ServiceError("GitHub's answer has an unexpected shape") from error
    except (RuntimeError, AssertionError) as error:
        # What PyGithub raises when it is sent to another host or scheme.
        raise ServiceError(
            f"GitHub points elsewhere than github.api_url does: {error}"
        ) from error


def explain(error: GithubException, now: datetime) -> ServiceError:
    """Say in our words what an answer of 400 and above means."""
    words = f"GitHub answered {error.status}: {_words(error.data)}"
    headers = {key.lower(): value for key, value in (error.headers or {}).items()}
    if _is_limit(error, headers):
        return RateLimitedError(words, _end_of_wait(headers, now))
    if error.status >= _BROKEN:
        return ServiceUnavailableError(words)
    if error.status in _INVALID:
        return InvalidRequestError(words)
    return _BY_STATUS.get(error.status, ServiceError)(words)


_BY_STATUS: Mapping[int, type[ServiceError]] = {
    _UNAUTHORIZED: AuthenticationError,
    _FORBIDDEN: PermissionDeniedError,
    _NOT_FOUND: NotFoundError,
    _GONE: NotFoundError,
}


def _is_limit(error: GithubException, headers: Mapping[str, str]) -> bool:
    # A secondary limit is a 403 too, often with most of the primary quota left.
    if error.status == _TOO_MANY or isinstance(error, RateLimitExceededException):
        return True
    if error.status != _FORBIDDEN:
        return False
    return "retry-after" in headers or headers.get("x-ratelimit-remaining") == "0"


def _end_of_wait(headers: Mapping[str, str], now: datetime) -> datetime:
    wait = headers.get("retry-after", "")
    if wait.isdigit():
        return now + timedelta(seconds=int(wait))
    if wait:
        return _date_of(wait) or now + UNSAID_WAIT
    reset = headers.get("x-ratelimit-reset", "")
    if headers.get("x-ratelimit-remaining") == "0" and reset.isdigit():
        return datetime.fromtimestamp(int(reset), UTC)
    return now + UNSAID_WAIT


def _date_of(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text).astimezone(UTC)
    except ValueError:
        return None


def _words(data: object) -> str:
    if not isinstance(data, dict):
        return "no explanation"
    problems = data.get("errors")
    listed = problems if isinstance(problems, list) else []
    parts = [str(data.get("message") or "no explanation")]
    parts += [_problem(problem) for problem in listed]
    return "; ".join(part for part in parts if part)


def _problem(problem: object) -> str:
    if not isinstance(problem, dict):
        return str(problem)
    said = problem.get("message") or problem.get("code") or ""
    field = problem.get("field")
    return f"{field}: {said}" if field else str(said)
