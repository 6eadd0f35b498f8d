"""What Linear's refusals mean in our words."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Final

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError
from requests import RequestException, Response

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

# Where Linear asks us to wait and does not say how long.
DEFAULT_WAIT: Final = timedelta(minutes=1)
_BROKEN, _TOO_MANY = 500, 429
_MAX_CHARS: Final = 300
_NOT_FOUND: Final = "entity not found"
_TAKEN: Final = ("already exists", "duplicate", "already taken", "not unique")
# https://linear.app/developers/rate-limiting
_RESETS: Final = (
    "x-ratelimit-requests-reset",
    "x-ratelimit-complexity-reset",
    "x-ratelimit-endpoint-requests-reset",
)


class _Extensions(BaseModel):
    model_config = ConfigDict(extra="ignore")

    code: str | None = None
    type: str | None = None
    userPresentableMessage: str | None = None  # noqa: N815 - Linear's own name


class _GraphQLError(BaseModel):
    model_config = ConfigDict(extra="ignore")

    message: str = ""
    extensions: _Extensions = _Extensions()

    @property
    def words(self) -> str:
        shown = self.extensions.userPresentableMessage or ""
        # The general message names the field, and the other says what is wrong with it.
        parts = dict.fromkeys(part for part in (self.message, shown) if part)
        return ": ".join(parts)[:_MAX_CHARS] or "no explanation"


class _Errors(BaseModel):
    model_config = ConfigDict(extra="ignore")

    errors: tuple[_GraphQLError, ...] = ()


@contextmanager
def translate_errors() -> Iterator[None]:
    """Let no error of the transport out."""
    try:
        yield
    except RequestException as error:
        raise ServiceUnavailableError(
            f"Linear did not answer ({type(error).__name__})"
        ) from error


def find_error(answer: Response, data: JsonValue, now: datetime) -> ServiceError | None:
    """Return what an answer refuses, None if it does not.

    Linear answers 400 to most refusals, and 200 to some; the code is in the body.
    """
    try:
        found = _Errors.model_validate(data).errors
    except ValidationError:
        found = ()
    if found:
        return _by_code(found[0], answer, now)
    return None if answer.ok else _by_status(answer, now)


def _by_code(error: _GraphQLError, answer: Response, now: datetime) -> ServiceError:
    words = f"Linear says: {error.words}"
    code = (error.extensions.code or error.extensions.type or "").upper()
    code = code.replace(" ", "_")
    lowered = words.lower()
    if code in {"RATELIMITED", "USAGE_LIMIT_EXCEEDED"}:
        return RateLimitedError(words, end_of_wait(answer.headers, now))
    if _NOT_FOUND in lowered:
        return NotFoundError(words)
    if any(one in lowered for one in _TAKEN):
        return AlreadyExistsError(words)
    if code in _BY_CODE:
        return _BY_CODE[code](words)
    if answer.status_code >= _BROKEN:
        return ServiceUnavailableError(words)
    return InvalidRequestError(words)


# https://linear.app/developers/graphql#errors
_BY_CODE: Final[Mapping[str, type[ServiceError]]] = {
    "AUTHENTICATION_ERROR": AuthenticationError,
    "UNAUTHENTICATED": AuthenticationError,
    "FORBIDDEN": PermissionDeniedError,
    "FEATURE_NOT_ACCESSIBLE": PermissionDeniedError,
    "INTERNAL_SERVER_ERROR": ServiceUnavailableError,
    "INTERNAL_ERROR": ServiceUnavailableError,
    "NETWORK_ERROR": ServiceUnavailableError,
    "LOCK_TIMEOUT": ServiceUnavailableError,
}


def _by_status(answer: Response, now: datetime) -> ServiceError:
    status = answer.status_code
    words = f"Linear answered {status}"
    if status == _TOO_MANY:
        return RateLimitedError(words, end_of_wait(answer.headers, now))
    if status >= _BROKEN:
        return ServiceUnavailableError(words)
    return _BY_STATUS.get(status, InvalidRequestError)(words)


_BY_STATUS: Final[Mapping[int, type[ServiceError]]] = {
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    410: NotFoundError,
}


def end_of_wait(headers: Mapping[str, str], now: datetime) -> datetime:
    """Return when the limit ends that was reached: the latest of those at zero."""
    wait = headers.get("retry-after", "")
    if wait.isdecimal():
        return now + timedelta(seconds=int(wait))
    # The last is the end of the year 9999; what is later is no time.
    ends = [
        datetime.fromtimestamp(min(int(reset) / 1000, 253402300799), UTC)
        for name in _RESETS
        if (reset := headers.get(name, "")).isdecimal()
        and headers.get(name.replace("-reset", "-remaining"), "0") in ("0", "")
    ]
    return max([end for end in ends if end > now], default=now + DEFAULT_WAIT)
