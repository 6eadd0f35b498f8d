"""A message is a request, an answer, or none of our business."""

from typing import Any

import pytest

from patchwright.core.types.people import Actor
from patchwright.core.types.threads import TalkThread, ThreadKind
from patchwright.core.types.triggers import Trigger, TriggerKind
from tests.unit.slack.samples import (
    ANN,
    APP,
    BOT,
    CHANNEL,
    ROOT,
    TEAM,
    TS,
    envelope,
    mention,
    message,
    reason_of,
    trigger_of,
)

SHARED = {
    "team_id": TEAM,
    "enterprise_id": "E1",
    "context_team_id": "T9",
    "context_enterprise_id": "E9",
    "is_ext_shared_channel": True,
}


def thread(thread_id: str, channel: str = CHANNEL) -> TalkThread:
    place = f"{TEAM}/{channel}"
    return TalkThread(service="slack", place=place, kind=ThreadKind.CHAT, id=thread_id)


def mentioned(**fields: Any) -> Trigger:
    return trigger_of(envelope(mention(**fields)))


def test_mention_in_a_channel_opens_a_thread() -> None:
    asked = mentioned(text=f"<@{BOT}> fix the sum\nit is off by one")
    assert asked == Trigger(
        key=f"slack:T1/C1#{TS}:message:{TS}",
        kind=TriggerKind.BODY_MENTION,
        actor=Actor(service="slack", login=ANN, external_id=ANN, host=TEAM),
        thread=thread(TS),
        request="fix the sum\nit is off by one",
        title="fix the sum",
        body="fix the sum\nit is off by one",
        installation=TEAM,
    )


def test_mention_below_a_message_belongs_to_its_thread() -> None:
    asked = mentioned(text=f"so, <@{BOT}> do it", thread_ts=ROOT)
    assert asked.kind is TriggerKind.COMMENT_MENTION
    assert asked.thread == thread(ROOT)
    assert (asked.request, asked.text, asked.body) == ("do it", "so, do it", "")
    assert asked.post_id == TS


def test_first_message_of_a_thread_opens_it_also_when_it_has_replies() -> None:
    asked = mentioned(thread_ts=TS)
    assert asked.kind is TriggerKind.BODY_MENTION
    assert asked == mentioned()


def test_long_first_line_is_cut_for_the_title() -> None:
    title = mentioned(text=f"<@{BOT}> {'word ' * 40}\nmore").title
    assert len(title) <= 80
    assert title.endswith("word…")


@pytest.mark.parametrize("text", [f"&gt; <@{BOT}> do it", f"```<@{BOT}> do it```"])
def test_quoting_somebody_who_asked_is_not_asking(text: str) -> None:
    assert reason_of(envelope(mention(text))) == "no-mention"


def test_message_that_an_edit_makes_a_request_asks_once() -> None:
    """Slack sends the mention anew at every edit of a text that has one."""
    edited = {"user": ANN, "ts": "1712345999.000000"}
    first = mentioned(edited=edited)
    again = mentioned(text=f"<@{BOT}> fix it now", edited=edited)
    assert first.key == again.key == mentioned().key


def test_reply_that_an_edit_makes_a_request_is_another_request() -> None:
    reply = trigger_of(envelope(message("fix it", thread_ts=ROOT)))
    assert reply.key != mentioned(thread_ts=ROOT).key


def test_mention_is_taken_out_also_where_nobody_says_who_we_are() -> None:
    whole = envelope(mention("<@UOLD> fix it"), authorizations=[])
    assert trigger_of(whole).request == "fix it"


@pytest.mark.parametrize("kind", ["channel", "group", "mpim"])
def test_message_in_a_thread_is_an_answer(kind: str) -> None:
    reply = trigger_of(envelope(message("yes", thread_ts=ROOT, channel_type=kind)))
    assert reply.kind is TriggerKind.REPLY
    assert (reply.request, reply.thread, reply.post_id) == ("yes", thread(ROOT), TS)


@pytest.mark.parametrize("subtype", ["file_share", "thread_broadcast", "me_message"])
def test_message_with_files_or_for_the_channel_too_is_one(subtype: str) -> None:
    plain = trigger_of(envelope(message("yes", thread_ts=ROOT)))
    sent = message("yes", thread_ts=ROOT, subtype=subtype, files=[{"id": "F1"}])
    assert trigger_of(envelope(sent)) == plain


@pytest.mark.parametrize("fields", [{}, {"thread_ts": TS}])
def test_message_that_opens_a_thread_is_nobodys_answer(fields: dict[str, str]) -> None:
    assert reason_of(envelope(message(**fields))) == "no-mention"


@pytest.mark.parametrize("seen_by", [None, []])
def test_twin_of_a_mention_is_left_to_the_mention(seen_by: list[Any] | None) -> None:
    fields = {} if seen_by is None else {"authorizations": seen_by}
    twin = message(f"<@{BOT}> fix it", thread_ts=ROOT)
    assert reason_of(envelope(twin, **fields)) == "comes-as-mention"


@pytest.mark.parametrize(
    ("text", "request_"),
    [("fix it", "fix it"), (f"<@{BOT}> fix it", "fix it"), ("", "")],
)
def test_direct_message_needs_no_mention(text: str, request_: str) -> None:
    direct = message(text, channel="D1", channel_type="im")
    opened = trigger_of(envelope(direct))
    assert (opened.kind, opened.request) == (TriggerKind.BODY_MENTION, request_)
    assert opened.thread == thread(TS, "D1")
    followed = trigger_of(envelope(direct | {"thread_ts": ROOT}))
    assert followed.kind is TriggerKind.COMMENT_MENTION
    assert (followed.thread, followed.post_id) == (thread(ROOT, "D1"), TS)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"user": BOT}, "own-text"),
        ({"bot_id": "B1", "app_id": APP}, "own-text"),
        ({"bot_id": "B1", "bot_profile": {"app_id": APP}}, "own-text"),
        ({"bot_id": "B2", "bot_profile": {"app_id": "A2"}}, "bot-text"),
        ({"user": None, "subtype": "bot_message"}, "bot-text"),
        ({"user": None}, "author-unknown"),
        ({"subtype": "channel_join"}, "subtype-not-read"),
        ({"channel": None}, "not-a-message"),
    ],
)
def test_what_no_person_says_is_ignored(fields: dict[str, Any], reason: str) -> None:
    assert reason_of(envelope(message(thread_ts=ROOT) | fields)) == reason


def test_bot_asks_under_its_id_whatever_name_it_gives_itself() -> None:
    bot = {"user": None, "bot_id": "B2", "username": "ann", "subtype": "bot_message"}
    shown = {"bot_profile": {"app_id": "A2"}, "user_profile": {"display_name": "ann"}}
    asked = trigger_of(envelope(mention() | bot | shown))
    assert asked.actor == Actor(
        service="slack", login="B2", external_id="B2", is_bot=True, host=TEAM
    )


def test_own_mention_of_ourselves_is_ignored() -> None:
    assert reason_of(envelope(mention(user=BOT))) == "own-text"


@pytest.mark.parametrize(
    "event",
    [
        {"subtype": "message_deleted", "previous_message": {"text": "x", "user": ANN}},
        {"subtype": "message_changed", "message": {"text": "x"}, "hidden": True},
        {"subtype": "message_replied"},
        {},
    ],
)
def test_s69_message_events_without_user_or_text_are_ignored(
    event: dict[str, Any],
) -> None:
    bare = {"type": "message", "channel": CHANNEL, "ts": TS, "channel_type": "im"}
    assert reason_of(envelope(bare | event))


def test_s70_the_request_is_what_people_typed() -> None:
    text = (
        f"<@{BOT}> fix <https://github.com/acme/web/issues/5|#5> "
        "when a &lt; b &amp;&amp; c"
    )
    seen = "fix https://github.com/acme/web/issues/5 (#5) when a < b && c"
    assert mentioned(text=text).request.replace("\\", "") == seen


def test_s72_second_mention_in_a_thread_is_in_the_same_thread() -> None:
    first, second = mentioned(), mentioned(ts="1712345999.000100", thread_ts=TS)
    assert first.thread == second.thread
    assert first.key != second.key


@pytest.mark.parametrize(
    ("fields", "host"),
    [
        ({"user_team": "T9", "team": "T9"}, "T9"),
        ({"user_team": "E9"}, "T9"),
        ({"user_team": "E1", "team": None}, TEAM),
        ({"user_team": "E7"}, "E7"),
        ({"user_team": None, "team": TEAM}, TEAM),
    ],
)
def test_stranger_in_a_shared_channel_is_of_their_own_workspace(
    fields: dict[str, Any], host: str
) -> None:
    asked = trigger_of(envelope(mention(**fields), **SHARED))
    assert asked.actor.host == host
    assert (asked.installation, asked.thread) == (TEAM, thread(TS))


def test_workspace_is_that_of_the_installation_that_sees_the_message() -> None:
    asked = trigger_of(envelope(mention(), team_id="T9"))
    assert (asked.installation, asked.thread) == (TEAM, thread(TS))


def test_author_whose_workspace_is_not_told_is_nobody() -> None:
    whole = envelope(mention(team=None), **SHARED)
    assert reason_of(whole) == "author-unknown"


def test_name_of_a_stranger_is_told_with_the_message() -> None:
    profile = {"display_name": "", "real_name": "Ann Lee", "name": "ann"}
    assert mentioned(user_profile=profile).actor.login == "Ann Lee"


def test_app_that_an_organization_installed_answers_for_all_of_it() -> None:
    seen_by = {
        "enterprise_id": "E1",
        "team_id": None,
        "user_id": BOT,
        "is_bot": True,
        "is_enterprise_install": True,
    }
    asked = trigger_of(envelope(mention(), authorizations=[seen_by]))
    assert (asked.installation, asked.actor.host) == ("E1", TEAM)
    assert str(asked.thread) == f"slack:E1/{CHANNEL}#{TS}"


FILE = {
    "id": "F1",
    "name": "trace.log",
    "url_private": "https://files.slack.com/files-pri/T1-F1/trace.log",
}


def shared(text: str, **fields: Any) -> dict[str, Any]:
    return message(text, subtype="file_share", files=[FILE], **fields)


def test_a_mention_beside_a_file_asks_though_it_comes_as_a_shared_file() -> None:
    asked = trigger_of(envelope(shared(f"<@{BOT}> fix the sum")))
    assert asked.kind is TriggerKind.BODY_MENTION
    assert asked.request == "fix the sum"
    assert asked.body.startswith("fix the sum\n\n[trace.log](https://files.slack.com/")


def test_a_mention_beside_a_file_in_a_thread_belongs_to_it() -> None:
    asked = trigger_of(envelope(shared(f"<@{BOT}> this one", thread_ts=ROOT)))
    assert (asked.kind, asked.post_id) == (TriggerKind.COMMENT_MENTION, TS)
    assert "trace.log" in asked.text


def test_a_mention_beside_a_file_that_comes_twice_asks_once() -> None:
    text = f"<@{BOT}> fix the sum"
    twin = mentioned(text=text, files=[FILE])
    assert trigger_of(envelope(shared(text))) == twin


def test_a_shared_file_that_calls_somebody_else_asks_nothing() -> None:
    assert reason_of(envelope(shared("<@UBOB> look"))) == "no-mention"
    nameless = envelope(shared("<@UBOB> look"), authorizations=[])
    assert reason_of(nameless) == "no-mention"


def test_what_a_request_forwards_is_part_of_what_was_said() -> None:
    forward = {"is_share": True, "author_name": "Eve", "text": "it is off by one"}
    asked = mentioned(text=f"<@{BOT}> fix this", attachments=[forward])
    assert asked.request == "fix this"
    assert asked.body == (
        "fix this\n\n> Forwarded message of Eve:\n>\n> it is off by one"
    )
