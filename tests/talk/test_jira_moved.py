"""A ticket that was moved to another project goes on with its one pull request."""

from pathlib import Path

import pytest

from tests.flow.office import OTHER, in_office
from tests.flow.script import in_turn
from tests.flow.story import REPO, fix_turns
from tests.flow.tickets import ask, calling, calls, replies, say, tell


@pytest.mark.parametrize("cloud", [True, False], ids=["cloud", "datacenter"])
def test_a_moved_ticket_that_asks_again_has_no_second_pull_request(
    tmp_path: Path, *, cloud: bool
) -> None:
    turns = in_turn(*fix_turns(), "It is done already.", "It is done already.")
    with in_office(tmp_path, turns, cloud=cloud) as office:
        key = ask(office)
        moved = office.jira.fake.move_to_project(key, office.jira.ann, OTHER)
        tell(office)
        say(office, moved, calling(office, "is it done?"))
        first, second = office.story.jobs()
        assert first.conversation_id == second.conversation_id
        assert len(office.story.github.pull_requests(REPO)) == 1
        assert len(replies(office, moved)) == 2
        calls(office, moved)
