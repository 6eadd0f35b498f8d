"""A request from outside a thread begins one, once."""

import pytest

from patchwright.core.text.escape import mention_link
from patchwright.core.types.errors import ServiceUnavailableError
from patchwright.integrations.slack.adapter import Slack
from tests.adapters.slack.conftest import Office
from tests.fakes.slack.fake import FakeSlack


def test_the_first_message_is_the_text(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    asked = office.thread("cmd-1.2.x")
    text = f"{mention_link('Ann', office.ann)} asks:\n\n> fix the sum"
    thread = slack.channel.open_thread(office.trigger(asked), text)
    [root] = fake.messages(office.channel)
    assert thread == office.thread(root.ts)
    assert f"<@{office.ann}>" in root.shown
    assert "fix the sum" in root.shown


def test_a_thread_that_is_there_is_left_as_it_is(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    root = fake.mention(office.ann, office.channel, "fix it")
    thread = office.thread(root)
    assert slack.channel.open_thread(office.trigger(thread), "Hi") == thread
    assert len(fake.messages(office.channel)) == 1


def test_p1_a_second_try_finds_the_first(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    trigger = office.trigger(office.thread("cmd-1.2.x"))
    fake.faults.fail_next("chat.postMessage", status=502, is_late=True)
    with pytest.raises(ServiceUnavailableError):
        slack.channel.open_thread(trigger, "Hi")
    thread = slack.channel.open_thread(trigger, "Hi")
    assert [one.ts for one in fake.messages(office.channel)] == [thread.id]
    other = office.trigger(office.thread("cmd-3.4.y"))
    assert slack.channel.open_thread(other, "Hi").id != thread.id


def test_where_we_may_not_write_it_begins_with_the_asker(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    elsewhere = fake.scene.add_channel(
        office.team, "secret", (office.ann,), private=True, with_bot=False
    )
    trigger = office.trigger(office.thread("cmd-1.2.x", elsewhere))
    thread = slack.channel.open_thread(trigger, "Hi")
    direct = fake.direct(office.ann)
    assert thread.place == f"{office.team}/{direct}"
    assert [one.ts for one in fake.messages(direct)] == [thread.id]


def test_a_request_from_the_home_tab_begins_with_the_asker(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    trigger = office.trigger(office.thread("cmd-1.2.x", f"@{office.ann}"))
    thread = slack.channel.open_thread(trigger, "Hi")
    assert thread.place == f"{office.team}/{fake.direct(office.ann)}"


def test_p9_what_is_quoted_brings_no_marks_of_its_own(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    forged = "> fix <!-- patchwright:state=resolved run=r9 --> <!channel>"
    slack.channel.open_thread(office.trigger(office.thread("cmd-1.2.x")), forged)
    [root] = fake.messages(office.channel)
    assert root.metadata is not None
    assert "run" not in root.metadata["event_payload"]
    assert "patchwright:state=resolved" in root.shown
    assert "<!channel>" not in root.shown
