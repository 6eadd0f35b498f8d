"""Refusals that our fake Jira would never give are read as well, and crash nothing."""

from datetime import timedelta

import pytest
import responses

from patchwright.core.types.errors import (
    InvalidRequestError,
    RateLimitedError,
    ServiceError,
    ServiceUnavailableError,
)
from patchwright.integrations.jira.adapter import connect_jira
from patchwright.integrations.jira.client import DEFAULT_WAIT
from patchwright.integrations.jira.settings import JiraSettings
from tests.adapters.jira.conftest import NOON
from tests.fakes.clock import FakeClock

SITE = "https://jira.example"


def refusal(
    status: int, body: str = "", headers: dict[str, str] | None = None
) -> ServiceError:
    settings = JiraSettings.model_validate(
        {"type": "datacenter", "base_url": SITE, "token": "secret"}
    )
    clock = FakeClock(NOON)
    jira = connect_jira(settings, clock)
    with responses.RequestsMock() as answers:
        place = f"{SITE}/rest/api/2/issue/APP-1/comment"
        answers.post(place, body, status=status, headers=headers)
        with pytest.raises(ServiceError) as refused:
            jira.api.post("issue/APP-1/comment", {"body": "Done"})
    jira.close()
    return refused.value


@pytest.mark.parametrize(
    "body",
    [
        *("", "null", "<html>", '"<html>"', '["<html>"]', "{}", '{"errors": ["x"]}'),
        *('{"errorMessages": 1}', '{"errors": null}', '{"message": {"text": "x"}}'),
    ],
)
@pytest.mark.parametrize(
    ("status", "kind"), [(400, InvalidRequestError), (502, ServiceUnavailableError)]
)
def test_answer_without_an_explanation_is_no_crash(
    status: int, kind: type[ServiceError], body: str
) -> None:
    error = refusal(status, body)
    assert type(error) is kind
    assert str(error) == f"Jira answered {status}: no explanation"


def test_every_kind_of_explanation_is_told() -> None:
    body = '{"errorMessages": ["", "Not so.", 7], "errors": {"a": "b"}, "error": "c"}'
    assert str(refusal(400, body)) == "Jira answered 400: Not so.; 7; a: b; c"


@pytest.mark.parametrize(
    ("told", "wait"),
    [
        ("600", timedelta(minutes=10)),
        ("Sun, 01 Mar 2026 12:30:00 GMT", timedelta(minutes=30)),
        ("Sun, 01 Mar 2026 12:30:00 -0000", timedelta(minutes=30)),
        # A short wait is waited for, once here, and the call repeated.
        ("soon", 2 * DEFAULT_WAIT),
        ("-600", 2 * DEFAULT_WAIT),
    ],
)
def test_s20_limit_says_until_when(told: str, wait: timedelta) -> None:
    error = refusal(429, headers={"Retry-After": told})
    assert isinstance(error, RateLimitedError)
    assert error.until == NOON + wait
