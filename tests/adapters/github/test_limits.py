"""GitHub's limits are waited for when that is short, and nothing is done twice."""

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from inspect import signature

import pytest
from pydantic import SecretStr

from patchwright.core.system.clock import SystemClock
from patchwright.core.types.errors import (
    PermissionDeniedError,
    RateLimitedError,
    ServiceUnavailableError,
)
from patchwright.integrations.github.adapter import GitHub, connect_app, connect_token
from patchwright.integrations.github.auth import MemoryTokenCache
from patchwright.integrations.http.limits import LONGEST_WAIT_S
from tests.adapters.github.conftest import APP_ID, SHOP, AppKey, addresses_of, issue_ref
from tests.fakes.clock import FakeClock
from tests.fakes.github.fake import FakeGitHub

SECONDARY = {"message": "You have exceeded a secondary rate limit."}
QUERY = "query { rateLimit { remaining } }"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def github(fake: FakeGitHub, clock: FakeClock) -> Iterator[GitHub]:
    token = fake.add_user("robot")
    fake.grant("acme/shop", "robot", "write")
    opened = connect_token(addresses_of(fake), SecretStr(token), clock=clock, pause_s=0)
    yield opened
    opened.close()


@pytest.fixture
def number(fake: FakeGitHub) -> int:
    return fake.open_issue("acme/shop", "ann", "Wrong sum", "It is off by one.")


def test_s20_a_comment_is_written_once_after_a_secondary_limit(
    fake: FakeGitHub, github: GitHub, clock: FakeClock, number: int
) -> None:
    headers = {"Retry-After": "30", "X-RateLimit-Remaining": "4868"}
    fake.fail_next("POST", r"/comments$", 403, headers=headers, body=SECONDARY)
    github.channel.post(issue_ref(number), "Done")
    assert clock.slept == [pytest.approx(30)]
    assert [one.body for one in fake.comments("acme/shop", number)] == ["Done"]


def test_s20_a_limit_without_a_time_is_waited_for_a_minute(
    fake: FakeGitHub, github: GitHub, clock: FakeClock
) -> None:
    fake.fail_next("GET", r"/shop$", 429, body={"message": "Too many requests"})
    github.forge.fetch_repository(SHOP)
    assert clock.slept == [pytest.approx(60)]


def test_s20_the_bot_does_not_wait_an_hour_for_a_primary_limit(
    fake: FakeGitHub, github: GitHub, clock: FakeClock, number: int
) -> None:
    reset = clock.now() + timedelta(hours=1)
    headers = {
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset": str(int(reset.timestamp())),
    }
    body = {"message": "API rate limit exceeded for installation ID 1."}
    fake.fail_next("POST", r"/comments$", 403, headers=headers, body=body)
    with pytest.raises(RateLimitedError) as caught:
        github.channel.post(issue_ref(number), "Done")
    assert caught.value.until == reset
    assert clock.slept == []


def test_s20_the_waiting_time_for_one_answer_is_limited(
    fake: FakeGitHub, github: GitHub, clock: FakeClock, number: int
) -> None:
    headers = {"Retry-After": "40"}
    fake.fail_next("POST", r"/comments$", 403, headers=headers, body=SECONDARY, times=9)
    with pytest.raises(RateLimitedError):
        github.channel.post(issue_ref(number), "Done")
    assert sum(clock.slept) == 80
    assert sum(clock.slept) <= LONGEST_WAIT_S
    assert fake.comments("acme/shop", number) == []


def test_s20_writes_are_a_second_apart_by_default(
    fake: FakeGitHub, number: int
) -> None:
    assert signature(connect_token).parameters["pause_s"].default == 1
    token, clock = fake.add_user("ida"), SystemClock()
    with closing(
        connect_token(addresses_of(fake), SecretStr(token), clock=clock, pause_s=0.2)
    ) as github:
        github.channel.post(issue_ref(number), "One")
        after_one = clock.monotonic()
        github.channel.post(issue_ref(number), "Two")
    assert clock.monotonic() - after_one >= 0.15
    assert len(fake.comments("acme/shop", number)) == 2


def test_s20_a_token_for_a_push_waits_for_a_limit_too(
    fake: FakeGitHub, app: AppKey, clock: FakeClock
) -> None:
    cache = MemoryTokenCache()
    github = connect_app(
        addresses_of(fake), str(APP_ID), app.pem, cache=cache, clock=clock, pause_s=0
    )
    headers = {"Retry-After": "5"}
    fake.fail_next("POST", r"/access_tokens$", 403, headers=headers, body=SECONDARY)
    with closing(github):
        assert github.forge.mint_credential(SHOP).token
    assert clock.slept == [pytest.approx(5)]


def test_s20_graphql_is_limited_with_status_200(
    fake: FakeGitHub, github: GitHub, clock: FakeClock
) -> None:
    # The second refusal shows that there was a second question.
    for kind in ("RATE_LIMITED", "FORBIDDEN"):
        _refuse_query(fake, kind)
    with pytest.raises(PermissionDeniedError):
        _query(github)
    assert clock.slept == [pytest.approx(60)]


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("FORBIDDEN", PermissionDeniedError),
        ("INTERNAL", ServiceUnavailableError),
    ],
)
def test_a_refusal_in_graphql_means_what_its_type_says(
    fake: FakeGitHub, github: GitHub, kind: str, error: type[Exception]
) -> None:
    _refuse_query(fake, kind)
    with pytest.raises(error, match="not now"):
        _query(github)


def _refuse_query(fake: FakeGitHub, kind: str) -> None:
    problem = {"type": kind, "message": "not now"}
    fake.fail_next("POST", r"/graphql$", 200, body={"data": None, "errors": [problem]})


def _query(github: GitHub) -> object:
    return github.api.ask(SHOP, lambda asked: asked.requester.graphql_query(QUERY, {}))
