"""Which repository a request in Slack is about: exact names, defaults, a question."""

import json
from pathlib import Path

import pytest
from sqlalchemy import update

from patchwright.workers.db.tables import identities
from tests.flow.office import Office, in_office
from tests.flow.script import in_turn
from tests.flow.story import REPO, fix_turns

NO_DEFAULTS = {"PATCHWRIGHT_JIRA__PROJECTS": "{}"}
HOW = (
    "Answer here with its name, such as `owner/name`, or with a link to it. The "
    "request is kept."
)
NONE = f"""\
*Which repository?* The request names none, and there is no default for it here.

{HOW}
Find a repository"""
NONE_ASKED = NONE.partition(".")[0]
NO_ACCESS = f"""\
*`acme/vault` cannot be used for this request.* Either there is no such repository, or \
it is not open to both you and this bot.

Name another one, or ask its owner for access. {HOW}
Find a repository"""
SEVERAL = """\
*Which of these repositories?* The request names 2, and one pull request is about one \
of them:

• `acme/shop`
• `acme/vault`

Answer here with the name of one. The request is kept.
acme/shop
Find a repository"""


def add_vault(office: Office) -> None:
    """Add a repository that the bot may write, and alice may not even read."""
    office.story.github.add_repository("acme/vault", files={"a": "b"}, private=True)


@pytest.mark.parametrize(
    ("request_", "asked"),
    [
        ("fix the total", NONE),
        ("fix the total in acme/vault", NO_ACCESS),
        ("fix repo:acme/shop or repo:acme/vault", SEVERAL),
    ],
)
def test_s74_none_no_access_and_several_are_three_questions(
    request_: str, asked: str, tmp_path: Path
) -> None:
    with in_office(tmp_path, in_turn(*fix_turns()), settings=NO_DEFAULTS) as office:
        slack = office.slack
        add_vault(office)
        thread = slack.ask(request_)
        office.story.work()
        assert slack.whisper().shown == asked
        assert slack.answers(thread) == []
        # The answer needs no mention, and the request is kept.
        slack.fake.say(slack.jo, slack.channel, "acme/shop please", thread)
        office.story.work()
        assert "|pull request #1>" in slack.runs(thread)[0].shown


def test_what_is_always_meant_is_remembered_for_the_channel(tmp_path: Path) -> None:
    turns = in_turn(*fix_turns(), *fix_turns())
    with in_office(tmp_path, turns, settings=NO_DEFAULTS) as office:
        slack, story = office.slack, office.story
        first = slack.ask("fix the total")
        story.work()
        assert slack.whisper().shown == NONE
        slack.fake.say(slack.jo, slack.channel, f"always {REPO}", first)
        story.work()
        assert "|pull request #1>" in slack.runs(first)[0].shown
        second = slack.ask("fix the total once more")
        story.work()
        assert "|pull request #2>" in slack.runs(second)[0].shown
        assert len(slack.whispers()) == 1


def test_a_channel_that_the_settings_name_needs_no_question(tmp_path: Path) -> None:
    channels = {"PATCHWRIGHT_SLACK__CHANNELS": json.dumps({"C1": REPO})}
    settings = {**NO_DEFAULTS, **channels}
    with in_office(tmp_path, in_turn(*fix_turns()), settings=settings) as office:
        slack = office.slack
        assert slack.channel == "C1"
        thread = slack.ask("fix the total")
        office.story.work()
        assert "|pull request #1>" in slack.runs(thread)[0].shown
        assert slack.whispers() == []


def test_a_thread_stays_with_the_repository_of_its_pull_request(tmp_path: Path) -> None:
    with in_office(tmp_path, in_turn(*fix_turns())) as office:
        slack = office.slack
        add_vault(office)
        thread = slack.ask("fix the total in repo:acme/shop")
        office.story.work()
        assert "|pull request #1>" in slack.runs(thread)[0].shown
        slack.ask("and now the same in repo:acme/vault", thread=thread)
        office.story.work()
        assert slack.whisper().shown == (
            "This thread is about `acme/shop`, and has its one pull request there. "
            "Please ask for `acme/vault` in a thread of its own."
        )
        assert len(slack.runs(thread)) == 1


def test_whose_word_on_github_counts_no_more_is_asked_for_it_again_once(
    tmp_path: Path,
) -> None:
    turns = in_turn(*fix_turns())
    with in_office(tmp_path, turns, settings=NO_DEFAULTS, mapped=False) as office:
        slack, story = office.slack, office.story
        first = slack.ask(f"fix the total in repo:{REPO}")
        story.work()
        office.link(slack.whisper())
        story.work()
        assert "|pull request #1>" in slack.runs(first)[0].shown
        with story.base.database.writing() as connection:
            connection.execute(update(identities).values(needs_reauth=True))
        for _ in range(2):
            slack.ask("fix something")
            story.work()
        told = [one.shown.partition(".")[0] for one in slack.whispers()[1:]]
        again = (
            "GitHub does not show me your repositories any more, so I cannot list them"
        )
        assert told == [NONE_ASKED, again, NONE_ASKED]
