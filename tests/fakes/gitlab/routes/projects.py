"""Projects, who may do what in them, their labels, milestones and hooks."""

from dataclasses import replace

from tests.fakes.github.exchange import Answer
from tests.fakes.gitlab.access import membership_of, sees
from tests.fakes.gitlab.acts import projects, threads
from tests.fakes.gitlab.call import Call, Route, address, as_bool, page_span, paged
from tests.fakes.gitlab.exchange import (
    Json,
    missing,
    not_found,
    refused,
    unauthorized,
)
from tests.fakes.gitlab.render.projects import (
    member_json,
    members_json,
    project_json,
    push_rule_json,
    simple_project_json,
)
from tests.fakes.gitlab.render.threads import full_milestone_json, label_json
from tests.fakes.gitlab.state import Level, Project


def list_projects(call: Call) -> Answer:
    """List what the caller sees, by page or, as of a number, by keyset.

    https://docs.gitlab.com/api/projects/#list-all-projects
    """
    query = call.request.query
    user = call.caller.user
    least = int(query.get("min_access_level", "0"))
    wanted = query.get("search", "").lower()
    if call.flag("membership") or least:
        if user is None:
            raise unauthorized()
        floor = max(least, Level.MINIMAL)
        found = [
            one
            for one in call.world.projects.values()
            if membership_of(call.world, one, user) >= floor
        ]
    else:
        found = [
            one for one in call.world.projects.values() if sees(call.world, one, user)
        ]
    found = [one for one in found if wanted in one.path.lower()]
    if query.get("archived") == "false":
        found = [one for one in found if not one.archived]
    backwards = query.get("sort", "desc") == "desc"
    found.sort(key=lambda one: one.id, reverse=backwards)
    if query.get("pagination") == "keyset":
        return _keyset(call, found)
    return paged(call, [_shown(call, one) for one in found])


def _keyset(call: Call, found: list[Project]) -> Answer:
    after = call.request.query.get("id_after")
    before = call.request.query.get("id_before")
    if after is not None:
        found = [one for one in found if one.id > int(after)]
    if before is not None:
        found = [one for one in found if one.id < int(before)]
    _, size = page_span(call)
    part = found[:size]
    headers = {}
    if len(found) > size:
        rises = call.request.query.get("sort") == "asc"
        bound = {"id_after" if rises else "id_before": part[-1].id}
        headers["Link"] = f'<{address(call, **bound)}>; rel="next"'
    return Answer(status=200, body=[_shown(call, one) for one in part], headers=headers)


def _shown(call: Call, project: Project) -> Json:
    if call.flag("simple") or call.caller.user is None:
        return simple_project_json(call.world, project)
    return project_json(call.world, project, call.caller.user)


def get_project(call: Call) -> Answer:
    found = call.project()
    return Answer(status=200, body=project_json(call.world, found, call.caller.user))


def fork_project(call: Call) -> Answer:
    source = call.project()
    user = call.user()
    asked = call.body()
    namespace = str(asked.get("namespace_path") or user.username)
    if call.world.find_project(f"{namespace}/{source.slug}"):
        raise refused(409, {"name": ["has already been taken"]})
    made = projects.fork(call.world, source, namespace)
    return Answer(status=201, body=project_json(call.world, made, user))


def list_members(call: Call) -> Answer:
    found = members_json(call.world, call.project(), inherited=False)
    return paged(call, found)


def list_all_members(call: Call) -> Answer:
    return paged(call, members_json(call.world, call.project(), inherited=True))


def get_member(call: Call) -> Answer:
    """Return a member of the project itself; who came in through a group is none."""
    project = call.project()
    level = project.members.get(call.number("user_id"), Level.NONE)
    return _member(call, level)


def get_any_member(call: Call) -> Answer:
    project = call.project()
    user = call.world.users.get(call.number("user_id"))
    level = Level.NONE if user is None else membership_of(call.world, project, user)
    return _member(call, level)


def _member(call: Call, level: Level) -> Answer:
    if level is Level.NONE:
        raise not_found()
    user = call.world.users[call.number("user_id")]
    return Answer(status=200, body=member_json(call.world, user, level))


def list_labels(call: Call) -> Answer:
    number = call.project().id
    found = [one for one in call.world.labels.values() if one.project == number]
    found.sort(key=lambda one: one.name.lower())
    return paged(call, [label_json(one) for one in found])


def get_label(call: Call) -> Answer:
    number = call.project().id
    wanted = call.args["label"]
    for label in call.world.labels.values():
        if label.project == number and wanted in (label.name, str(label.id)):
            return Answer(status=200, body=label_json(label))
    raise not_found("Label Not Found")


def create_label(call: Call) -> Answer:
    project = call.project(Level.PLANNER)
    asked = call.body()
    for name in ("name", "color"):
        if name not in asked:
            raise missing(name)
    name = str(asked["name"])
    if (project.id, name) in call.world.labels:
        raise refused(409, "Label already exists")
    made = threads.add_label(
        call.world,
        project,
        name,
        str(asked["color"]),
        str(asked.get("description") or ""),
    )
    return Answer(status=201, body=label_json(made))


def list_milestones(call: Call) -> Answer:
    number = call.project().id
    title = call.request.query.get("title")
    found = [
        full_milestone_json(call.world, one)
        for one in call.world.milestones.values()
        if one.project == number and title in (None, one.title)
    ]
    return paged(call, found)


def get_push_rule(call: Call) -> Answer:
    project = call.project(Level.MAINTAINER)
    return Answer(status=200, body=push_rule_json(project, project.rules))


def edit_project(call: Call) -> Answer:
    """Change what the fake keeps of a project's settings."""
    project = call.project(Level.MAINTAINER)
    asked = call.body()
    if "default_branch" in asked:
        name = str(asked["default_branch"])
        project = call.world.put_project(replace(project, default_branch=name))
    if "archived" in asked:
        is_archived = as_bool(asked["archived"])
        project = call.world.put_project(replace(project, archived=is_archived))
    return Answer(status=200, body=project_json(call.world, project, call.user()))


ROUTES = (
    Route("GET", "/projects", list_projects),
    Route("GET", "/projects/{id}", get_project),
    Route("PUT", "/projects/{id}", edit_project),
    Route("POST", "/projects/{id}/fork", fork_project),
    Route("GET", "/projects/{id}/members", list_members),
    Route("GET", "/projects/{id}/members/all", list_all_members),
    Route("GET", "/projects/{id}/members/{user_id}", get_member),
    Route("GET", "/projects/{id}/members/all/{user_id}", get_any_member),
    Route("GET", "/projects/{id}/labels", list_labels),
    Route("POST", "/projects/{id}/labels", create_label),
    Route("GET", "/projects/{id}/labels/{label}", get_label),
    Route("GET", "/projects/{id}/milestones", list_milestones),
    Route("GET", "/projects/{id}/push_rule", get_push_rule),
)
