"""What a ticket says and has at one moment, and how changes lead there and back."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from patchwright.integrations.jira.reading.payloads import JiraFieldsPayload, ChangedField, RichText


@dataclass(frozen=True, slots=True)
class TicketState:
    """The fields that may ask. `assignee` has each of the ids that one person has."""

    summary: str = ""
    description: RichText = None
    labels: frozenset[str] = frozenset()
    assignee: frozenset[str] = frozenset()


def state_of(fields: JiraFieldsPayload) -> TicketState:
    assignee = fields.assignee
    return TicketState(
        summary=fields.summary,
        description=fields.description,
        labels=frozenset(fields.labels),
        assignee=assignee.ids if assignee else frozenset(),
    )


def state_before(state: TicketState, items: Iterable[ChangedField]) -> TicketState:
    """Return what it was before these changes."""
    for item in items:
        state = _with_field(state, item, item.old, item.old_words)
    return state


def state_after(state: TicketState, items: Iterable[ChangedField]) -> TicketState:
    """Return what these changes made of it, whatever was changed since."""
    for item in items:
        state = _with_field(state, item, item.new, item.new_words)
    return state


def _with_field(state: TicketState, item: ChangedField, identifier: str, words: str) -> TicketState:
    # A field of the site's own may be called anything.
    match (item.kind, item.field.lower()):
        case ("custom", _):
            return state
        case (_, "summary"):
            return replace(state, summary=words)
        case (_, "description"):
            return replace(state, description=words)
        case (_, "labels"):
            # No label has a blank in it.
            return replace(state, labels=frozenset(words.split()))
        case (_, "assignee"):
            ids = frozenset({identifier} if identifier else ())
            return replace(state, assignee=ids)
        case _:
            return state
