"""Find in a ticket what no delivery may have told: the same requests, by their names.

A delivery shows one act; a ticket as it is now shows them all, and its history leads
back to what each of them changed.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

from pydantic import ValidationError

from patchwright.core.errors import PayloadError
from patchwright.core.types.base import Value
from patchwright.core.types.triggers import Reading, Trigger
from patchwright.integrations.jira.answers import JsonObject
from patchwright.integrations.jira.listening import Listening
from patchwright.integrations.jira.reading.comments import read_comment
from patchwright.integrations.jira.reading.payloads import Entry, Ticket
from patchwright.integrations.jira.reading.scene import Scene
from patchwright.integrations.jira.reading.states import State, after, before, state_of
from patchwright.integrations.jira.reading.wishes import (
    FIRST,
    Act,
    name_act,
    read_act,
)

_Moment = tuple[datetime, Reading]


class Found(Value):
    """What was asked in a ticket, in that order, and when it was last changed."""

    updated: datetime | None
    triggers: tuple[Trigger, ...] = ()


def find_requests(issue: JsonObject, listening: Listening, since: datetime) -> Found:
    """Find what was asked in a ticket since then.

    The ticket is one that a search returned, with comments and changelog. Raises
    `PayloadError` if it is not.
    """
    try:
        ticket = Ticket.model_validate(issue)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise PayloadError(f"the ticket is malformed at {where!r}") from None
    updated = ticket.fields.updated
    if not Scene(ticket, listening).is_mapped:
        return Found(updated=updated)
    moments = [
        *_creation(ticket, listening, since),
        *_changes(ticket, listening, since),
        *_comments(ticket, listening, since),
    ]
    readings = (reading for _, reading in sorted(moments, key=lambda one: one[0]))
    asked = tuple(reading for reading in readings if isinstance(reading, Trigger))
    return Found(updated=updated, triggers=asked)


def _creation(
    ticket: Ticket, listening: Listening, since: datetime
) -> Iterator[_Moment]:
    created = ticket.fields.created
    if created is None or created < since:
        return
    state = _undo(ticket, ticket.changelog.histories)
    act = Act(FIRST, ticket.fields.creator, State(), state)
    yield created, read_act(_scene(ticket, listening, state), act)


def _changes(
    ticket: Ticket, listening: Listening, since: datetime
) -> Iterator[_Moment]:
    for entry in ticket.changelog.histories:
        if entry.created < since:
            continue
        state = _undo(ticket, _later(ticket, entry.created, entry.id))
        name = name_act(entry.id, entry.created, ticket.fields.created)
        made = after(state, entry.items)
        act = Act(name, entry.author, before(made, entry.items), made)
        yield entry.created, read_act(_scene(ticket, listening, made), act)


def _comments(
    ticket: Ticket, listening: Listening, since: datetime
) -> Iterator[_Moment]:
    for comment in ticket.fields.comment.comments:
        moment = comment.updated or comment.created
        if moment is None or comment.created is None or moment < since:
            continue
        state = _undo(ticket, _later(ticket, moment))
        scene = _scene(ticket, listening, state)
        is_edit = comment.created < since
        yield moment, read_comment(scene, comment, is_edit=is_edit)


def _scene(ticket: Ticket, listening: Listening, state: State) -> Scene:
    """Set the scene with the texts as they were then."""
    fields = ticket.fields.replace(summary=state.summary, description=state.description)
    return Scene(ticket.replace(fields=fields), listening)


def _later(ticket: Ticket, moment: datetime, act_id: str = "") -> Iterable[Entry]:
    """Return what was changed after a moment; acts of the same have rising ids."""
    return (
        entry
        for entry in ticket.changelog.histories
        if (entry.created, _number(entry.id)) > (moment, _number(act_id))
    )


def _number(act_id: str) -> int:
    return int(act_id) if act_id.isdecimal() else 0


def _undo(ticket: Ticket, entries: Iterable[Entry]) -> State:
    """Return what the ticket was before these, the last of all that were made."""
    state = state_of(ticket.fields)
    newest_first = sorted(
        entries, key=lambda one: (one.created, _number(one.id)), reverse=True
    )
    for entry in newest_first:
        state = before(state, entry.items)
    return state
