"""A ticket tells what was asked in it by the names that deliveries give."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from patchwright.core.types.errors import PayloadError
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.integrations.jira.webhooks.tickets import find_requests
from tests.unit.jira.samples import (
    ANN,
    BO,
    LISTENING,
    US,
    comment,
    created,
    issue,
    item,
    said,
    trigger_of,
    updated,
)

MADE = datetime(2030, 1, 1, 12, 0, tzinfo=UTC)
LONG_AGO = MADE - timedelta(days=1)


def at(minutes: float) -> str:
    return (MADE + timedelta(minutes=minutes)).isoformat(timespec="milliseconds")


def entry(minutes: float, *items: Any, id: str = "901", author: Any = ANN) -> Any:  # noqa: A002 - as Jira calls it
    return {"id": id, "author": author, "created": at(minutes), "items": list(items)}


def ticket(*history: Any, comments: tuple[Any, ...] = (), **fields: Any) -> Any:
    """Make a ticket as a search returns it, history newest first."""
    whole = issue(**fields, comment={"comments": list(comments)})
    return whole | {"changelog": {"histories": list(reversed(history))}}


def find(whole: Any, since_minutes: float = -60) -> tuple[Trigger, ...]:
    since = MADE + timedelta(minutes=since_minutes)
    return find_requests(whole, LISTENING, since).triggers


def test_comment_is_the_same_request_as_in_its_delivery() -> None:
    words = said("@patchwright fix it", created=at(60), updated=at(60))
    assert find(ticket(comments=(words,))) == (trigger_of(comment("", comment=words)),)


def test_comment_of_the_cloud_is_the_same_request_as_in_its_delivery() -> None:
    # The delivery has wiki markup, the answer a document.
    body = {
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
    }
    [found] = find(ticket(comments=(said(body),)))
    delivered = trigger_of(comment("[~accountid:557058:bot] fix it"))
    assert (found.key, found.request) == (delivered.key, delivered.request)


def test_creation_is_the_same_request_as_in_its_delivery() -> None:
    asking: dict[str, Any] = {"description": "@patchwright go", "labels": ["fix-me"]}
    assert find(ticket(**asking)) == (trigger_of(created(**asking)),)


def test_label_and_assignment_are_the_same_requests_as_in_their_deliveries() -> None:
    label = item("labels", "", "fix-me")
    person = item("assignee", None, "Patchwright", to_id="557058:bot")
    whole = ticket(
        entry(60, label),
        entry(61, person, id="902", author=BO),
        labels=["fix-me"],
        assignee=US,
    )
    delivered = updated(person, user=BO, changelog={"id": "902", "items": [person]})
    assert find(whole) == (trigger_of(updated(label)), trigger_of(delivered))


def test_label_of_the_first_seconds_is_one_request_with_the_creation() -> None:
    label = item("labels", "", "fix-me")
    [found] = find(ticket(entry(0.05, label), labels=["fix-me"]))
    assert found.key == trigger_of(created(labels=["fix-me"])).key


def test_nothing_is_found_twice_or_from_before() -> None:
    words = said("@patchwright fix it", created=at(60), updated=at(60))
    whole = ticket(
        entry(30, item("labels", "", "fix-me")),
        comments=(words,),
        description="@patchwright go",
        labels=["fix-me"],
    )
    kinds = [found.kind for found in find(whole, since_minutes=60)]
    assert kinds == [TriggerKind.COMMENT_MENTION]
    assert find(whole, since_minutes=61) == ()
    assert len({found.key for found in find(whole)}) == 3


def test_label_that_is_off_again_was_put_on_all_the_same() -> None:
    [found] = find(
        ticket(
            entry(60, item("labels", "a", "a fix-me")),
            entry(61, item("labels", "a fix-me", "a"), id="902"),
            labels=["a"],
        )
    )
    assert found.kind is TriggerKind.LABEL


def test_texts_are_those_of_the_moment() -> None:
    edit = item("description", "First.", "Second. @patchwright go")
    whole = ticket(
        entry(60, item("labels", "", "fix-me")),
        entry(120, edit, id="902"),
        labels=["fix-me"],
        description="Second. @patchwright go",
    )
    label, words = find(whole)
    assert (label.kind, label.body) == (TriggerKind.LABEL, "First.")
    assert words.kind is TriggerKind.BODY_MENTION
    assert words.body == "Second. @patchwright go"


def test_changes_of_one_moment_are_taken_in_their_order() -> None:
    whole = ticket(
        entry(60, item("labels", "", "fix-me"), id="999"),
        entry(60, item("description", "First.", "Second."), id="1000"),
        labels=["fix-me"],
        description="Second.",
    )
    assert [found.body for found in find(whole)] == ["First."]


def test_edit_that_adds_a_mention_is_found() -> None:
    edited = said("@patchwright go", created=at(-999), updated=at(60))
    [found] = find(ticket(comments=(edited,)))
    delivered = comment("", "comment_updated", comment=edited)
    assert found.key == trigger_of(delivered).key


def test_comment_that_was_only_touched_is_not_found_again() -> None:
    old = said("@patchwright go", created=at(-999), updated=at(-999))
    assert find(ticket(comments=(old,))) == ()


def test_edit_of_an_old_comment_is_no_answer() -> None:
    edited = said("The second one.", created=at(-999), updated=at(60))
    assert find(ticket(comments=(edited,))) == ()


def test_edited_answer_stays_one() -> None:
    words = said("The second one.", created=at(60), updated=at(61))
    assert [found.kind for found in find(ticket(comments=(words,)))] == [
        TriggerKind.REPLY
    ]


def test_our_own_acts_and_comments_are_none() -> None:
    whole = ticket(
        entry(60, item("labels", "", "fix-me"), author=US),
        comments=(said("@patchwright go", US),),
        labels=["fix-me"],
    )
    assert find(whole) == ()


def test_s19_ticket_of_another_project_is_none() -> None:
    assert find(ticket(key="OPS-1", description="@patchwright go")) == ()


@pytest.mark.parametrize("broken", [{}, {"key": "APP-7"}, {"id": 1, "self": None}])
def test_answer_without_the_shape_of_a_ticket_is_malformed(broken: Any) -> None:
    with pytest.raises(PayloadError):
        find_requests(broken, LISTENING, LONG_AGO)
