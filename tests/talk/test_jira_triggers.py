"""Whatever asks in Jira, once: a comment, a text, a label, an assignment."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.flow.office import PROJECT, Office, in_office
from tests.flow.script import in_turn
from tests.flow.story import REPO, fix_turns
from tests.flow.tickets import (
    TITLE,
    calling,
    calls,
    open_ticket,
    replies,
    reply,
    say,
    tell,
)

Ask = Callable[[Office], str]
both = pytest.mark.parametrize("cloud", [True, False], ids=["cloud", "datacenter"])


def by_mention(office: Office) -> str:
    key = open_ticket(office)
    office.jira.fake.comment(key, office.jira.ann, calling(office))
    return key


def by_words(office: Office) -> str:
    key = open_ticket(office)
    office.jira.fake.comment(key, office.jira.ann, "@patchwright please fix the sum")
    return key


def by_description(office: Office) -> str:
    text = f"The total ignores the pieces.\n\n{calling(office)}"
    return office.jira.fake.create(PROJECT, office.jira.ann, TITLE, text)


def by_label(office: Office) -> str:
    key = open_ticket(office)
    office.jira.fake.label(key, office.jira.ann, "urgent")
    office.jira.fake.label(key, office.jira.ann, "patchwright")
    return key


def by_assignment(office: Office) -> str:
    key = open_ticket(office)
    office.jira.fake.assign(key, office.jira.ann, office.jira.fake.bot)
    return key


# How somebody is called, and who they are, is written in two ways.
WAYS = [
    (by_mention, True),
    (by_mention, False),
    (by_words, True),
    (by_description, False),
    (by_label, True),
    (by_assignment, True),
    (by_assignment, False),
]


@pytest.mark.parametrize(("ask", "cloud"), WAYS)
def test_t10_a_request_becomes_one_pull_request(
    tmp_path: Path, ask: Ask, *, cloud: bool
) -> None:
    with in_office(tmp_path, in_turn(*fix_turns()), cloud=cloud) as office:
        key = ask(office)
        tell(office)
        office.story.work()
        assert reply(office, key).startswith("*Done, proven* · [pull request #1|")
        assert len(calls(office, key)) == 1
        [pull] = office.story.github.pull_requests(REPO)
        assert pull.title == "APP-1: Count every piece"
        assert pull.head_branch == "patchwright/APP-1-wrong-sum"
        tell(office)
        office.story.work()
        assert len(office.story.jobs()) == 1


@both
def test_what_is_put_on_a_ticket_while_it_is_made_is_one_request(
    tmp_path: Path, *, cloud: bool
) -> None:
    with in_office(tmp_path, in_turn(*fix_turns()), cloud=cloud) as office:
        jira = office.jira
        key = jira.fake.create(
            PROJECT, jira.ann, TITLE, calling(office), labels=["patchwright"]
        )
        jira.fake.label(key, jira.ann, "urgent")
        jira.fake.assign(key, jira.ann, jira.fake.bot)
        tell(office)
        office.story.work()
        assert reply(office, key).startswith("*Done, proven*")
        calls(office, key)
        assert len(office.story.jobs()) == 1


@both
def test_a_label_that_was_there_already_asks_for_nothing(
    tmp_path: Path, *, cloud: bool
) -> None:
    with in_office(tmp_path, in_turn(*fix_turns()), cloud=cloud) as office:
        key = by_label(office)
        tell(office)
        office.story.work()
        office.jira.fake.label(key, office.jira.ann, "urgent-2")
        office.jira.fake.unlabel(key, office.jira.ann, "urgent")
        office.jira.fake.edit(key, office.jira.ann, summary="Wrong total")
        tell(office)
        office.story.work()
        assert len(office.story.jobs()) == 1
        assert len(replies(office, key)) == len(calls(office, key)) == 1


@both
def test_a_comment_that_is_edited_so_that_it_asks_does_so_once(
    tmp_path: Path, *, cloud: bool
) -> None:
    with in_office(tmp_path, in_turn(*fix_turns()), cloud=cloud) as office:
        fake, ann = office.jira.fake, office.jira.ann
        key = open_ticket(office)
        comment = say(office, key, "The sum is off.")
        assert office.story.jobs() == []
        for words in ("please fix the sum", "please fix the sum at last"):
            fake.edit_comment(comment, ann, calling(office, words))
            tell(office)
            office.story.work()
        assert reply(office, key).startswith("*Done, proven*")
        assert len(calls(office, key)) == len(office.story.jobs()) == 1


@both
def test_what_we_say_ourselves_starts_nothing(tmp_path: Path, *, cloud: bool) -> None:
    with in_office(tmp_path, [], cloud=cloud) as office:
        fake = office.jira.fake
        key = open_ticket(office)
        comment = fake.comment(key, fake.bot, calling(office))
        fake.edit_comment(comment, fake.bot, calling(office, "fix it again"))
        fake.label(key, fake.bot, "patchwright")
        fake.assign(key, fake.bot, fake.bot)
        tell(office)
        assert office.story.jobs() == []
        fake.delete_comment(comment)
