"""That a request was seen is shown by a reaction to what asked."""

import pytest

from patchwright.core.types.errors import NotFoundError
from patchwright.integrations.slack.adapter import Slack
from tests.adapters.slack.conftest import Office
from tests.fakes.slack.fake import FakeSlack


def test_the_message_that_asked_gets_the_reaction(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    root = fake.mention(office.ann, office.channel, "fix it")
    reply = fake.mention(office.ann, office.channel, "and that", root)
    thread = office.thread(root)
    slack.channel.acknowledge(office.trigger(thread))
    slack.channel.decline(office.trigger(thread, reply))
    assert fake.reactions(office.channel, root) == ["eyes"]
    assert fake.reactions(office.channel, reply) == ["confused"]


def test_a_second_acknowledgement_is_none(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    root = fake.mention(office.ann, office.channel, "fix it")
    for _ in range(2):
        slack.channel.acknowledge(office.trigger(office.thread(root)))
    assert fake.reactions(office.channel, root) == ["eyes"]


def test_without_a_message_there_is_nothing_to_react_to(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    slack.channel.acknowledge(office.trigger(office.thread("cmd-1.2.x")))
    assert fake.calls == []


def test_a_message_that_is_gone_is_not_found(office: Office, slack: Slack) -> None:
    with pytest.raises(NotFoundError):
        slack.channel.acknowledge(office.trigger(office.thread("1.000001")))
