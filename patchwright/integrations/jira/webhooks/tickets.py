"""Read what was done to a ticket, from a delivery or from the ticket's history."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from pydantic import ValidationError

from patchwright.core.types.base import Value
from patchwright.core.types.errors import PayloadError
from patchwright.core.types.triggers import Ignored, ParsedWebhook, Trigger, TriggerKind
from patchwright.integrations.jira.webhooks.payloads import (
    ChangedField,
    HistoryEntry,
    JiraCommentPayload,
    JiraDelivery,
    JiraFieldsPayload,
    JiraUserPayload,
    JsonObject,
    RichText,
    TicketChanges,
    TicketWithHistory,
)
from patchwright.integrations.jira.webhooks.triggers import (
    JiraTriggerRules,
    TicketContext,
    find_plain_request,
    find_rich_request,
    read_markdown,
)


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


def _with_field(
    state: TicketState, item: ChangedField, identifier: str, words: str
) -> TicketState:
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


def read_change(context: TicketContext, act: TicketChange) -> ParsedWebhook:
    """Return the one request of an act: words before a label, that before a person.

    Whoever creates a ticket with a mention, the label and us as its assignee wants one
    thing, and the words say what.
    """
    found = _find_request(act, context.rules)
    if found is None:
        return Ignored(reason="no-request")
    if context.is_own(act.person):
        return Ignored(reason="own-act")
    if act.person is None or not act.person.ids:
        return Ignored(reason="nobody")
    kind, request = found
    # The texts of a ticket ask once; labels and assignments can be repeated.
    name = "body" if kind is TriggerKind.BODY_MENTION else f"{kind}:{act.id}"
    name = f"issue:{context.issue.id}:{name}"
    return context.trigger(name, kind, act.person, request=request)


def _find_request(
    act: TicketChange, rules: JiraTriggerRules
) -> tuple[TriggerKind, str] | None:
    request = _find_text_request(act.after, rules)
    if request is not None and _find_text_request(act.before, rules) is None:
        return TriggerKind.BODY_MENTION, request
    added = act.after.labels - act.before.labels
    if rules.label and rules.label in added:
        return TriggerKind.LABEL, ""
    if _is_assigned_to_us(act.after, rules) and not _is_assigned_to_us(
        act.before, rules
    ):
        return TriggerKind.ASSIGNMENT, ""
    return None


def _find_text_request(state: TicketState, rules: JiraTriggerRules) -> str | None:
    request = find_rich_request(state.description, rules)
    if request is not None:
        return request
    return find_plain_request(state.summary, rules)


def _is_assigned_to_us(state: TicketState, rules: JiraTriggerRules) -> bool:
    return not state.assignee.isdisjoint(rules.own_ids)


def read_comment(
    context: TicketContext, comment: JiraCommentPayload, *, is_edit: bool
) -> ParsedWebhook:
    """Read a comment: it asks at most once, however often it is edited.

    The payload has neither the old text of an edited comment nor the author of its new
    words: both who wrote it and who changed it are judged.
    """
    if context.is_own(comment.author, comment.editor):
        return Ignored(reason="own-text")
    asker = (comment.editor or context.user) if is_edit else comment.author
    if asker is None or not asker.ids:
        return Ignored(reason="nobody")
    request = find_rich_request(comment.body, context.rules)
    if request is None and is_edit:
        return Ignored(reason="no-mention")
    text = read_markdown(comment.body)
    is_reply = request is None
    return context.trigger(
        f"{'reply' if is_reply else 'comment'}:{comment.id}",
        TriggerKind.REPLY if is_reply else TriggerKind.COMMENT_MENTION,
        asker,
        request=text if request is None else request,
        text=text,
        post_id=comment.id,
        others=(comment.author, comment.editor),
        audience=comment.audience,
    )


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# https://developer.atlassian.com/server/jira/platform/webhooks/
_COMMENT_EDITED: Final = "issue_comment_edited"
_COMMENT_GONE: Final = "issue_comment_deleted"


def read_created(context: TicketContext, _delivery: JiraDelivery) -> ParsedWebhook:
    fields = context.issue.fields
    person = context.user or fields.creator
    return read_change(
        context, TicketChange(CREATION, person, TicketState(), state_of(fields))
    )


def read_updated(context: TicketContext, delivery: JiraDelivery) -> ParsedWebhook:
    """Read a change; a data center sends comments in this way, too.

    One screen of Jira's takes both. What the comment asks comes first, then what the
    change does, then a comment that does not call us.
    """
    parsed = _read_new_text(context, delivery)
    if isinstance(parsed, Trigger) and parsed.kind is TriggerKind.COMMENT_MENTION:
        return parsed
    done = _read_changed_fields(context, delivery)
    return done if isinstance(done, Trigger) else parsed or done


def _read_new_text(
    context: TicketContext, delivery: JiraDelivery
) -> ParsedWebhook | None:
    if delivery.comment is None or delivery.event_type == _COMMENT_GONE:
        return None
    is_edit = delivery.event_type == _COMMENT_EDITED
    return read_comment(context, delivery.comment, is_edit=is_edit)


def _read_changed_fields(
    context: TicketContext, delivery: JiraDelivery
) -> ParsedWebhook:
    changes = delivery.changelog or TicketChanges()
    if not changes.items:
        return Ignored(reason="nothing-changed")
    fields = context.issue.fields
    moment = _EPOCH + timedelta(milliseconds=delivery.timestamp)
    name = name_change(changes.id or str(delivery.timestamp), moment, fields.created)
    now = state_after(state_of(fields), changes.items)
    act = TicketChange(name, context.user, state_before(now, changes.items), now)
    return read_change(context, act)


_DatedReading = tuple[datetime, ParsedWebhook]


class TicketRequests(Value):
    """What was asked in a ticket, in that order, and when it was last changed."""

    updated: datetime | None
    triggers: tuple[Trigger, ...] = ()


def find_requests(
    issue: JsonObject, rules: JiraTriggerRules, since: datetime
) -> TicketRequests:
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
    if not TicketContext(ticket, rules).is_mapped:
        return TicketRequests(updated=updated)
    dated = [
        *_creation(ticket, rules, since),
        *_changes(ticket, rules, since),
        *_comments(ticket, rules, since),
    ]
    readings = (reading for _, reading in sorted(dated, key=lambda one: one[0]))
    asked = tuple(reading for reading in readings if isinstance(reading, Trigger))
    return TicketRequests(updated=updated, triggers=asked)


def _creation(
    ticket: TicketWithHistory, rules: JiraTriggerRules, since: datetime
) -> Iterator[_DatedReading]:
    created = ticket.fields.created
    if created is None or created < since:
        return
    state = _undo(ticket, ticket.changelog.histories)
    act = TicketChange(CREATION, ticket.fields.creator, TicketState(), state)
    yield created, read_change(_context_at(ticket, rules, state), act)


def _changes(
    ticket: TicketWithHistory, rules: JiraTriggerRules, since: datetime
) -> Iterator[_DatedReading]:
    for entry in ticket.changelog.histories:
        if entry.created < since:
            continue
        state = _undo(ticket, _later(ticket, entry.created, entry.id))
        name = name_change(entry.id, entry.created, ticket.fields.created)
        made = state_after(state, entry.items)
        act = TicketChange(name, entry.author, state_before(made, entry.items), made)
        yield entry.created, read_change(_context_at(ticket, rules, made), act)


def _comments(
    ticket: TicketWithHistory, rules: JiraTriggerRules, since: datetime
) -> Iterator[_DatedReading]:
    for comment in ticket.fields.comment.comments:
        moment = comment.updated or comment.created
        if moment is None or comment.created is None or moment < since:
            continue
        state = _undo(ticket, _later(ticket, moment))
        context = _context_at(ticket, rules, state)
        is_edit = comment.created < since
        yield moment, read_comment(context, comment, is_edit=is_edit)


def _context_at(
    ticket: TicketWithHistory, rules: JiraTriggerRules, state: TicketState
) -> TicketContext:
    """Return the context with the texts as they were then."""
    fields = ticket.fields.replace(summary=state.summary, description=state.description)
    return TicketContext(ticket.replace(fields=fields), rules)


def _later(
    ticket: TicketWithHistory, moment: datetime, act_id: str = ""
) -> Iterable[HistoryEntry]:
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
