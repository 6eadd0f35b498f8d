"""Commands in comments on a ticket mean what they mean everywhere."""

from pathlib import Path

import pytest

from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.resolver.job import JobState
from tests.fakes.llm.turns import call
from tests.flow.office import in_office
from tests.flow.script import in_turn
from tests.flow.story import REPO, fix_turns
from tests.flow.text import steady
from tests.flow.tickets import ask, calling, calls, replies, reply, say

both = pytest.mark.parametrize("cloud", [True, False], ids=["cloud", "datacenter"])
PLAN = call("finish", summary="A plan.", answer="1. Test it.\n2. Fix it.")
ASK = ["Cents, or euros?"] * 3


@both
def test_a_plan_is_approved_in_a_comment(tmp_path: Path, *, cloud: bool) -> None:
    with in_office(tmp_path, in_turn(PLAN, *fix_turns()), cloud=cloud) as office:
        jira = office.jira
        key = ask(office, "plan a fix of the sum")
        said = reply(office, key)
        assert said.startswith("*Plan*")
        assert "Fix it." in said
        assert "Reply {{approve}} to start, {{reject}} to cancel" in said
        say(office, key, calling(office, "approve"), author=jira.zoe)
        assert office.story.jobs()[0].state is JobState.WAITING_USER
        assert office.story.branches() == []
        say(office, key, calling(office, "approve"))
        assert replies(office, key)[0].startswith("*Done, proven* · [pull request #1|")
        assert len(office.story.jobs()) == 1


@both
def test_stop_ends_what_waits(tmp_path: Path, *, cloud: bool) -> None:
    with in_office(tmp_path, list(ASK), cloud=cloud) as office:
        key = ask(office)
        say(office, key, "@patchwright stop")
        assert reply(office, key).startswith("*Stopped*")
        assert office.story.outcome().kind is OutcomeKind.STOPPED
        assert len(calls(office, key)) == 1


def test_status_is_answered_and_starts_nothing(tmp_path: Path) -> None:
    with in_office(tmp_path, in_turn(*fix_turns())) as office:
        key = ask(office)
        before = len(office.story.provider.requests)
        say(office, key, calling(office, "status"))
        assert len(office.story.provider.requests) == before
        told = steady(replies(office, key)[1])
        assert told.startswith("Nothing is running here."), told
        calls(office, key)


def test_retry_does_it_again_from_the_beginning(tmp_path: Path) -> None:
    turns = in_turn(*ASK, *fix_turns())
    with in_office(tmp_path, turns) as office:
        key = ask(office)
        say(office, key, calling(office, "stop"))
        say(office, key, calling(office, "retry"))
        stopped, done = replies(office, key)
        assert stopped.startswith("*Stopped*")
        assert done.startswith("*Done, proven* · [pull request #1|")
        assert len(office.story.github.pull_requests(REPO)) == 1
        assert len(calls(office, key)) == 2
