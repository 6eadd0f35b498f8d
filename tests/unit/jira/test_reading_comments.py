"""A comment that mentions us asks, once; one that does not may be an answer."""

from typing import Any

import pytest

from patchwright.core.types.errors import PayloadError
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import TalkThread, ThreadKind
from patchwright.core.types.triggers import TriggerKind
from tests.unit.jira.samples import (
    ANN,
    BO,
    DC,
    DC_REST,
    HOST,
    LISTENING,
    US,
    account,
    comment,
    issue,
    item,
    reason_of,
    said,
    trigger_of,
    updated,
    user,
)

THREAD = TalkThread(
    service="jira", place=f"{HOST}/APP", kind=ThreadKind.TICKET, id="APP-7"
)


def test_mention_asks() -> None:
    found = trigger_of(comment("@patchwright fix *this*"))
    assert found.kind is TriggerKind.COMMENT_MENTION
    assert found.key == f"jira:{HOST}:comment:501"
    assert found.thread == THREAD
    assert found.request == "fix **this**"
    assert found.text == "@patchwright fix **this**"
    assert (found.title, found.body) == ("Wrong sum", "Off by one.")
    assert (found.post_id, found.installation) == ("501", HOST)
    assert found.actor == Actor(
        service="jira", login="Ann", external_id="557058:ann", host=HOST
    )
    assert found.others == ()


@pytest.mark.parametrize(
    "body",
    [
        "[~accountid:557058:bot] fix it",
        "@patchwright fix it",
        {
            "type": "doc",
            "version": 1,
            "content": [
                {
                    "type": "paragraph",
                    "content": [
                        {"type": "mention", "attrs": {"id": "557058:bot"}},
                        {"type": "text", "text": " fix it"},
                    ],
                }
            ],
        },
    ],
)
def test_every_way_to_mention_us_asks(body: object) -> None:
    found = trigger_of(comment(body))
    assert found.kind is TriggerKind.COMMENT_MENTION
    assert found.request == "fix it"


@pytest.mark.parametrize(
    "body",
    [
        "Use the second one.",
        "[~accountid:557058:bo] what do you think?",
        "{quote}@patchwright fix it{quote}\nNo, don't.",
        "{code}@patchwright fix it{code}",
    ],
)
def test_comment_without_a_mention_may_be_an_answer(body: str) -> None:
    found = trigger_of(comment(body))
    assert found.kind is TriggerKind.REPLY
    assert found.request == found.text != ""
    # A name of its own: a mention that is added later has not been heard yet.
    assert found.key == f"jira:{HOST}:reply:501"


def test_mention_that_an_edit_adds_is_the_same_request() -> None:
    edited = comment("@patchwright fix it", "comment_updated")
    assert trigger_of(edited).key == trigger_of(comment("@patchwright fix it")).key
    assert reason_of(comment("Nothing.", "comment_updated")) == "no-mention"


def test_of_an_edited_comment_both_people_are_judged() -> None:
    words = said("@patchwright fix it", ANN, updateAuthor=BO)
    found = trigger_of(comment("", "comment_updated", comment=words))
    assert found.actor.login == "Bo"
    assert [other.login for other in found.others] == ["Ann"]


def test_who_sends_it_in_the_name_of_another_is_judged_as_well() -> None:
    found = trigger_of(comment("@patchwright fix it", user=BO))
    assert found.actor.login == "Ann"
    assert [other.login for other in found.others] == ["Bo"]


@pytest.mark.parametrize(
    "fields",
    [
        {"author": US},
        {"author": US, "updateAuthor": ANN},
        {"author": ANN, "updateAuthor": US},
    ],
)
@pytest.mark.parametrize("event", ["comment_created", "comment_updated"])
def test_our_own_comments_never_ask(event: str, fields: Any) -> None:
    words = said("@patchwright approve", **fields)
    assert reason_of(comment("", event, comment=words)) == "own-text"
    assert reason_of(comment("@patchwright go", event, user=US)) == "own-text"


def test_app_is_a_bot() -> None:
    app = account("557058:app", "Automation", accountType="app")
    found = trigger_of(comment("", comment=said("@patchwright fix it", app)))
    assert found.actor.is_bot


def test_comment_of_a_deleted_account_asks_nothing() -> None:
    words = said("@patchwright fix it", None)
    assert reason_of(comment("", comment=words)) == "nobody"


def test_s76_data_center_names_people() -> None:
    ann = user("ann", key="JIRAUSER10100")
    words = said("[~patchwright] fix it", ann, DC_REST)
    payload = comment("", comment=words, issue=issue(DC_REST, creator=ann))
    found = trigger_of(payload, DC)
    assert found.request == "fix it"
    assert found.actor == Actor(
        service="jira", login="Ann", external_id="ann", host=DC.host
    )
    assert found.key == f"jira:{DC.host}:comment:501"


def test_s76_a_data_center_reports_a_comment_as_a_change_of_the_ticket() -> None:
    words = said("@patchwright fix it")
    alone = {"webhookEvent": "comment_created", "comment": words}
    assert reason_of(alone) == "no-issue"
    changed = updated(issue_event_type_name="issue_commented", comment=words)
    del changed["changelog"]
    assert trigger_of(changed) == trigger_of(comment("", comment=words))
    changed["issue_event_type_name"] = "issue_comment_edited"
    assert trigger_of(changed).key == trigger_of(comment("", comment=words)).key
    changed["issue_event_type_name"] = "issue_comment_deleted"
    assert reason_of(changed) == "nothing-changed"


def test_comment_and_change_of_one_screen_are_one_request() -> None:
    label = item("labels", "", "fix-me")
    asks = updated(label, comment=said("@patchwright fix it"))
    assert trigger_of(asks).kind is TriggerKind.COMMENT_MENTION
    talks = updated(label, comment=said("Have a look."))
    assert trigger_of(talks).kind is TriggerKind.LABEL
    moves = updated(item("status", "Open", "Done"), comment=said("The second one."))
    assert trigger_of(moves).kind is TriggerKind.REPLY


@pytest.mark.parametrize("event", ["comment_created", "comment_updated"])
def test_comment_event_without_comment_is_malformed(event: str) -> None:
    payload = comment("x", event)
    del payload["comment"]
    with pytest.raises(PayloadError):
        reason_of(payload)


@pytest.mark.parametrize(
    "changes",
    [{"comment": said("x", id="1/../2")}, {"issue": issue(key="APP-7/../8")}],
)
def test_name_that_would_lead_elsewhere_is_malformed(changes: Any) -> None:
    with pytest.raises(PayloadError):
        reason_of(comment("@patchwright go", **changes))


def limited(**fields: Any) -> dict[str, Any]:
    payload: dict[str, Any] = comment("@patchwright fix it")
    payload["comment"] |= fields
    return payload


def audience(payload: object) -> str:
    thread = trigger_of(payload).thread
    assert isinstance(thread, TalkThread)
    return thread.audience


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, ""),
        ({"jsdPublic": True}, ""),
        ({"jsdPublic": False}, "internal"),
        ({"visibility": {"type": "role", "value": "Developers"}}, "role:Developers"),
        ({"visibility": {"type": "group", "identifier": "7f"}}, "group-id:7f"),
    ],
)
def test_the_answer_is_for_those_who_may_read_the_request(
    fields: dict[str, Any], told: str
) -> None:
    assert audience(limited(**fields)) == told


def test_a_ticket_is_known_by_what_stays_when_it_is_moved() -> None:
    here, there = limited(), limited()
    there["issue"] = issue(key="OPS-3", id=here["issue"]["id"])
    projects = frozenset({"APP", "OPS"})
    listening = LISTENING.replace(projects=projects)
    first, moved = (trigger_of(one, listening).thread for one in (here, there))
    assert isinstance(first, TalkThread)
    assert isinstance(moved, TalkThread)
    assert first != moved
    assert first.lasting_key == moved.lasting_key
