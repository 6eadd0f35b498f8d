"""What GitHub's refusals mean to those who have to go on."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from github import GithubException

from patchwright.core.errors import (
    AuthenticationError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitedError,
    ServiceError,
    ServiceUnavailableError,
)
from patchwright.integrations.github.errors import map_error

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
SECONDARY = "You have exceeded a secondary rate limit."


def refusal(
    status: int, message: str = "No", headers: dict[str, str] | None = None
) -> ServiceError:
    error = GithubException(status, {"message": message}, headers or {})
    return map_error(error, NOW)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, InvalidRequestError),
        (401, AuthenticationError),
        (403, PermissionDeniedError),
        (404, NotFoundError),
        (409, ServiceError),
        (410, NotFoundError),
        (422, InvalidRequestError),
        (429, RateLimitedError),
        (500, ServiceUnavailableError),
        (503, ServiceUnavailableError),
    ],
)
def test_status_decides(status: int, kind: type[ServiceError]) -> None:
    assert type(refusal(status)) is kind


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry-After": "30", "X-RateLimit-Remaining": "4868"}, timedelta(seconds=30)),
        (
            {"Retry-After": format_datetime(NOW + timedelta(hours=1), usegmt=True)},
            timedelta(hours=1),
        ),
        ({"Retry-After": "soon"}, timedelta(minutes=1)),
        (
            {
                "X-RateLimit-Remaining": "0",
                "X-RateLimit-Reset": str(int(NOW.timestamp()) + 600),
            },
            timedelta(minutes=10),
        ),
        ({"X-RateLimit-Remaining": "0"}, timedelta(minutes=1)),
    ],
)
def test_s20_limit_says_until_when(headers: dict[str, str], wait: timedelta) -> None:
    error = refusal(403, SECONDARY, headers)
    assert isinstance(error, RateLimitedError)
    assert error.until == NOW + wait


def test_denial_with_quota_left_is_no_limit() -> None:
    error = refusal(403, "Resource not accessible", {"X-RateLimit-Remaining": "4868"})
    assert type(error) is PermissionDeniedError


def test_s33_every_problem_is_listed() -> None:
    data = {
        "message": "Validation Failed",
        "errors": [
            {"resource": "PullRequest", "field": "base", "code": "invalid"},
            {"resource": "PullRequest", "code": "custom", "message": "No commits"},
            "title is too long",
        ],
    }
    words = str(map_error(GithubException(422, data, {}), NOW))
    assert words == (
        "GitHub answered 422: Validation Failed; base: invalid; No commits; "
        "title is too long"
    )


@pytest.mark.parametrize("data", [None, "<html>", {"data": "<html>"}, {"errors": 1}])
def test_answer_without_an_explanation_is_no_crash(data: object) -> None:
    words = str(map_error(GithubException(502, data, None), NOW))
    assert words == "GitHub answered 502: no explanation"
