"""What a ticket says appears in a public repository only if somebody agrees."""

from pathlib import Path

import pytest

from patchwright.resolver.job import JobState
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.office import Office, in_office
from tests.flow.script import in_turn
from tests.flow.story import REPO, fix_turns
from tests.flow.text import steady
from tests.flow.tickets import (
    ask,
    calling,
    calls,
    open_ticket,
    replies,
    reply,
    say,
    tell,
)

both = pytest.mark.parametrize("cloud", [True, False], ids=["cloud", "datacenter"])
SECRET = "Our customer Hooli pays twice for every third piece in the cart."


def quoting() -> list[TurnLike]:
    """Return the usual fix, by a model that repeats what it has read."""
    *work, _ = fix_turns()
    words = f"As Ann Lee says in APP-1: {SECRET}"
    end = call(
        "finish",
        title="Count every piece",
        summary=words,
        test_commands=["python3 -m unittest test_pieces"],
    )
    return [*work, end]


def public(office: Office) -> str:
    """Return everything that the one pull request shows."""
    [pull] = office.story.github.pull_requests(REPO)
    return f"{pull.title}\n{pull.body}\n{pull.head_branch}"


@both
def test_k1_nothing_is_shown_in_public_before_somebody_agrees(
    tmp_path: Path, *, cloud: bool
) -> None:
    with in_office(tmp_path, in_turn(*quoting()), cloud=cloud, private=False) as office:
        key = open_ticket(office, SECRET)
        say(office, key, calling(office))
        assert reply(office, key).startswith("*Needs you*")
        assert "quote this private ticket?" in reply(office, key)
        assert office.story.jobs()[0].state is JobState.WAITING_USER
        assert office.story.provider.requests == []
        say(office, key, "share", author=office.jira.zoe)
        assert office.story.provider.requests == []
        say(office, key, "keep it out")
        assert replies(office, key)[-1].startswith("*Done, proven* · [pull request #1|")
        shown = public(office)
        for words in ("Hooli", "Ann Lee", "APP-1", office.jira.fake.base_url):
            assert words not in shown
        assert "Hooli" in replies(office, key)[-1]
        assert len(calls(office, key)) >= 1


def test_k1_what_may_be_shared_is_named_and_linked(tmp_path: Path) -> None:
    with in_office(tmp_path, in_turn(*quoting()), private=False) as office:
        key = open_ticket(office, SECRET)
        say(office, key, calling(office))
        say(office, key, "share")
        assert SECRET in public(office)
        assert f"[APP-1]({office.jira.fake.base_url}/browse/APP-1)" in public(office)
        assert replies(office, key)[-1].startswith("*Done, proven* · [pull request #1|")
        calls(office, key)


def test_k1_a_request_that_some_alone_may_read_is_never_quoted_in_public(
    tmp_path: Path,
) -> None:
    with in_office(tmp_path, in_turn(*quoting()), private=False) as office:
        jira = office.jira
        key = open_ticket(office)
        asked = calling(office, f"please fix this. {SECRET}")
        jira.fake.comment(key, jira.ann, asked, role="Developers")
        jira.tell()
        office.story.work()
        say(office, key, "always share")
        assert SECRET not in public(office)
        assert "[…]" in public(office)
        assert replies(office, key)[-1].startswith("*Done, proven*")
        calls(office, key)


@both
def test_what_some_alone_may_read_is_answered_for_them_alone(
    tmp_path: Path, *, cloud: bool
) -> None:
    with in_office(tmp_path, in_turn(*quoting()), cloud=cloud) as office:
        jira = office.jira
        key = open_ticket(office)
        jira.fake.comment(key, jira.ann, calling(office, SECRET), role="Developers")
        tell(office)
        office.story.work()
        assert replies(office, key)[-1].startswith("*Done, proven*")
        assert len(calls(office, key)) == 1
        limit = {"type": "role", "value": "Developers"}
        assert [one.visibility for one in jira.answers(key)] == [limit, limit]


def test_a_note_among_colleagues_is_answered_among_them(tmp_path: Path) -> None:
    with in_office(tmp_path, in_turn(*quoting())) as office:
        jira = office.jira
        key = open_ticket(office)
        jira.fake.comment(key, jira.ann, calling(office, SECRET), internal=True)
        tell(office)
        office.story.work()
        assert replies(office, key)[-1].startswith("*Done, proven*")
        calls(office, key)
        notes = [one.properties["sd.public.comment"] for one in jira.answers(key)]
        assert notes == [{"internal": True}, {"internal": True}]


def test_k1_what_always_holds_is_not_asked_again(tmp_path: Path) -> None:
    turns = in_turn(*fix_turns(), "A?", "A?", "A?")
    with in_office(tmp_path, turns, private=False) as office:
        first = ask(office)
        say(office, first, "always share")
        assert replies(office, first)[-1].startswith("*Done, proven*")
        calls(office, first)
        second = ask(office)
        assert "is public" not in reply(office, second)
        assert "A?" in reply(office, second)
        calls(office, second)


QUESTION = """\
*Needs you* · [run|GITHUB/runs/RUN]

*{{acme/shop}}* *is public. May the pull request quote this private ticket?* \
Everybody can read a pull request there.

* {{share}}: it may quote this ticket, name its authors, and link to it.
* {{keep it out}}: it describes the change, without names, addresses or quotations \
from this ticket (eight words in a row, or three in a title or a file name). Single \
words and the subject of the change can still show.

Reply {{share}} or {{keep it out}}. With {{always}}, your answer is valid for all \
requests from this project to that repository. Nothing is shown there before you answer.

run RUN · requested by Ann Lee · in acme/shop · thread read at TIME · model \
openai/scripted

* Stop: reply {{&#64;patchwright stop}}"""


def test_the_whole_question(tmp_path: Path) -> None:
    with in_office(tmp_path, [], private=False, cloud=False) as office:
        key = ask(office)
        assert steady(reply(office, key)) == QUESTION
        calls(office, key)
