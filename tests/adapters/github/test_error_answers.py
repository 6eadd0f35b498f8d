"""What GitHub's refusals mean to those who have to go on.

`responses` gives a single call the answer to order, also one that our fake GitHub would
never give; PyGithub reads it and raises what it raises of a real one.
"""

import json
from datetime import timedelta
from email.utils import format_datetime

import pytest
import responses

from patchwright.core.types.errors import (
    AuthenticationError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitedError,
    ServiceError,
    ServiceUnavailableError,
)
from patchwright.integrations.github.connection import Addresses, GitHubConnection
from patchwright.integrations.github.errors import translate_errors
from tests.fakes.clock import START as NOW
from tests.fakes.clock import FakeClock

# PyGithub names the port in each request.
API, PATH = "https://github.example:443/api/v3", "/repos/acme/shop/issues"
PLACES = Addresses(api_url=API, web_url="https://github.example")
SECONDARY = "You have exceeded a secondary rate limit."


def refusal_of_answer(
    status: int, body: str, headers: dict[str, str] | None = None
) -> ServiceError:
    client = GitHubConnection(PLACES, pause_s=0).open_client(None)
    with responses.RequestsMock() as answers:
        answers.post(f"{API}{PATH}", body, status=status, headers=headers)
        with pytest.raises(ServiceError) as refused, translate_errors(FakeClock()):
            client.requester.requestJsonAndCheck("POST", PATH, input={})
    client.close()
    return refused.value


def refusal(
    status: int, message: str = "No", headers: dict[str, str] | None = None
) -> ServiceError:
    return refusal_of_answer(status, json.dumps({"message": message}), headers)


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
    assert str(refusal_of_answer(422, json.dumps(data))) == (
        "GitHub answered 422: Validation Failed; base: invalid; No commits; "
        "title is too long"
    )


@pytest.mark.parametrize(
    "body", ["", "null", "<html>", '{"data": "<html>"}', '{"errors": 1}']
)
def test_answer_without_an_explanation_is_no_crash(body: str) -> None:
    error = refusal_of_answer(502, body)
    assert type(error) is ServiceUnavailableError
    assert str(error) == "GitHub answered 502: no explanation"


@pytest.mark.parametrize("body", ['"<html>"', '["<html>"]'])
def test_refusal_that_is_no_object_is_no_crash(body: str) -> None:
    assert "unexpected shape" in str(refusal_of_answer(502, body))
