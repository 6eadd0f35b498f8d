"""Read webhooks about issues, merge requests and the notes on them."""

from collections.abc import Iterable, Iterator

from pydantic import TypeAdapter

from patchwright.core.text.mentions import find_request
from patchwright.core.types.threads import ThreadKind
from patchwright.core.types.triggers import (
    Ignored,
    ParsedWebhook,
    ThreadClosed,
    Trigger,
    TriggerKind,
)
from patchwright.integrations.gitlab.webhooks import payloads
from patchwright.integrations.gitlab.webhooks.triggers import (
    CONFIDENTIAL,
    INTERNAL,
    NO_MENTION,
    GitLabTriggerRules,
    NoteContext,
    read_act,
    read_body,
    read_changes_wanted,
    read_note,
)

_THREAD = TypeAdapter(payloads.ThreadDelivery)
_NOTE = TypeAdapter(payloads.NoteDelivery)
# What GitLab calls the state of a reviewer who wants something else.
_WANTS_CHANGES = "requested_changes"
# What belongs to a group has no repository.
_OF_GROUPS = frozenset({"Epic", "Objective", "Key Result"})


def read_issue(body: bytes, rules: GitLabTriggerRules) -> ParsedWebhook:
    """Read what happened to an issue, an incident or a task."""
    delivery = _THREAD.validate_json(body)
    found = delivery.object_attributes
    if found.type in _OF_GROUPS:
        return Ignored(reason="no-repository")
    is_hidden = found.confidential or delivery.event_type == "confidential_issue"
    context = NoteContext(
        delivery.project,
        found,
        ThreadKind.ISSUE,
        delivery.user,
        CONFIDENTIAL if is_hidden else "",
    )
    return _read_thread_event(context, delivery, rules)


def read_merge_request(body: bytes, rules: GitLabTriggerRules) -> ParsedWebhook:
    delivery = _THREAD.validate_json(body)
    context = NoteContext(
        delivery.project,
        delivery.object_attributes,
        ThreadKind.MERGE_REQUEST,
        delivery.user,
    )
    return _read_thread_event(context, delivery, rules)


def read_note_event(body: bytes, rules: GitLabTriggerRules) -> ParsedWebhook:
    delivery = _NOTE.validate_json(body)
    note = delivery.object_attributes
    if note.system:
        return Ignored(reason="system-note")
    context = _note_context(delivery)
    if context is None:
        return Ignored(reason="note-elsewhere")
    # Before GitLab 16.11 there were only new ones.
    match note.action:
        case "" | "create":
            return read_note(context, note, rules, is_edit=False)
        case "update":
            return read_note(context, note, rules, is_edit=True)
        case _:
            return Ignored(reason="action-not-read")


def _note_context(delivery: payloads.NoteDelivery) -> NoteContext | None:
    """Return the thread, None for a note on a commit, a snippet or a wiki page."""
    note = delivery.object_attributes
    is_hidden = note.is_internal or delivery.event_type == "confidential_note"
    match note.noteable_type:
        case "Issue" | "WorkItem" if delivery.issue is not None:
            thread, kind = delivery.issue, ThreadKind.ISSUE
        case "MergeRequest" if delivery.merge_request is not None:
            thread, kind = delivery.merge_request, ThreadKind.MERGE_REQUEST
        case _:
            return None
    audience = INTERNAL if is_hidden else ""
    if thread.confidential:
        audience = CONFIDENTIAL
    return NoteContext(delivery.project, thread, kind, delivery.user, audience)


def _read_thread_event(
    context: NoteContext, delivery: payloads.ThreadDelivery, rules: GitLabTriggerRules
) -> ParsedWebhook:
    found = delivery.object_attributes
    match found.action:
        case "open":
            return _first(_requests_of_new(context, delivery, rules))
        case "update":
            return _first(_requests_of_edit(context, delivery, rules))
        case "close" | "merge" | "reopen" as action:
            return ThreadClosed(
                thread=context.ref,
                is_open=action == "reopen",
                is_merged=action == "merge",
                at=context.at,
            )
        # Approvals are looked up where they count; each comes twice as well.
        case "approved" | "unapproved" | "approval" | "unapproval":
            return Ignored(reason="approval-noted")
        case _:
            return Ignored(reason="action-not-read")


def _first(readings: Iterable[ParsedWebhook]) -> ParsedWebhook:
    """Return the first request, or else the first reason why there is none.

    Whoever edits several things at once asks once.
    """
    seen = tuple(readings)
    asked = (one for one in seen if isinstance(one, Trigger))
    return next(asked, seen[0] if seen else NO_MENTION)


def _requests_of_new(
    context: NoteContext, delivery: payloads.ThreadDelivery, rules: GitLabTriggerRules
) -> Iterator[ParsedWebhook]:
    at = context.thread.created_at or context.thread.updated_at
    yield read_body(context, rules)
    if _has(delivery.labels, rules):
        yield read_act(context, TriggerKind.LABEL, at, rules)
    if any(map(rules.is_own, (*delivery.assigned, *delivery.reviewers))):
        yield read_act(context, TriggerKind.ASSIGNMENT, at, rules)


def _requests_of_edit(
    context: NoteContext, delivery: payloads.ThreadDelivery, rules: GitLabTriggerRules
) -> Iterator[ParsedWebhook]:
    changes, at = delivery.changes, context.thread.updated_at
    if changes.description is not None:
        yield _read_edited_body(context, changes.description, rules)
    if changes.labels is not None:
        was, is_now = (
            _has(one, rules)
            for one in (changes.labels.previous, changes.labels.current)
        )
        if is_now and not was:
            yield read_act(context, TriggerKind.LABEL, at, rules)
        else:
            yield Ignored(reason="other-label")
    for people in (changes.assignees, changes.reviewers):
        if people is None:
            continue
        if any(map(rules.is_own, _added(people))):
            yield read_act(context, TriggerKind.ASSIGNMENT, at, rules)
        else:
            yield Ignored(reason="other-assignee")
    if changes.reviewers is not None and _wants_changes(context, changes.reviewers):
        yield read_changes_wanted(context, at, rules)
    if delivery.object_attributes.oldrev:
        yield _read_new_head(context, rules)


def _read_edited_body(
    context: NoteContext, change: payloads.TextChange, rules: GitLabTriggerRules
) -> ParsedWebhook:
    if find_request(change.previous, rules.mention) is not None:
        return Ignored(reason="no-new-mention")
    return read_body(context, rules)


def _has(labels: Iterable[payloads.LabelPayload], rules: GitLabTriggerRules) -> bool:
    """Tell whether the label is one of them; GitLab tells the case of letters apart."""
    return bool(rules.label) and any(one.title == rules.label for one in labels)


def _added(people: payloads.PeopleChange) -> Iterator[payloads.UserPayload]:
    """Yield who was asked to do something, also again."""
    before = {one.username for one in people.previous}
    return (
        one for one in people.current if one.re_requested or one.username not in before
    )


def _wants_changes(context: NoteContext, reviewers: payloads.PeopleChange) -> bool:
    """Tell whether who acts has just asked for changes; older servers do not tell.

    https://docs.gitlab.com/user/project/merge_requests/reviews/#submit-a-review
    """
    before = {one.username for one in reviewers.previous if one.state == _WANTS_CHANGES}
    return any(
        one.state == _WANTS_CHANGES and one.username == context.user.username
        for one in reviewers.current
        if one.username not in before
    )


def _read_new_head(context: NoteContext, rules: GitLabTriggerRules) -> ParsedWebhook:
    """Read that a merge request ends in another commit; whose is not known here."""
    if rules.is_own(context.user):
        return Ignored(reason="own-push")
    head = context.thread.last_commit
    sha = head.id if head else ""
    # A push can bring an earlier head back, so the time tells one from the other.
    name = f"{TriggerKind.PUSHED}:{sha}:{context.thread.updated_at}"
    return context.trigger(name, TriggerKind.PUSHED).replace(head_sha=sha)
