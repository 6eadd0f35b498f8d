"""How often somebody may try something within a while."""

from datetime import timedelta

import pytest
from starlette.requests import HTTPConnection

from patchwright.workers.web.rate_limit import (
    Attempt,
    AttemptLimit,
    address_of,
    quota_headers,
)
from tests.fakes.clock import FakeClock

MOST = 3
PERIOD = timedelta(minutes=1)


def test_so_many_within_the_period_for_each_and_refusals_do_not_count() -> None:
    clock = FakeClock()
    limit = AttemptLimit(clock, MOST, PERIOD)
    assert all(limit.take("eve") for _ in range(MOST))
    clock.advance(59)
    assert not limit.take("eve")
    assert not limit.has_room("eve")
    assert limit.take("bob")
    clock.advance(1)
    assert limit.has_room("eve")
    assert all(limit.take("eve") for _ in range(MOST))
    assert not limit.take("eve")


def test_each_is_told_how_many_are_left_and_when_there_are_more() -> None:
    clock = FakeClock()
    limit = AttemptLimit(clock, 2, PERIOD)
    assert limit.count("eve") == Attempt(is_allowed=True, left=1, wait_s=60)
    clock.advance(20.5)
    assert limit.count("eve") == Attempt(is_allowed=True, left=0, wait_s=40)
    refused = limit.count("eve")
    assert refused == Attempt(is_allowed=False, left=0, wait_s=40)
    assert limit.wait_s("eve") == 40
    assert quota_headers(limit, refused) == {
        "RateLimit-Policy": '"requests";q=2;w=60',
        "RateLimit": '"requests";r=0;t=40',
    }
    clock.advance(39.5)
    assert limit.count("eve") == Attempt(is_allowed=True, left=0, wait_s=21)


def test_many_who_try_take_no_more_room_and_those_of_now_are_known() -> None:
    clock = FakeClock()
    limit = AttemptLimit(clock, 1, PERIOD, most_known=4)
    assert limit.take("old")
    clock.advance(60)
    # Asked about, it has no tries any more, and is forgotten as well.
    assert limit.has_room("old")
    for number in range(20):
        assert limit.take(f"eve{number}")
    assert len(limit._tries) <= 4
    assert not limit.take("eve19")
    assert not limit.take("eve18")


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("testclient", "testclient"),
    ],
)
def test_an_address_is_that_of_whoever_has_it(host: str, address: str) -> None:
    scope = {"type": "http", "client": (host, 1), "headers": []}
    assert address_of(HTTPConnection(scope)) == address


def test_a_request_without_an_address_has_one_too() -> None:
    assert address_of(HTTPConnection({"type": "http", "headers": []})) == ""
