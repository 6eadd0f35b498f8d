"""A ticket asks by its words, its label or its assignee, each once for each act."""

import pytest

from patchwright.core.types.triggers import TriggerKind
from tests.unit.jira.samples import (
    ANN,
    BO,
    DC,
    DC_REST,
    HOST,
    US,
    comment,
    created,
    issue,
    item,
    reason_of,
    trigger_of,
    updated,
    user,
)

SOON = 1893499205000  # five seconds after the ticket was created
BODY_KEY = f"jira:{HOST}:issue:10007:body"


def test_new_ticket_that_mentions_us_asks() -> None:
    found = trigger_of(created(description="Off by one.\n\n@patchwright fix *it*"))
    assert found.kind is TriggerKind.BODY_MENTION
    assert found.key == BODY_KEY
    assert found.request == "fix **it**"
    assert found.body == "Off by one.\n\n@patchwright fix **it**"
    assert (found.text, found.post_id) == ("", "")


def test_summary_asks_as_well() -> None:
    found = trigger_of(created(summary="@patchwright fix the sum", description=None))
    assert (found.request, found.body) == ("fix the sum", "")
    assert found.title == "@patchwright fix the sum"


def test_new_ticket_with_the_label_or_for_us_asks() -> None:
    labelled = trigger_of(created(labels=["other", "fix-me"]))
    assert labelled.kind is TriggerKind.LABEL
    assert (labelled.request, labelled.body) == ("", "Off by one.")
    assigned = trigger_of(created(assignee=US))
    assert assigned.kind is TriggerKind.ASSIGNMENT
    assert labelled.actor.login == assigned.actor.login == "Ann"


def test_new_ticket_with_all_of_these_is_one_request_in_its_own_words() -> None:
    found = trigger_of(
        created(description="@patchwright go", labels=["fix-me"], assignee=US)
    )
    assert found.kind is TriggerKind.BODY_MENTION


def test_new_ticket_that_asks_nothing_is_ignored() -> None:
    assert reason_of(created(labels=["fix-me-not"], assignee=BO)) == "no-request"


def test_label_that_is_added_asks() -> None:
    change = item("labels", "other", "other fix-me")
    found = trigger_of(updated(change, user=BO))
    assert found.kind is TriggerKind.LABEL
    assert found.key == f"jira:{HOST}:issue:10007:label:901"
    assert found.actor.login == "Bo"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("fix-me", "fix-me other"),
        ("fix-me", ""),
        ("", "fix-me-not not-fix-me"),
        ("other", "other Fix-Me"),
    ],
)
def test_label_that_is_not_added_asks_nothing(old: str, new: str) -> None:
    assert reason_of(updated(item("labels", old, new))) == "no-request"


def test_label_put_on_twice_is_two_requests() -> None:
    change = item("labels", None, "fix-me")
    first = trigger_of(updated(change))
    second = trigger_of(updated(change, changelog={"id": "950", "items": [change]}))
    assert first.key != second.key


def test_label_put_on_while_the_ticket_is_made_is_one_request() -> None:
    # The delivery of the creation may show the label that came a second later.
    made = trigger_of(created(labels=["fix-me"]))
    labelled = trigger_of(updated(item("labels", "", "fix-me"), timestamp=SOON))
    assert made.key == labelled.key


def test_field_of_the_sites_own_is_not_the_labels() -> None:
    change = item("labels", "", "fix-me", fieldtype="custom")
    assert reason_of(updated(change)) == "no-request"


def test_assignment_to_us_asks() -> None:
    change = item("assignee", "Bo", "Patchwright", from_id="557058:bo")
    change["to"] = "557058:bot"
    found = trigger_of(updated(change, ticket=issue(assignee=US)))
    assert found.kind is TriggerKind.ASSIGNMENT
    assert found.key == f"jira:{HOST}:issue:10007:assignment:901"


def test_s76_data_center_names_the_assignee_by_key() -> None:
    us = user("patchwright", key="JIRAUSER10200")
    change = item("assignee", None, "Patchwright", to_id="JIRAUSER10200")
    ticket = issue(DC_REST, assignee=us, creator=user("ann"))
    found = trigger_of(updated(change, ticket=ticket, user=user("ann")), DC)
    assert found.kind is TriggerKind.ASSIGNMENT


def test_assignment_of_somebody_else_asks_nothing() -> None:
    change = item("assignee", "Patchwright", "Bo", from_id="557058:bot")
    assert reason_of(updated(change)) == "no-request"
    # A change of something else does not make it ours anew.
    other = item("priority", "Low", "High")
    assert reason_of(updated(other, ticket=issue(assignee=US))) == "no-request"


@pytest.mark.parametrize("field", ["description", "summary"])
def test_edit_that_adds_a_mention_asks(field: str) -> None:
    change = item(field, "Wrong.", "Wrong. @patchwright fix it")
    ticket = issue(**{field: "Wrong. @patchwright fix it"})
    found = trigger_of(updated(change, ticket=ticket))
    assert found.kind is TriggerKind.BODY_MENTION
    assert found.key == BODY_KEY
    assert found.request == "fix it"


def test_edit_of_a_text_that_asked_before_asks_nothing() -> None:
    change = item("description", "@patchwright fix", "@patchwright fix it")
    assert reason_of(updated(change)) == "no-request"
    # Nor does it ask anew in the other text.
    asking = issue(description="@patchwright fix it")
    moved = item("summary", "Wrong", "@patchwright wrong")
    assert reason_of(updated(moved, ticket=asking)) == "no-request"


def test_our_own_acts_never_ask() -> None:
    assert reason_of(updated(item("labels", "", "fix-me"), user=US)) == "own-act"
    assert reason_of(created(US, labels=["fix-me"])) == "own-act"


def test_act_of_nobody_asks_nothing() -> None:
    change = item("labels", "", "fix-me")
    assert reason_of(updated(change, user=None)) == "nobody"


def test_old_delivery_without_event_type_is_read() -> None:
    old = updated(item("labels", "", "fix-me"))
    del old["issue_event_type_name"]
    assert trigger_of(old).kind is TriggerKind.LABEL


def test_change_without_changes_is_ignored() -> None:
    assert reason_of(updated(issue_event_type_name="issue_assigned")) == (
        "nothing-changed"
    )


def test_s19_project_that_is_not_served_sees_nothing() -> None:
    ticket = issue(key="OPS-1", description="@patchwright go", labels=["fix-me"])
    change = item("labels", "", "fix-me")
    for payload in (
        updated(change, ticket=ticket),
        comment("@patchwright go", issue=ticket),
        comment("@patchwright go", event="comment_updated", issue=ticket),
        created(key="OPS-1", description="@patchwright go"),
        # Such a body could not even be read.
        comment("x", issue=ticket, comment=None),
    ):
        assert reason_of(payload) == "unmapped-project"


def test_s19_an_ordinary_edit_is_no_request() -> None:
    assert reason_of(updated(item("status", "Open", "Done"))) == "no-request"
    assert reason_of(created()) == "no-request"


def test_key_of_the_project_is_compared_without_case() -> None:
    found = trigger_of(created(key="app-7", labels=["fix-me"]))
    assert str(found.thread) == f"jira:{HOST}/APP#app-7"


@pytest.mark.parametrize(
    "event", ["jira:issue_deleted", "comment_deleted", "sprint_started", ""]
)
def test_other_events_are_ignored_by_name(event: str) -> None:
    assert reason_of(created(ANN) | {"webhookEvent": event}) == "event-not-read"
