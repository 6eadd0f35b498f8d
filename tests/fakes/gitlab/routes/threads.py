"""Issues and merge requests, as far as they have the same endpoints."""

from datetime import UTC, datetime
from typing import Any

from tests.fakes.github.exchange import Answer
from tests.fakes.gitlab.access import level_of, may_change, sees, sees_thread
from tests.fakes.gitlab.acts import moves, threads
from tests.fakes.gitlab.acts.quick_actions import carry_out, read_orders
from tests.fakes.gitlab.acts.threads import Draft
from tests.fakes.gitlab.call import Call, Route, as_bool, as_list, paged
from tests.fakes.gitlab.exchange import (
    Json,
    RefusedError,
    forbidden,
    missing,
    not_found,
)
from tests.fakes.gitlab.render.threads import (
    full_thread_json,
    label_json,
    thread_json,
)
from tests.fakes.gitlab.render.users import moment, user_json
from tests.fakes.gitlab.state import Level, Project
from tests.fakes.gitlab.thread_state import Thread, ThreadKind

ISSUES = "/projects/{id}/issues"


def list_threads(call: Call, found: list[Thread]) -> Answer:
    """Answer with those that the query asks for, the newest first."""
    query = call.request.query
    state = query.get("state", "all")
    wanted = set(as_list(query.get("labels", "")))
    numbers = set(as_list(query.get("iids[]", ""))) | set(
        as_list(query.get("iids", ""))
    )
    since = read_moment(query.get("updated_after"))
    author = query.get("author_username")
    text = query.get("search", "").lower()
    kept = [
        one
        for one in found
        if state in ("all", one.state)
        and wanted <= set(one.labels)
        and (not numbers or str(one.iid) in numbers)
        and (since is None or one.updated_at >= since)
        and author in (None, call.world.users[one.author].username)
        and text in f"{one.title}\n{one.description}".lower()
        and _is_for(call, one)
        and sees_thread(call.world, call.world.projects[one.project], one, call.caller)
    ]
    by_change = query.get("order_by") == "updated_at"
    kept.sort(
        key=lambda one: (one.updated_at if by_change else one.created_at, one.id),
        reverse=query.get("sort", "desc") == "desc",
    )
    return paged(call, [thread_json(call.world, one) for one in kept])


def read_moment(text: str | None) -> datetime | None:
    """Return a time of the query, with UTC where it names no zone."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError as problem:
        raise RefusedError(400, {"error": "updated_after is invalid"}) from problem
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _is_for(call: Call, thread: Thread) -> bool:
    query = call.request.query
    name = query.get("assignee_username") or query.get("assignee_username[]")
    number = query.get("assignee_id")
    reviewer = query.get("reviewer_username")
    names = [call.world.users[one].username for one in thread.assignees]
    reviewers = thread.merge.reviewers if thread.merge else ()
    return (
        (name is None or name in names)
        and (number is None or number in map(str, thread.assignees))
        and (
            reviewer is None
            or reviewer in [call.world.users[one].username for one in reviewers]
        )
    )


def list_issues(call: Call) -> Answer:
    project = call.project()
    return list_threads(call, call.world.threads_of(project.id, ThreadKind.ISSUE))


def get_issue(call: Call) -> Answer:
    issue = call.thread(ThreadKind.ISSUE)
    return Answer(
        status=200, body=full_thread_json(call.world, issue, call.caller.user)
    )


def create_issue(call: Call) -> Answer:
    """Open an issue; who may not label it has their labels dropped without a word."""
    user = call.user()
    project = call.project()
    asked = call.body()
    if "title" not in asked:
        raise missing("title")
    is_planner = level_of(call.world, project, user) >= Level.PLANNER
    read = read_orders(str(asked.get("description") or ""))
    draft = Draft(
        title=str(asked["title"]),
        description=read.text,
        labels=tuple(as_list(asked.get("labels"))) if is_planner else (),
        assignees=read_people(call, asked, "assignee") if is_planner else (),
        confidential=as_bool(asked.get("confidential")),
    )
    issue = threads.open_issue(call.world, project, user.id, draft)
    carry_out(call.world, issue, user.id, read.orders)
    issue = call.world.threads[issue.id]
    return Answer(status=201, body=full_thread_json(call.world, issue, user))


def edit_issue(call: Call) -> Answer:
    issue = edit_thread(call, call.thread(ThreadKind.ISSUE), call.body())
    return Answer(status=200, body=full_thread_json(call.world, issue, call.user()))


def edit_thread(call: Call, thread: Thread, asked: Json) -> Thread:
    """Change what the body names; a level that doesn't reach is a 403."""
    user = call.user()
    project = call.world.projects[thread.project]
    if not may_change(call.world, project, thread, user):
        raise forbidden()
    changes = _read_changes(call, project, thread, asked)
    read = read_orders(changes.get("description", ""))
    if read.orders:
        changes["description"] = read.text
    threads.change(call.world, thread, user.id, **changes)
    carry_out(call.world, thread, user.id, read.orders)
    changed = call.world.threads[thread.id]
    match asked.get("state_event"):
        case "close":
            return threads.close(call.world, changed, user.id)
        case "reopen":
            return threads.reopen(call.world, changed, user.id)
        case _:
            return changed


def _read_changes(
    call: Call, project: Project, thread: Thread, asked: Json
) -> dict[str, Any]:
    changes: dict[str, Any] = {
        name: str(asked[name] or "")
        for name in ("title", "description")
        if name in asked
    }
    if level_of(call.world, project, call.user()) < Level.PLANNER:
        # The author of a thread may change its texts, and no more than that.
        return changes
    labels = set(thread.labels)
    if "labels" in asked:
        labels = set(as_list(asked["labels"]))
    labels |= set(as_list(asked.get("add_labels")))
    labels -= set(as_list(asked.get("remove_labels")))
    if labels != set(thread.labels):
        changes["labels"] = tuple(labels)
    if "assignee_ids" in asked or "assignee_id" in asked:
        changes["assignees"] = read_people(call, asked, "assignee")
    if "milestone_id" in asked:
        number = int(asked["milestone_id"] or 0)
        if number and number not in call.world.milestones:
            # GitLab drops one that it does not know.
            number = 0
        changes["milestone"] = number or None
    if "discussion_locked" in asked:
        changes["locked"] = as_bool(asked["discussion_locked"])
    if "confidential" in asked:
        changes["confidential"] = as_bool(asked["confidential"])
    return changes


def read_people(call: Call, asked: Json, name: str) -> tuple[int, ...]:
    """Return the people that the body names; those who are not known are dropped."""
    listed = as_list(asked.get(f"{name}_ids"))
    listed += [str(asked[f"{name}_id"])] if asked.get(f"{name}_id") else []
    numbers = (int(one) for one in listed if one.isdecimal())
    return tuple(one for one in numbers if one in call.world.users)


def move_issue(call: Call) -> Answer:
    issue = call.thread(ThreadKind.ISSUE)
    user = call.user()
    target = call.world.projects.get(int(call.body().get("to_project_id", 0)))
    if target is None or not sees(call.world, target, user):
        raise not_found("Project Not Found")
    moved = moves.move_issue(call.world, issue, target, user.id)
    return Answer(status=201, body=full_thread_json(call.world, moved, user))


def list_participants(call: Call) -> Answer:
    return paged(call, _participants(call, find_thread(call)))


def _participants(call: Call, thread: Thread) -> list[Json]:
    people = [thread.author, *(one.author for one in call.world.notes_of(thread))]
    known = dict.fromkeys([*people, *thread.assignees])
    return [user_json(call.world, call.world.users[one]) for one in known]


def list_related(call: Call) -> Answer:
    """List the merge requests whose text names the issue.

    https://docs.gitlab.com/api/issues/#list-merge-requests-related-to-issue
    """
    issue = call.thread(ThreadKind.ISSUE)
    return paged(call, [thread_json(call.world, one) for one in _naming(call, issue)])


def list_closing(call: Call) -> Answer:
    issue = call.thread(ThreadKind.ISSUE)
    found = [one for one in _naming(call, issue) if closes(one, issue)]
    return paged(call, [thread_json(call.world, one) for one in found])


def _naming(call: Call, issue: Thread) -> list[Thread]:
    merges = call.world.threads_of(issue.project, ThreadKind.MERGE_REQUEST)
    return [one for one in merges if names(one, issue)]


def names(thread: Thread, issue: Thread) -> bool:
    words = f"{thread.title} {thread.description}".replace(".", " ").split()
    return f"#{issue.iid}" in [word.strip(",;:()") for word in words]


def closes(thread: Thread, issue: Thread) -> bool:
    """Tell whether the merge request says that it closes the issue."""
    verbs = ("close", "closes", "closed", "fix", "fixes", "fixed", "resolves")
    text = thread.description.lower()
    return any(f"{verb} #{issue.iid}" in text for verb in verbs)


def find_thread(call: Call) -> Thread:
    """Return the thread of a path that both kinds have."""
    kinds = {one.folder: one for one in ThreadKind}
    kind = kinds.get(call.args["kind"])
    if kind is None:
        raise not_found()
    return call.thread(kind)


def list_label_events(call: Call) -> Answer:
    """List which labels came and went.

    https://docs.gitlab.com/api/resource_label_events/
    """
    thread = find_thread(call)
    found = [
        {
            "id": one.id,
            "user": user_json(call.world, call.world.users[one.user]),
            "created_at": moment(one.created_at),
            "resource_type": thread.kind.value,
            "resource_id": thread.id,
            "label": label_json(call.world.labels[thread.project, one.label]),
            "action": "add" if one.is_added else "remove",
        }
        for one in call.world.label_events
        if one.thread == thread.id
    ]
    return paged(call, found)


ROUTES = (
    Route("GET", ISSUES, list_issues),
    Route("POST", ISSUES, create_issue),
    Route("GET", ISSUES + "/{iid}", get_issue),
    Route("PUT", ISSUES + "/{iid}", edit_issue),
    Route("POST", ISSUES + "/{iid}/move", move_issue),
    Route("GET", "/projects/{id}/{kind}/{iid}/participants", list_participants),
    Route(
        "GET", "/projects/{id}/{kind}/{iid}/resource_label_events", list_label_events
    ),
    Route("GET", ISSUES + "/{iid}/related_merge_requests", list_related),
    Route("GET", ISSUES + "/{iid}/closed_by", list_closing),
)
