"""A greeting, or a mention alone, gets the help: no question, no run, no noise."""

from pathlib import Path

import pytest

from tests.flow.office import in_office
from tests.flow.tickets import calling, open_ticket, reply, say

HELP = """\
Mention `@patchwright` with your request, for example: `@patchwright fix the failing \
test`. While a run works, what you write after `@patchwright` goes to the run. While \
it waits for you, a plain reply is enough.
"""


@pytest.mark.parametrize("said", ["hi", "thanks a lot!", ""])
def test_a_greeting_in_slack_gets_the_help_in_private(
    said: str, tmp_path: Path
) -> None:
    with in_office(tmp_path, []) as office:
        slack = office.slack
        thread = slack.ask(said)
        office.story.work()
        assert slack.whisper().shown.startswith(HELP)
        assert slack.answers(thread) == []
        assert slack.fake.reactions(slack.channel, thread) == []


@pytest.mark.parametrize("said", ["", "hello"])
def test_an_empty_slash_command_gets_the_help_and_says_nothing_in_the_channel(
    said: str, tmp_path: Path
) -> None:
    with in_office(tmp_path, []) as office:
        slack = office.slack
        slack.fake.slash(slack.jo, slack.channel, said)
        office.story.work()
        assert slack.whisper().shown.startswith(HELP)
        assert slack.opened() == []


@pytest.mark.parametrize("said", ["hi", ""])
def test_a_greeting_in_jira_gets_the_help_alone(said: str, tmp_path: Path) -> None:
    with in_office(tmp_path, []) as office:
        key = open_ticket(office)
        say(office, key, calling(office, said).strip())
        told = reply(office, key)
        assert told.startswith("Mention {{@patchwright}} with your request")
        assert told.endswith("{{@patchwright help}}: show this help.")
