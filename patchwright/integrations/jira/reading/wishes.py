"""Find out what was asked of us by what was done to a ticket."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from patchwright.core.types.triggers import Ignored, ParsedWebhook, TriggerKind
from patchwright.integrations.jira.listening import JiraTriggerRules
from patchwright.integrations.jira.reading.payloads import JiraUserPayload
from patchwright.integrations.jira.reading.scene import TicketContext
from patchwright.integrations.jira.reading.states import TicketState
from patchwright.integrations.jira.reading.words import (
    find_plain_request,
    find_rich_request,
)

# What is put on a ticket so soon after it was made belongs to the making of it. A
# delivery shows the ticket as it is when it is sent, so that both may tell of it.
CREATION_WINDOW: Final = timedelta(seconds=10)
CREATION: Final = "first"


@dataclass(frozen=True, slots=True)
class TicketChange:
    """Something that somebody did to a ticket; `id` tells it from the next such."""

    id: str
    person: JiraUserPayload | None
    before: TicketState
    after: TicketState


def name_change(act_id: str, moment: datetime, created: datetime | None) -> str:
    """Return the name of an act on a ticket that was created then."""
    is_first = created is not None and moment - created <= CREATION_WINDOW
    return CREATION if is_first else act_id


def read_change(scene: TicketContext, act: TicketChange) -> ParsedWebhook:
    """Return the one request of an act: words before a label, that before a person.

    Whoever creates a ticket with a mention, the label and us as its assignee wants one
    thing, and the words say what.
    """
    found = _find_request(act, scene.listening)
    if found is None:
        return Ignored(reason="no-request")
    if scene.is_own(act.person):
        return Ignored(reason="own-act")
    if act.person is None or not act.person.ids:
        return Ignored(reason="nobody")
    kind, request = found
    # The texts of a ticket ask once; labels and assignments can be done anew.
    name = "body" if kind is TriggerKind.BODY_MENTION else f"{kind}:{act.id}"
    name = f"issue:{scene.issue.id}:{name}"
    return scene.trigger(name, kind, act.person, request=request)


def _find_request(act: TicketChange, listening: JiraTriggerRules) -> tuple[TriggerKind, str] | None:
    request = _find_text_request(act.after, listening)
    if request is not None and _find_text_request(act.before, listening) is None:
        return TriggerKind.BODY_MENTION, request
    added = act.after.labels - act.before.labels
    if listening.label and listening.label in added:
        return TriggerKind.LABEL, ""
    if _is_assigned_to_us(act.after, listening) and not _is_assigned_to_us(act.before, listening):
        return TriggerKind.ASSIGNMENT, ""
    return None


def _find_text_request(state: TicketState, listening: JiraTriggerRules) -> str | None:
    request = find_rich_request(state.description, listening)
    if request is not None:
        return request
    return find_plain_request(state.summary, listening)


def _is_assigned_to_us(state: TicketState, listening: JiraTriggerRules) -> bool:
    return not state.assignee.isdisjoint(listening.own_ids)
