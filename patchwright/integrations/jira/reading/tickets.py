"""Read what was done to a ticket: it was created, changed, or commented upon."""

from datetime import UTC, datetime, timedelta
from typing import Final

from patchwright.core.types.triggers import Ignored, ParsedWebhook, Trigger, TriggerKind
from patchwright.integrations.jira.reading.comments import read_comment
from patchwright.integrations.jira.reading.payloads import TicketChanges, JiraDelivery
from patchwright.integrations.jira.reading.scene import TicketContext
from patchwright.integrations.jira.reading.states import (
    TicketState,
    state_after,
    state_before,
    state_of,
)
from patchwright.integrations.jira.reading.wishes import (
    CREATION,
    TicketChange,
    name_change,
    read_change,
)

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# https://developer.atlassian.com/server/jira/platform/webhooks/
_COMMENT_EDITED: Final = "issue_comment_edited"
_COMMENT_GONE: Final = "issue_comment_deleted"


def read_created(scene: TicketContext, _delivery: JiraDelivery) -> ParsedWebhook:
    fields = scene.issue.fields
    person = scene.user or fields.creator
    return read_change(scene, TicketChange(CREATION, person, TicketState(), state_of(fields)))


def read_updated(scene: TicketContext, delivery: JiraDelivery) -> ParsedWebhook:
    """Read a change; a data center sends comments in this way, too.

    One screen of Jira's takes both. What the comment asks comes first, then what the
    change does, then a comment that does not call us.
    """
    said = _read_new_text(scene, delivery)
    if isinstance(said, Trigger) and said.kind is TriggerKind.COMMENT_MENTION:
        return said
    done = _read_changed_fields(scene, delivery)
    return done if isinstance(done, Trigger) else said or done


def _read_new_text(scene: TicketContext, delivery: JiraDelivery) -> ParsedWebhook | None:
    if delivery.comment is None or delivery.event_type == _COMMENT_GONE:
        return None
    is_edit = delivery.event_type == _COMMENT_EDITED
    return read_comment(scene, delivery.comment, is_edit=is_edit)


def _read_changed_fields(scene: TicketContext, delivery: JiraDelivery) -> ParsedWebhook:
    changes = delivery.changelog or TicketChanges()
    if not changes.items:
        return Ignored(reason="nothing-changed")
    fields = scene.issue.fields
    moment = _EPOCH + timedelta(milliseconds=delivery.timestamp)
    name = name_change(changes.id or str(delivery.timestamp), moment, fields.created)
    now = state_after(state_of(fields), changes.items)
    act = TicketChange(name, scene.user, state_before(now, changes.items), now)
    return read_change(scene, act)
