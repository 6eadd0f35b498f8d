"""A ticket has one conversation: what is said later goes on with the same work."""

from pathlib import Path

import pytest

from patchwright.core.types.outcome_kind import OutcomeKind
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.office import in_office
from tests.flow.script import Request, asked, in_turn
from tests.flow.story import REPO, fix_turns
from tests.flow.tickets import ask, calling, calls, replies, reply, say, tell

both = pytest.mark.parametrize("cloud", [True, False], ids=["cloud", "datacenter"])
QUESTION = "Should `total` count in cents, or in euros?"
MORE = [
    call("write", path="note.txt", content="Counted in cents.\n"),
    call("finish", title="Note the unit", summary="Noted the unit."),
]


@both
def test_c7_a_second_mention_goes_on_with_the_same_pull_request(
    tmp_path: Path, *, cloud: bool
) -> None:
    def look(request: Request) -> TurnLike:
        assert "note the unit" in asked(request)
        assert "The total ignored the pieces." in asked(request)
        return MORE[0]

    turns = in_turn(*fix_turns(), look, MORE[1])
    with in_office(tmp_path, turns, cloud=cloud) as office:
        github, fake = office.story.github, office.jira.fake
        key = ask(office)
        [first] = github.pull_requests(REPO)
        say(office, key, calling(office, "please note the unit"))
        [second] = github.pull_requests(REPO)
        assert (second.number, second.head_branch) == (1, "patchwright/APP-1-wrong-sum")
        assert second.head_sha != first.head_sha
        one, other = office.story.jobs()
        assert one.conversation_id == other.conversation_id
        assert [said[:32] for said in replies(office, key)] == [
            "*Done, proven* · [pull request #"
        ] * 2
        assert len(calls(office, key)) == 2
        assert len(fake.remote_links(key)) == 1
        assert office.story.replies(1) == []


@both
def test_a_plain_reply_answers_a_question(tmp_path: Path, *, cloud: bool) -> None:
    def go_on(request: Request) -> TurnLike:
        assert "in cents, always" in asked(request)
        return first

    first, *rest = fix_turns()
    turns = in_turn(*[QUESTION] * 3, go_on, *rest)
    with in_office(tmp_path, turns, cloud=cloud) as office:
        jira = office.jira
        key = ask(office)
        said = reply(office, key)
        assert said.startswith("*Needs you*")
        assert "count in cents, or in euros?" in said
        [call_] = calls(office, key)
        assert call_.startswith(f"{jira.fake.mention(jira.ann)} *Needs you*")
        say(office, key, "In roubles!", author=jira.zoe)
        assert reply(office, key).startswith("*Needs you*")
        say(office, key, "in cents, always")
        assert reply(office, key).startswith("*Done, proven* · [pull request #1|")
        assert len(office.story.jobs()) == 1
        assert len(calls(office, key)) == 2


def test_words_without_a_mention_ask_for_nothing_where_nothing_waits(
    tmp_path: Path,
) -> None:
    with in_office(tmp_path, in_turn(*fix_turns())) as office:
        key = ask(office)
        say(office, key, "Thanks a lot!")
        assert len(office.story.jobs()) == 1
        assert len(replies(office, key)) == len(calls(office, key)) == 1


def test_a_follow_up_while_it_runs_is_heard_by_the_same_run(tmp_path: Path) -> None:
    def interrupt(_request: Request) -> TurnLike:
        jira = office.jira
        jira.fake.comment(key, jira.ann, calling(office, "mind the empty cart"))
        tell(office)
        return first

    def hear(request: Request) -> TurnLike:
        assert "mind the empty cart" in asked(request)
        return second

    first, second, *rest = fix_turns()
    with in_office(tmp_path, in_turn(interrupt, hear, *rest)) as office:
        key = "APP-1"
        assert ask(office) == key
        assert office.story.outcome().kind is OutcomeKind.RESOLVED
        assert reply(office, key).startswith("*Done, proven*")
        assert len(calls(office, key)) == 1
