"""Tell of issues, merge requests, notes and emoji.

https://docs.gitlab.com/user/project/integrations/webhook_events/
"""

from dataclasses import replace

from tests.fakes.gitlab.diffs import head_commit, merge_status
from tests.fakes.gitlab.exchange import Json
from tests.fakes.gitlab.render.positions import position_json
from tests.fakes.gitlab.state import World
from tests.fakes.gitlab.thread_state import Award, Note, Thread, ThreadKind
from tests.fakes.gitlab.webhooks.facts import (
    commit_facts,
    labels_facts,
    moment,
    person_facts,
    project_facts,
    repository_facts,
    user_facts,
)
from tests.fakes.gitlab.webhooks.outbox import (
    CONFIDENTIAL_ISSUE,
    CONFIDENTIAL_NOTE,
    EMOJI,
    ISSUE,
    MERGE_REQUEST,
    NOTE,
    Event,
    announce,
)

_UNITS: Json = {
    "time_estimate": 0,
    "total_time_spent": 0,
    "time_change": 0,
    "human_total_time_spent": None,
    "human_time_estimate": None,
    "human_time_change": None,
}


def tell_thread(
    world: World,
    thread: Thread,
    action: str,
    actor: int,
    *,
    before: Thread | None = None,
    oldrev: str | None = None,
    reviewers_before: list[Json] | None = None,
) -> None:
    """Tell of a thread that was opened or changed; `before` is as it was.

    So are `reviewers_before`, whose states are no part of the thread.
    """
    event = _event_of(thread)
    told = {"action": action} | ({} if oldrev is None else {"oldrev": oldrev})

    def build() -> Json:
        body = _thread_body(world, thread, before, told, actor)
        if reviewers_before is not None:
            now = reviewers_facts(world, thread)
            changed = {"previous": reviewers_before, "current": now}
            body["changes"] |= {"reviewers": changed}
        return body

    announce(world, thread.project, replace(event, action=action), build)


def tell_note(world: World, note: Note, action: str) -> None:
    """Tell of a note; those on confidential issues are confidential, too."""
    thread = world.threads[note.thread]
    event = CONFIDENTIAL_NOTE if note.internal or thread.confidential else NOTE
    announce(
        world,
        thread.project,
        replace(event, action=action),
        lambda: _note_body(world, thread, note, action, event),
    )


def tell_emoji(world: World, award: Award, action: str) -> None:
    """Tell of an emoji that was awarded or revoked."""
    note = world.notes.get(award.awardable)
    thread = world.threads[note.thread if note else award.awardable]
    announce(
        world,
        thread.project,
        replace(EMOJI, action=action),
        lambda: _emoji_body(world, thread, note, award, action),
    )


def _event_of(thread: Thread) -> Event:
    if thread.kind is ThreadKind.MERGE_REQUEST:
        return MERGE_REQUEST
    return CONFIDENTIAL_ISSUE if thread.confidential else ISSUE


def thread_url(world: World, thread: Thread) -> str:
    path = world.projects[thread.project].path
    return f"{world.base_url}/{path}/-/{thread.kind.folder}/{thread.iid}"


def _thread_body(
    world: World, thread: Thread, before: Thread | None, told: Json, actor: int
) -> Json:
    project = world.projects[thread.project]
    kind = "issue" if thread.kind is ThreadKind.ISSUE else "merge_request"
    body = {
        "object_kind": kind,
        "event_type": "confidential_issue" if thread.confidential else kind,
        "user": user_facts(world, actor),
        "project": project_facts(world, project),
        "object_attributes": {**_attributes(world, thread), **told},
        "labels": labels_facts(world, thread),
        "changes": _changes(world, before, thread),
        "repository": repository_facts(world, project),
    }
    if thread.assignees:
        people = [person_facts(world, one) for one in thread.assignees]
        body |= {"assignees": people}
        if thread.kind is ThreadKind.ISSUE:
            body |= {"assignee": people[0]}
    if thread.merge is not None and thread.merge.reviewers:
        body["reviewers"] = reviewers_facts(world, thread)
    return body


def reviewers_facts(world: World, thread: Thread) -> list[Json]:
    """Return who reviews a merge request, and how far they are."""
    return [
        {
            **person_facts(world, one),
            "state": world.review_states.get((thread.id, one), "unreviewed"),
            "re_requested": False,
        }
        for one in thread.proposed.reviewers
    ]


def _attributes(world: World, thread: Thread) -> Json:
    common = {
        "id": thread.id,
        "iid": thread.iid,
        "author_id": thread.author,
        "title": thread.title,
        "description": thread.description,
        "created_at": moment(thread.created_at),
        "updated_at": moment(thread.updated_at),
        "updated_by_id": thread.updated_by,
        "last_edited_at": moment(thread.edited_at),
        "last_edited_by_id": thread.edited_by,
        "milestone_id": thread.milestone,
        "state_id": thread.state_id,
        "state": thread.state,
        "assignee_ids": list(thread.assignees),
        "assignee_id": thread.assignees[0] if thread.assignees else None,
        "labels": labels_facts(world, thread),
        "url": thread_url(world, thread),
        **_UNITS,
    }
    if thread.merge is None:
        return common | {
            "project_id": thread.project,
            "closed_at": moment(thread.closed_at),
            "confidential": thread.confidential,
            "discussion_locked": thread.locked or None,
            "due_date": None,
            "duplicated_to_id": None,
            "moved_to_id": thread.moved_to,
            "relative_position": 513,
            "weight": None,
            "health_status": None,
            "type": "Issue",
            "severity": "unknown",
            "customer_relations_contacts": [],
        }
    return common | _merge_attributes(world, thread)


def _merge_attributes(world: World, thread: Thread) -> Json:
    merge = thread.proposed
    target = world.projects[thread.project]
    source = world.projects[merge.source_project]
    head = head_commit(world, thread)
    status = merge_status(world, thread)
    pipeline = world.builds.newest_for(source.id, head.sha) if head else None
    return {
        "draft": thread.is_draft,
        "work_in_progress": thread.is_draft,
        "source_branch": merge.source_branch,
        "source_project_id": merge.source_project,
        "source": project_facts(world, source),
        "target_branch": merge.target_branch,
        "target_project_id": thread.project,
        "target": project_facts(world, target),
        "last_commit": None if head is None else commit_facts(world, source, head),
        "head_pipeline_id": pipeline.id if pipeline else None,
        "merge_commit_sha": merge.merge_sha,
        "merge_error": None,
        "merge_params": {"force_remove_source_branch": "0"},
        "merge_status": status.merge_status,
        "detailed_merge_status": status.detailed,
        "merge_user_id": merge.merged_by,
        "merge_when_pipeline_succeeds": False,
        "prepared_at": moment(thread.created_at),
        "blocking_discussions_resolved": True,
        "first_contribution": False,
        "reviewer_ids": list(merge.reviewers),
        "approval_rules": [],
    }


def _changes(world: World, before: Thread | None, after: Thread) -> Json:
    """Return each field that changed, as it was and as it is."""
    if before is None:
        return _first_values(world, after)
    changes: Json = {
        name: {"previous": old, "current": new}
        for name, old, new in _compared(world, before, after)
        if old != new
    }
    if before.updated_at != after.updated_at:
        # Even within one second, which is all that is written of it.
        times = moment(before.updated_at), moment(after.updated_at)
        changes["updated_at"] = dict(zip(("previous", "current"), times, strict=True))
    return changes


def _first_values(world: World, thread: Thread) -> Json:
    """Return what a new thread has changed to, from nothing."""
    shown = _attributes(world, thread)
    names = {"author_id", "created_at", "description", "id", "iid", "title"}
    names |= {"updated_at"}
    if thread.kind is ThreadKind.ISSUE:
        names |= {"project_id"}
    changes: Json = {
        name: {"previous": None, "current": shown[name]} for name in sorted(names)
    }
    if thread.labels:
        current = labels_facts(world, thread)
        changes["labels"] = {"previous": [], "current": current}
    return changes


def _compared(
    world: World, before: Thread, after: Thread
) -> list[tuple[str, object, object]]:
    def people(numbers: tuple[int, ...]) -> list[Json]:
        return [person_facts(world, one) for one in numbers]

    fields: list[tuple[str, object, object]] = [
        ("title", before.title, after.title),
        ("description", before.description, after.description),
        ("state_id", before.state_id, after.state_id),
        ("closed_at", moment(before.closed_at), moment(after.closed_at)),
        ("confidential", before.confidential, after.confidential),
        ("discussion_locked", before.locked or None, after.locked or None),
        ("milestone_id", before.milestone, after.milestone),
        ("updated_by_id", before.updated_by, after.updated_by),
        ("last_edited_at", moment(before.edited_at), moment(after.edited_at)),
        ("last_edited_by_id", before.edited_by, after.edited_by),
        ("assignees", people(before.assignees), people(after.assignees)),
        ("labels", labels_facts(world, before), labels_facts(world, after)),
    ]
    if before.merge is not None and after.merge is not None:
        old, new = before.merge, after.merge
        fields += [
            ("draft", before.is_draft, after.is_draft),
            ("target_branch", old.target_branch, new.target_branch),
            ("reviewers", people(old.reviewers), people(new.reviewers)),
        ]
    return fields


def _note_body(
    world: World, thread: Thread, note: Note, action: str, event: Event
) -> Json:
    project = world.projects[thread.project]
    kind = "issue" if thread.kind is ThreadKind.ISSUE else "merge_request"
    is_secret = event is CONFIDENTIAL_NOTE
    return {
        "object_kind": "note",
        "event_type": "confidential_note" if is_secret else "note",
        "user": user_facts(world, note.edited_by or note.author),
        "project_id": project.id,
        "project": project_facts(world, project),
        "object_attributes": {**_note_facts(world, thread, note), "action": action},
        "repository": repository_facts(world, project),
        kind: {**_attributes(world, thread), "assignee": _assignee(world, thread)},
    }


def _note_facts(world: World, thread: Thread, note: Note) -> Json:
    position = position_json(note.position)
    return {
        "attachment": None,
        "author_id": note.author,
        "change_position": None,
        "commit_id": None,
        "created_at": moment(note.created_at),
        "discussion_id": note.discussion,
        "id": note.id,
        "line_code": None if note.position is None else line_code(note),
        "note": note.body,
        "noteable_id": thread.id,
        "noteable_type": thread.kind.value,
        "original_position": position,
        "position": position,
        "project_id": thread.project,
        "resolved_at": moment(note.resolved_at),
        "resolved_by_id": note.resolved_by,
        "resolved_by_push": None,
        "st_diff": None,
        "system": note.system,
        "type": note.type,
        "updated_at": moment(note.updated_at),
        "updated_by_id": note.edited_by,
        "description": note.body,
        "url": f"{thread_url(world, thread)}#note_{note.id}",
    }


def _assignee(world: World, thread: Thread) -> Json | None:
    return person_facts(world, thread.assignees[0]) if thread.assignees else None


def line_code(note: Note) -> str:
    """Name the line of a diff note as GitLab does: file, old line, new line."""
    place = note.position
    if place is None:
        return ""
    return f"{note.discussion}_{place.old_line or 0}_{place.new_line or 0}"


def _emoji_body(
    world: World, thread: Thread, note: Note | None, award: Award, action: str
) -> Json:
    project = world.projects[thread.project]
    page = thread_url(world, thread)
    at = moment(award.created_at)
    kind = "work_item" if thread.kind is ThreadKind.ISSUE else "merge_request"
    body = {
        "object_kind": "emoji",
        "event_type": action,
        "user": user_facts(world, award.user),
        "project_id": project.id,
        "project": project_facts(world, project),
        "object_attributes": {
            "user_id": award.user,
            "created_at": at,
            "id": award.id,
            "name": award.name,
            "awardable_type": award.awardable_type,
            "awardable_id": award.awardable,
            "updated_at": at,
            "awarded_on_url": f"{page}#note_{note.id}" if note else page,
        },
    }
    if note is not None:
        body["note"] = _note_facts(world, thread, note)
    return {**body, kind: _attributes(world, thread)}
