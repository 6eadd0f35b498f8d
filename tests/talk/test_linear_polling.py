"""What no webhook has brought is looked for in Linear, and asked for once."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.flow.linear import LinearOffice, in_linear
from tests.flow.script import in_turn
from tests.flow.story import REPO, fix_turns
from tests.provision.waiting import wait_until

OFTEN = {"PATCHWRIGHT_LINEAR__POLL_SECONDS": "0.1"}
WITHIN_S = 20


def looks(linear: LinearOffice) -> int:
    """Return how often the service has looked for sessions, which it does last."""
    return sum(b"NewestSessions" in one.body for one in linear.fake.requests)


def wait_for_looks(linear: LinearOffice) -> None:
    """Wait until a look that begins from now on has ended."""
    seen = looks(linear)
    wait_until(lambda: looks(linear) >= seen + 2, "two looks", WITHIN_S)


def by_mention(linear: LinearOffice, key: str) -> None:
    linear.fake.comment(key, linear.ann, linear.call())


def by_description(linear: LinearOffice, key: str) -> None:
    linear.fake.edit(key, linear.ann, description=linear.call())


def by_delegation(linear: LinearOffice, key: str) -> None:
    linear.fake.delegate(key, linear.ann, linear.fake.bot)


@pytest.mark.parametrize("ask", [by_mention, by_description, by_delegation])
def test_a_lost_request_is_found_once_and_a_late_webhook_asks_no_more(
    ask: Callable[[LinearOffice, str], None], tmp_path: Path
) -> None:
    with in_linear(tmp_path, in_turn(*fix_turns()), settings=OFTEN) as linear:
        story = linear.story
        wait_for_looks(linear)
        key = linear.open()
        ask(linear, key)
        wait_until(lambda: len(story.jobs()) == 1, "the request", WITHIN_S)
        story.work()
        wait_for_looks(linear)
        late = linear.fake.deliveries
        linear.work()
        assert {one.event for one in late} >= {"Issue", "AgentSessionEvent"}
        wait_for_looks(linear)
        linear.work()
        assert len(story.jobs()) == 1
        assert len(story.github.pull_requests(REPO)) == 1
        [(kind, text)] = linear.said(key)
        assert kind == "response"
        assert text.startswith("**Done, proven**")
        assert linear.fake.session(key).status == "complete"
