"""Read what was done to a ticket: it was created, changed, or commented upon."""

from datetime import UTC, datetime, timedelta
from typing import Final

from patchwright.core.types.triggers import Ignored, Reading, Trigger, TriggerKind
from patchwright.integrations.jira.reading.comments import read_comment
from patchwright.integrations.jira.reading.payloads import Changes, Delivery
from patchwright.integrations.jira.reading.scene import Scene
from patchwright.integrations.jira.reading.states import (
    State,
    after,
    before,
    state_of,
)
from patchwright.integrations.jira.reading.wishes import (
    FIRST,
    Act,
    name_act,
    read_act,
)

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# https://developer.atlassian.com/server/jira/platform/webhooks/
_COMMENT_EDITED: Final = "issue_comment_edited"
_COMMENT_GONE: Final = "issue_comment_deleted"


def read_created(scene: Scene, _delivery: Delivery) -> Reading:
    fields = scene.issue.fields
    person = scene.user or fields.creator
    return read_act(scene, Act(FIRST, person, State(), state_of(fields)))


def read_updated(scene: Scene, delivery: Delivery) -> Reading:
    """Read a change; a data center sends comments in this way, too.

    One screen of Jira's takes both. What the comment asks comes first, then what the
    change does, then a comment that does not call us.
    """
    said = _read_said(scene, delivery)
    if isinstance(said, Trigger) and said.kind is TriggerKind.COMMENT_MENTION:
        return said
    done = _read_done(scene, delivery)
    return done if isinstance(done, Trigger) else said or done


def _read_said(scene: Scene, delivery: Delivery) -> Reading | None:
    if delivery.comment is None or delivery.event_type == _COMMENT_GONE:
        return None
    is_edit = delivery.event_type == _COMMENT_EDITED
    return read_comment(scene, delivery.comment, is_edit=is_edit)


def _read_done(scene: Scene, delivery: Delivery) -> Reading:
    changes = delivery.changelog or Changes()
    if not changes.items:
        return Ignored(reason="nothing-changed")
    fields = scene.issue.fields
    moment = _EPOCH + timedelta(milliseconds=delivery.timestamp)
    name = name_act(changes.id or str(delivery.timestamp), moment, fields.created)
    now = after(state_of(fields), changes.items)
    act = Act(name, scene.user, before(now, changes.items), now)
    return read_act(scene, act)
