"""What happened lately, across threads and projects, and groups.

https://docs.gitlab.com/api/events/ and https://docs.gitlab.com/api/todos/
"""

from collections.abc import Iterator
from datetime import datetime

from tests.fakes.github.exchange import Answer
from tests.fakes.gitlab.access import (
    group_level,
    membership_of,
    sees,
    sees_note,
    sees_thread,
)
from tests.fakes.gitlab.call import Call, Route, paged
from tests.fakes.gitlab.exchange import Json, not_found, unauthorized
from tests.fakes.gitlab.render.notes import note_json
from tests.fakes.gitlab.render.projects import (
    member_json,
    project_json,
    simple_project_json,
)
from tests.fakes.gitlab.render.threads import thread_json
from tests.fakes.gitlab.render.users import moment, user_json
from tests.fakes.gitlab.routes.threads import list_threads
from tests.fakes.gitlab.state import Group, Level
from tests.fakes.gitlab.thread_state import Note, Thread, ThreadKind
from tests.fakes.gitlab.webhooks.threads import thread_url

Dated = tuple[datetime, Json]


def list_events(call: Call) -> Answer:
    """List what was opened, closed and commented in a project, the newest first.

    `after` and `before` are days, of which neither is counted in.
    """
    project = call.project()
    found: list[Dated] = []
    for thread in call.world.threads.values():
        if thread.project == project.id and sees_thread(
            call.world, project, thread, call.caller
        ):
            found += _thread_events(call, thread)
    query = call.request.query
    kept = [
        shown
        for at, shown in sorted(found, key=lambda one: one[0], reverse=True)
        if query.get("after", "") < f"{at.date()}" < query.get("before", "9")
        and query.get("action") in (None, shown["action_name"].partition(" ")[0])
        and query.get("target_type", "").lower()
        in ("", str(shown["target_type"]).lower())
    ]
    return paged(call, kept)


def _thread_events(call: Call, thread: Thread) -> Iterator[Dated]:
    yield thread.created_at, _event(call, thread, "opened", thread.author)
    if thread.closed_at is not None and thread.closed_by is not None:
        yield thread.closed_at, _event(call, thread, "closed", thread.closed_by)
    project = call.world.projects[thread.project]
    for note in call.world.notes_of(thread):
        if not note.system and sees_note(call.world, project, note, call.caller):
            yield note.created_at, _note_event(call, thread, note)


def _event(call: Call, thread: Thread, action: str, author: int) -> Json:
    at = thread.closed_at if action == "closed" else thread.created_at
    return {
        "id": thread.id,
        "project_id": thread.project,
        "action_name": action,
        "target_id": thread.id,
        "target_iid": thread.iid,
        "target_type": thread.kind.value,
        "author_id": author,
        "target_title": thread.title,
        "created_at": moment(at),
        "author": user_json(call.world, call.world.users[author]),
        "author_username": call.world.users[author].username,
        "imported": False,
        "imported_from": "none",
    }


def _note_event(call: Call, thread: Thread, note: Note) -> Json:
    kind = note.type if note.type in {"DiffNote", "DiscussionNote"} else "Note"
    return {
        **_event(call, thread, "commented on", note.author),
        "id": note.id,
        "target_id": note.id,
        "target_iid": note.id,
        "target_type": kind,
        "created_at": moment(note.created_at),
        "note": note_json(call.world, note),
    }


def list_todos(call: Call) -> Answer:
    """List where somebody is wanted: mentioned, assigned, or asked for a review."""
    user = call.user()
    mark = f"@{user.username}".lower()
    found: list[Dated] = []
    for thread in call.world.threads.values():
        project = call.world.projects[thread.project]
        if not sees(call.world, project, user) or thread.author == user.id:
            continue
        reviewers = thread.merge.reviewers if thread.merge else ()
        if user.id in thread.assignees:
            found.append(_todo(call, thread, "assigned", thread.author))
        if user.id in reviewers:
            found.append(_todo(call, thread, "review_requested", thread.author))
        if mark in thread.description.lower():
            found.append(_todo(call, thread, "mentioned", thread.author))
        found += [
            _todo(call, thread, "mentioned", note.author, note)
            for note in call.world.notes_of(thread)
            if mark in note.body.lower() and note.author != user.id
        ]
    found.sort(key=lambda one: one[0], reverse=True)
    return paged(call, [shown for _, shown in found])


def _todo(
    call: Call, thread: Thread, action: str, author: int, note: Note | None = None
) -> Dated:
    project = call.world.projects[thread.project]
    page = thread_url(call.world, thread)
    at = note.created_at if note else thread.created_at
    return at, {
        "id": note.id if note else thread.id,
        "project": simple_project_json(call.world, project),
        "author": user_json(call.world, call.world.users[author]),
        "action_name": action,
        "target_type": thread.kind.value,
        "target": thread_json(call.world, thread),
        "target_url": f"{page}#note_{note.id}" if note else page,
        "body": note.body if note else thread.title,
        "state": "pending",
        "created_at": moment(at),
        "updated_at": moment(at),
    }


def list_all_issues(call: Call) -> Answer:
    return _list_everywhere(call, ThreadKind.ISSUE)


def list_all_merges(call: Call) -> Answer:
    return _list_everywhere(call, ThreadKind.MERGE_REQUEST)


def _list_everywhere(call: Call, kind: ThreadKind) -> Answer:
    """List threads of all projects; without `scope=all` only one's own."""
    if call.caller.user is None:
        raise unauthorized()
    user = call.caller.user
    scope = call.request.query.get("scope", "created_by_me")
    found = [
        one
        for one in call.world.threads.values()
        if one.kind is kind
        and sees(call.world, call.world.projects[one.project], user)
        and _is_in_scope(one, user.id, scope)
    ]
    return list_threads(call, found)


def _is_in_scope(thread: Thread, user: int, scope: str) -> bool:
    match scope:
        case "all":
            return True
        case "assigned_to_me":
            return user in thread.assignees
        case _:
            return thread.author == user


def get_group(call: Call) -> Answer:
    return Answer(status=200, body=_group_json(call, _group(call)))


def list_group_projects(call: Call) -> Answer:
    group = _group(call)
    above = f"{group.path.lower()}/"
    deep = call.flag("include_subgroups")
    found = [
        project_json(call.world, one, call.caller.user)
        for one in call.world.projects.values()
        if (one.path.lower().startswith(above) if deep else one.namespace == group.path)
        and sees(call.world, one, call.caller.user)
    ]
    return paged(call, found)


def get_any_group_member(call: Call) -> Answer:
    group = _group(call)
    user = call.world.users.get(call.number("user_id"))
    level = group_level(call.world, group.path, user.id) if user else Level.NONE
    if user is None or level is Level.NONE:
        raise not_found()
    return Answer(status=200, body=member_json(call.world, user, level))


def list_project_users(call: Call) -> Answer:
    """List who can be named in a project."""
    project = call.project()
    wanted = call.request.query.get("search", "").lower()
    found = [
        user_json(call.world, one)
        for one in call.world.users.values()
        if membership_of(call.world, project, one) > Level.NONE
        and wanted in one.username.lower()
    ]
    return paged(call, found)


def _group(call: Call) -> Group:
    wanted = call.args["id"].lower()
    for path, group in call.world.groups.items():
        if wanted in (path, str(group.id)):
            return group
    raise not_found("Group Not Found")


def _group_json(call: Call, group: Group) -> Json:
    return {
        "id": group.id,
        "web_url": f"{call.world.base_url}/groups/{group.path}",
        "name": group.path.rpartition("/")[2],
        "path": group.path.rpartition("/")[2],
        "description": "",
        "visibility": "private",
        "full_name": " / ".join(group.path.split("/")),
        "full_path": group.path,
        "parent_id": None,
        "archived": False,
    }


ROUTES = (
    Route("GET", "/projects/{id}/events", list_events),
    Route("GET", "/projects/{id}/users", list_project_users),
    Route("GET", "/todos", list_todos),
    Route("GET", "/issues", list_all_issues),
    Route("GET", "/merge_requests", list_all_merges),
    Route("GET", "/groups/{id}", get_group),
    Route("GET", "/groups/{id}/projects", list_group_projects),
    Route("GET", "/groups/{id}/members/all/{user_id}", get_any_group_member),
)
