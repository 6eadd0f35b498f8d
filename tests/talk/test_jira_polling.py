"""What no webhook has brought is looked for in Jira, and asked for once."""

from pathlib import Path

import pytest

from tests.flow.office import Office, in_office
from tests.flow.script import in_turn
from tests.flow.story import REPO, fix_turns
from tests.flow.tickets import calling, calls, open_ticket, reply, tell
from tests.provision.waiting import wait_until

both = pytest.mark.parametrize("cloud", [True, False], ids=["cloud", "datacenter"])
OFTEN = {"PATCHWRIGHT_JIRA__POLL_SECONDS": "0.1"}
WITHIN_S = 20


def looks(office: Office) -> int:
    """Return how often the service has searched."""
    return sum("/search" in one.path for one in office.jira.fake.requests)


def wait_for_looks(office: Office) -> None:
    """Wait until a look that begins from now on has ended."""
    seen = looks(office)
    wait_until(lambda: looks(office) >= seen + 2, "two looks", WITHIN_S)


@both
def test_j1_a_request_that_no_delivery_brought_is_found_once(
    tmp_path: Path, *, cloud: bool
) -> None:
    with in_office(
        tmp_path, in_turn(*fix_turns()), cloud=cloud, settings=OFTEN
    ) as office:
        fake = office.jira.fake
        fake.silence()
        key = open_ticket(office)
        fake.comment(key, office.jira.ann, calling(office))
        wait_until(lambda: len(office.story.jobs()) == 1, "the request", WITHIN_S)
        office.story.work()
        assert reply(office, key).startswith("*Done, proven* · [pull request #1|")
        wait_for_looks(office)
        assert len(office.story.jobs()) == len(calls(office, key)) == 1


@both
def test_p1_what_is_found_and_delivered_as_well_is_one_request(
    tmp_path: Path, *, cloud: bool
) -> None:
    with in_office(
        tmp_path, in_turn(*fix_turns()), cloud=cloud, settings=OFTEN
    ) as office:
        jira = office.jira
        key = open_ticket(office)
        jira.fake.label(key, jira.ann, "patchwright")
        jira.fake.comment(key, jira.ann, calling(office))
        wait_until(lambda: len(office.story.jobs()) == 1, "the request", WITHIN_S)
        wait_for_looks(office)
        tell(office)
        office.story.work()
        assert reply(office, key).startswith("*Done, proven*")
        tell(office)
        wait_for_looks(office)
        office.story.work()
        assert len(office.story.jobs()) == len(calls(office, key)) == 1
        assert len(office.story.github.pull_requests(REPO)) == 1
