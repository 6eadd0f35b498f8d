"""Whether a pull request conflicts is asked until GitHub knows."""

import pytest

from patchwright.integrations.github.adapter import GitHub
from patchwright.resolver.rounds import RETRY_DELAYS_S, fetch_with_mergeability
from tests.adapters.github.conftest import SHOP
from tests.fakes.clock import FakeClock
from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.github.mergeability import ponder

REPO = "acme/shop"


@pytest.fixture
def pull(fake: FakeGitHub) -> int:
    fake.commit_files(REPO, "fix", {"a.py": "2\n"}, author="ann")
    proposal = Proposal(title="Fix", head="fix", base="trunk")
    return fake.open_pull_request(REPO, "ann", proposal)


def test_a_pull_request_conflicts_when_its_base_says_otherwise(
    fake: FakeGitHub, as_app: GitHub, pull: int
) -> None:
    clock = FakeClock()
    assert fetch_with_mergeability(as_app.forge, SHOP, pull, clock).conflicts is False
    fake.commit_files(REPO, "trunk", {"a.py": "3\n"})
    assert fetch_with_mergeability(as_app.forge, SHOP, pull, clock).conflicts is True


def test_what_github_does_not_know_yet_is_asked_again(
    fake: FakeGitHub, as_app: GitHub, pull: int
) -> None:
    clock = FakeClock()
    before = clock.monotonic()
    ponder(fake.world, REPO, pull, times=3)
    assert fetch_with_mergeability(as_app.forge, SHOP, pull, clock).conflicts is False
    assert clock.monotonic() - before == sum(RETRY_DELAYS_S[:3])


def test_what_github_never_finds_out_is_left_at_that(
    fake: FakeGitHub, as_app: GitHub, pull: int
) -> None:
    ponder(fake.world, REPO, pull, times=100)
    assert (
        fetch_with_mergeability(as_app.forge, SHOP, pull, FakeClock()).conflicts is None
    )
