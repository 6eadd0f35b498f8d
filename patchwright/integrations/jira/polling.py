"""Find in a ticket what no delivery may have told: the same requests, by their names.

A delivery shows one act; a ticket as it is now shows them all, and its history leads
back to what each of them changed.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

from pydantic import ValidationError

from patchwright.core.errors import PayloadError
from patchwright.core.types.base import Value
from patchwright.core.types.triggers import ParsedWebhook, Trigger
from patchwright.integrations.jira.answers import JsonObject
from patchwright.integrations.jira.listening import JiraTriggerRules
from patchwright.integrations.jira.reading.comments import read_comment
from patchwright.integrations.jira.reading.payloads import HistoryEntry, TicketWithHistory
from patchwright.integrations.jira.reading.scene import TicketContext
from patchwright.integrations.jira.reading.states import TicketState, state_after, state_before, state_of
from patchwright.integrations.jira.reading.wishes import (
    CREATION,
    TicketChange,
    name_change,
    read_change,
)

_DatedReading = tuple[datetime, ParsedWebhook]


class TicketRequests(Value):
    """What was asked in a ticket, in that order, and when it was last changed."""

    updated: datetime | None
    triggers: tuple[Trigger, ...] = ()


def find_requests(issue: JsonObject, listening: JiraTriggerRules, since: datetime) -> TicketRequests:
    """Find what was asked in a ticket since then.

    The ticket is one that a search returned, with comments and changelog. Raises
    `PayloadError` if it is not.
    """
    try:
        ticket = TicketWithHistory.model_validate(issue)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise PayloadError(f"the ticket is malformed at {where!r}") from None
    updated = ticket.fields.updated
    if not TicketContext(ticket, listening).is_mapped:
        return TicketRequests(updated=updated)
    moments = [
        *_creation(ticket, listening, since),
        *_changes(ticket, listening, since),
        *_comments(ticket, listening, since),
    ]
    readings = (reading for _, reading in sorted(moments, key=lambda one: one[0]))
    asked = tuple(reading for reading in readings if isinstance(reading, Trigger))
    return TicketRequests(updated=updated, triggers=asked)


def _creation(
    ticket: TicketWithHistory, listening: JiraTriggerRules, since: datetime
) -> Iterator[_DatedReading]:
    created = ticket.fields.created
    if created is None or created < since:
        return
    state = _undo(ticket, ticket.changelog.histories)
    act = TicketChange(CREATION, ticket.fields.creator, TicketState(), state)
    yield created, read_change(_context_at(ticket, listening, state), act)


def _changes(
    ticket: TicketWithHistory, listening: JiraTriggerRules, since: datetime
) -> Iterator[_DatedReading]:
    for entry in ticket.changelog.histories:
        if entry.created < since:
            continue
        state = _undo(ticket, _later(ticket, entry.created, entry.id))
        name = name_change(entry.id, entry.created, ticket.fields.created)
        made = state_after(state, entry.items)
        act = TicketChange(name, entry.author, state_before(made, entry.items), made)
        yield entry.created, read_change(_context_at(ticket, listening, made), act)


def _comments(
    ticket: TicketWithHistory, listening: JiraTriggerRules, since: datetime
) -> Iterator[_DatedReading]:
    for comment in ticket.fields.comment.comments:
        moment = comment.updated or comment.created
        if moment is None or comment.created is None or moment < since:
            continue
        state = _undo(ticket, _later(ticket, moment))
        scene = _context_at(ticket, listening, state)
        is_edit = comment.created < since
        yield moment, read_comment(scene, comment, is_edit=is_edit)


def _context_at(ticket: TicketWithHistory, listening: JiraTriggerRules, state: TicketState) -> TicketContext:
    """Set the scene with the texts as they were then."""
    fields = ticket.fields.replace(summary=state.summary, description=state.description)
    return TicketContext(ticket.replace(fields=fields), listening)


def _later(ticket: TicketWithHistory, moment: datetime, act_id: str = "") -> Iterable[HistoryEntry]:
    """Return what was changed after a moment; acts of the same have rising ids."""
    return (
        entry
        for entry in ticket.changelog.histories
        if (entry.created, _number(entry.id)) > (moment, _number(act_id))
    )


def _number(act_id: str) -> int:
    return int(act_id) if act_id.isdecimal() else 0


def _undo(ticket: TicketWithHistory, entries: Iterable[HistoryEntry]) -> TicketState:
    """Return what the ticket was before these, the last of all that were made."""
    state = state_of(ticket.fields)
    newest_first = sorted(
        entries, key=lambda one: (one.created, _number(one.id)), reverse=True
    )
    for entry in newest_first:
        state = state_before(state, entry.items)
    return state
