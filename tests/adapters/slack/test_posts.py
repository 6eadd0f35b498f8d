"""What we say stands in the thread, once, and changes in place."""

import pytest

from patchwright.core.channel import Offer
from patchwright.core.text.escape import mention_link
from patchwright.core.types.errors import NotFoundError, ServiceUnavailableError
from patchwright.integrations.slack.adapter import Slack, connect
from patchwright.integrations.slack.threads import EVENT_TYPE
from tests.adapters.slack.conftest import Office
from tests.fakes.slack.fake import FakeSlack

STATE = "<!-- patchwright:state=running run=r1 -->"


@pytest.fixture
def root(fake: FakeSlack, office: Office) -> str:
    return fake.mention(office.ann, office.channel, "fix the sum")


def test_a_post_is_a_reply_in_the_thread(
    fake: FakeSlack, office: Office, slack: Slack, root: str
) -> None:
    ts = slack.channel.post(office.thread(root), "**Working on it**")
    asked, answer = fake.thread(office.channel, root)
    assert (asked.ts, answer.ts, answer.thread_ts) == (root, ts, root)
    assert answer.shown == "*Working on it*"


def test_marks_are_metadata_and_not_shown(
    fake: FakeSlack, office: Office, slack: Slack, root: str
) -> None:
    ts = slack.channel.post(office.thread(root), f"Working\n{STATE}")
    message = fake.message(office.channel, ts)
    assert "patchwright" not in message.shown + message.text
    assert message.metadata is not None
    assert message.metadata["event_type"] == EVENT_TYPE
    payload = message.metadata["event_payload"]
    assert (payload["state"], payload["run"]) == ("running", "r1")


def test_our_own_post_is_found_by_its_mark_and_nobody_elses(
    fake: FakeSlack, office: Office, slack: Slack, root: str
) -> None:
    thread = office.thread(root)
    fake.say(office.bob, office.channel, STATE.replace("<", "&lt;"), root)
    assert slack.channel.find_post(thread, "run=r1") is None
    ts = slack.channel.post(thread, f"Working\n{STATE}")
    assert slack.channel.find_post(thread, "run=r1") == ts
    assert slack.channel.find_post(thread, "run=r2") is None


def test_an_edit_replaces_text_marks_and_offers(
    fake: FakeSlack, office: Office, slack: Slack, root: str
) -> None:
    thread = office.thread(root)
    stop = Offer(words="Stop", command="stop")
    ts = slack.channel.post(thread, f"Working\n{STATE}", (stop,))
    assert fake.buttons(fake.message(office.channel, ts)) == ["Stop"]
    slack.channel.edit(thread, ts, f"Done\n{STATE.replace('running', 'resolved')}")
    message = fake.message(office.channel, ts)
    assert (message.shown, fake.buttons(message)) == ("Done", [])
    assert message.metadata is not None
    assert message.metadata["event_payload"]["state"] == "resolved"
    assert len(fake.thread(office.channel, root)) == 2


def test_only_a_call_of_ours_calls_somebody(
    fake: FakeSlack, office: Office, slack: Slack, root: str
) -> None:
    text = f"{mention_link('Ann', office.ann)} <!channel> <@{office.bob}>"
    ts = slack.channel.post(office.thread(root), text)
    shown = fake.message(office.channel, ts).shown
    assert f"<@{office.ann}>" in shown
    assert "<!channel>" not in shown
    assert f"<@{office.bob}>" not in shown


def long_text(lines: int) -> str:
    return "\n\n".join(f"Line {number} {'x' * 500}" for number in range(lines))


def test_s71_a_long_text_goes_on_in_the_next_message_and_shrinks_again(
    fake: FakeSlack, office: Office, slack: Slack, root: str
) -> None:
    thread = office.thread(root)
    ts = slack.channel.post(thread, f"{long_text(60)}\n{STATE}")
    _, first, *more = fake.thread(office.channel, root)
    assert first.ts == ts
    assert len(more) >= 2
    whole = "\n".join(message.shown for message in (first, *more))
    assert all(f"Line {number} x" in whole for number in range(60))
    slack.channel.edit(thread, ts, f"{long_text(30)}\n{STATE}")
    assert 1 <= len(fake.thread(office.channel, root)) - 2 < len(more)
    slack.channel.edit(thread, ts, f"Done\n{STATE}")
    assert [m.shown for m in fake.thread(office.channel, root)[1:]] == ["Done"]
    slack.channel.edit(thread, ts, f"{long_text(60)}\n{STATE}")
    assert len(fake.thread(office.channel, root)) == len(more) + 2


def test_another_process_takes_away_what_went_on(
    fake: FakeSlack, office: Office, slack: Slack, root: str
) -> None:
    thread = office.thread(root)
    ts = slack.channel.post(thread, long_text(60))
    other = connect(fake.api_url, tokens=slack.api.tokens, clock=slack.api.clock)
    other.channel.edit(thread, ts, "Done")
    assert [m.shown for m in fake.thread(office.channel, root)[1:]] == ["Done"]


def test_edits_of_a_short_post_ask_for_nothing_else(
    fake: FakeSlack, office: Office, slack: Slack, root: str
) -> None:
    thread = office.thread(root)
    ts = slack.channel.post(thread, "Working")
    before = len(fake.calls)
    slack.channel.edit(thread, ts, "Done")
    assert [seen.method for seen in fake.calls[before:]] == ["chat.update"]


def test_a_lost_answer_is_not_asked_for_again(
    fake: FakeSlack, office: Office, slack: Slack, root: str
) -> None:
    thread = office.thread(root)
    fake.faults.fail_next("chat.postMessage", status=502, is_late=True)
    with pytest.raises(ServiceUnavailableError):
        slack.channel.post(thread, f"Working\n{STATE}")
    found = slack.channel.find_post(thread, "run=r1")
    assert found == fake.thread(office.channel, root)[-1].ts
    assert len(fake.thread(office.channel, root)) == 2


def test_a_message_that_is_gone_is_not_found(
    fake: FakeSlack, office: Office, slack: Slack, root: str
) -> None:
    thread = office.thread(root)
    ts = slack.channel.post(thread, "Working")
    fake.delete(office.channel, ts)
    with pytest.raises(NotFoundError, match="message_not_found"):
        slack.channel.edit(thread, ts, "Done")


def test_a_request_without_a_message_has_no_thread_to_answer_in(
    office: Office, slack: Slack
) -> None:
    with pytest.raises(NotFoundError, match="no message yet"):
        slack.channel.post(office.thread("cmd-1.2.x"), "Working")
