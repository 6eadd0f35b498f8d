"""What is for one person is read by nobody else, and is read by them."""

import pytest

from patchwright.core.channel import Offer
from patchwright.core.types.errors import InvalidRequestError
from patchwright.core.types.people import Actor
from patchwright.integrations.slack.adapter import Slack
from tests.adapters.slack.conftest import Office
from tests.fakes.slack.fake import FakeSlack

LINK = Offer(words="Link my account", url="https://bot.example/link/1")


def test_it_is_shown_in_the_thread_once_that_has_a_reply(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    root = fake.mention(office.ann, office.channel, "fix it")
    slack.channel.post(office.thread(root), "Working")
    slack.channel.tell_privately(
        office.thread(root), office.actor(office.ann), "Link it", (LINK,)
    )
    [seen] = fake.ephemerals(office.ann)
    assert (seen.thread_ts, seen.shown) == (root, "Link it\nLink my account")
    assert fake.ephemerals(office.bob) == []
    assert len(fake.thread(office.channel, root)) == 2


def test_it_is_shown_in_the_channel_while_nobody_opened_the_thread(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    root = fake.mention(office.ann, office.channel, "fix it")
    slack.channel.tell_privately(
        office.thread(root), office.actor(office.ann), "Link it"
    )
    [seen] = fake.ephemerals(office.ann)
    assert (seen.channel, seen.thread_ts) == (office.channel, "")


def test_a_command_is_answered_where_it_was_given(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    slack.channel.tell_privately(
        office.thread("cmd-1.2.x"), office.actor(office.ann), "Link it"
    )
    assert [seen.shown for seen in fake.ephemerals(office.ann)] == ["Link it"]


def test_where_we_or_they_are_not_we_write_to_them(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    secret = fake.scene.add_channel(
        office.team, "secret", (office.ann,), private=True, with_bot=False
    )
    for channel, user in ((secret, office.ann), (office.channel, office.bob)):
        fake.scene.leave(office.channel, office.bob)
        thread = office.thread("cmd-1.2.x", channel)
        slack.channel.tell_privately(thread, office.actor(user), "Link it")
        [message] = fake.messages(fake.direct(user))
        assert message.shown == "Link it"
        assert fake.ephemerals(user) == []


def test_in_a_direct_message_it_stays(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    direct = fake.direct(office.ann)
    root = fake.say(office.ann, direct, "fix it")
    thread = office.thread(root, direct)
    slack.channel.tell_privately(thread, office.actor(office.ann), "Link it", (LINK,))
    _, told = fake.thread(direct, root)
    assert fake.buttons(told) == ["Link my account"]


def test_a_request_from_the_home_tab_is_answered_in_a_direct_message(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    thread = office.thread("cmd-1.2.x", f"@{office.ann}")
    slack.channel.tell_privately(thread, office.actor(office.ann), "Link it")
    assert [one.shown for one in fake.messages(fake.direct(office.ann))] == ["Link it"]


def test_somebody_without_an_id_cannot_be_told(office: Office, slack: Slack) -> None:
    nobody = Actor(service="slack", login="ghost")
    with pytest.raises(InvalidRequestError, match="no id"):
        slack.channel.tell_privately(office.thread("1.1"), nobody, "Link it")


def test_nobody_reads_it_who_reads_the_thread_later(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    """A link to become somebody is nothing for the agent, the log or a pull request."""
    direct = fake.direct(office.ann)
    root = fake.say(office.ann, direct, "fix it")
    thread = office.thread(root, direct)
    slack.channel.tell_privately(thread, office.actor(office.ann), "Link it", (LINK,))
    slack.channel.post(thread, "Working")
    read = slack.channel.fetch_thread(thread)
    assert [post.text for post in read.posts] == ["fix it", "Working"]
    # It may also be what somebody answers to.
    home = office.thread("cmd-1.2.x", f"@{office.ann}")
    slack.channel.tell_privately(home, office.actor(office.ann), "Link it", (LINK,))
    told = fake.messages(direct)[-1]
    fake.say(office.ann, direct, "what is that?", told.ts)
    read = slack.channel.fetch_thread(office.thread(told.ts, direct))
    assert [post.text for post in read.posts] == ["", "what is that?"]
