"""Who may have what done from Slack, and who is told what."""

import json
from pathlib import Path

import pytest

from tests.flow.office import in_office
from tests.flow.script import in_turn
from tests.flow.story import fix_turns
from tests.flow.text import steady

WISH = "fix the total in acme/shop"
# jo and max, as the fake numbers them after the bot.
MAPPED = [{"slack": "U2", "github": "alice"}, {"slack": "U3", "github": "eve"}]
SETTINGS = {"PATCHWRIGHT_ACCOUNTS__MAP": json.dumps(MAPPED)}


def test_who_may_not_write_is_told_in_private(tmp_path: Path) -> None:
    with in_office(tmp_path, in_turn(), private=False, settings=SETTINGS) as office:
        slack = office.slack
        thread = slack.ask(WISH, user=slack.max)
        office.story.work()
        told = slack.whisper(slack.max).shown
        assert told == "eve has read access here; write access is needed."
        assert slack.answers(thread) == []
        assert slack.fake.reactions(slack.channel, thread) == ["eyes", "confused"]


LAST = """\
*Done, proven* · <GITHUB/acme/shop/pull/1|pull request #1> · 4 steps · Ns · \
480 tokens, price unknown · <GITHUB/runs/RUN|run>"""
STATUS = f"""\
Nothing is running here. This is how the last run ended:

{LAST}

The agent wrote:

> The total ignored the pieces."""
COST = f"""\
Nothing is running here. The last run used 400 tokens in (0 of them cached) and 80 out.

{LAST}"""


@pytest.mark.parametrize(("said", "answer"), [("status", STATUS), ("cost", COST)])
def test_a_question_about_the_last_run_is_answered_in_the_thread(
    said: str, answer: str, tmp_path: Path
) -> None:
    with in_office(tmp_path, in_turn(*fix_turns())) as office:
        slack, story = office.slack, office.story
        thread = slack.ask(WISH)
        story.work()
        slack.ask(said, thread=thread)
        story.work()
        assert steady(slack.shown(thread)[-1]) == answer


def test_help_in_a_thread_is_for_who_asks(tmp_path: Path) -> None:
    with in_office(tmp_path, in_turn(*fix_turns())) as office:
        slack, story = office.slack, office.story
        thread = slack.ask(WISH)
        story.work()
        before = slack.answers(thread)
        slack.ask("help", thread=thread)
        story.work()
        assert "`@patchwright stop`: end the run" in slack.whisper().shown
        assert slack.answers(thread) == before


@pytest.mark.parametrize("said", ["status", "cost", "why"])
def test_where_nothing_runs_only_who_asks_is_told(said: str, tmp_path: Path) -> None:
    with in_office(tmp_path, in_turn()) as office:
        thread = office.slack.ask(said)
        office.story.work()
        told = office.slack.whisper().shown
        assert told == "Nothing is running in this thread."
        assert office.slack.answers(thread) == []
