"""What is true of the whole site: who asks, which fields there are, what was found."""

import re
from datetime import timedelta

from tests.fakes.github.exchange import Answer
from tests.fakes.jira import render
from tests.fakes.jira.exchange import Call, RefusedError, Route
from tests.fakes.jira.routes.issues import showing
from tests.fakes.jira.state import Issue

# The one form of query that is understood here.
_QUERY = re.compile(
    r'project in \((?P<projects>"[^"\\]*"(?:, "[^"\\]*")*)\)'
    r' AND updated >= "-(?P<minutes>\d+)m" ORDER BY updated ASC'
)
_LARGEST_PAGE = 100
_BROWSE = "BROWSE_PROJECTS"
_ALL = (
    _BROWSE,
    "ADD_COMMENTS",
    "EDIT_ISSUES",
    "EDIT_OWN_COMMENTS",
    "LINK_ISSUES",
    "TRANSITION_ISSUES",
)


def _myself(call: Call) -> Answer:
    return Answer(status=200, body=render.user(call.world, call.caller, call.version))


def _permissions(call: Call) -> Answer:
    """Tell what the caller may do in a project; the cloud wants to know of what."""
    wanted = [
        one for one in call.request.query.get("permissions", "").split(",") if one
    ]
    if call.world.is_cloud and not wanted:
        raise RefusedError(400, "The required query parameter is missing: permissions")
    key = call.request.query.get("projectKey", "")
    project = call.world.projects.get(key)
    caller = call.caller.id
    if project is None or (
        project.members is not None and caller not in project.members
    ):
        raise RefusedError(404, f"No project could be found with key '{key}'.")
    may_write = caller not in project.silenced
    return Answer(
        status=200,
        body={
            "permissions": {
                name: {
                    "id": str(number),
                    "key": name,
                    "name": name.replace("_", " ").title(),
                    "type": "PROJECT",
                    "description": "",
                    "havePermission": may_write or name == _BROWSE,
                }
                for number, name in enumerate(wanted or _ALL)
            }
        },
    )


def _fields(call: Call) -> Answer:
    own = [
        {
            "id": one.id,
            "name": one.name,
            "custom": True,
            "schema": {"type": "string", "custom": one.custom, "customId": 1},
        }
        for one in call.world.custom_fields
    ]
    summary = {"id": "summary", "name": "Summary", "custom": False}
    # It has no schema.
    key = {"id": "issuekey", "name": "Key", "custom": False}
    return Answer(status=200, body=[key, summary, *own])


def _search_by_token(call: Call) -> Answer:
    _check_flavour(call, is_cloud=True)
    found = _found(call)
    start = int(call.request.query.get("nextPageToken", "page-0").removeprefix("page-"))
    size = _size(call)
    shown = [_shown(call, one) for one in found[start : start + size]]
    is_last = start + size >= len(found)
    more = {} if is_last else {"nextPageToken": f"page-{start + size}"}
    return Answer(status=200, body={"issues": shown, "isLast": is_last, **more})


def _search_by_place(call: Call) -> Answer:
    _check_flavour(call, is_cloud=False)
    found = _found(call)
    start, size = call.number("startAt", 0), _size(call)
    shown = [_shown(call, one) for one in found[start : start + size]]
    page = {"startAt": start, "maxResults": size, "total": len(found)}
    return Answer(status=200, body={**page, "issues": shown})


def _check_flavour(call: Call, *, is_cloud: bool) -> None:
    """Refuse the search that the flavour has not, or has not any more.

    https://developer.atlassian.com/changelog/#CHANGE-2046
    """
    if call.world.is_cloud and not is_cloud:
        raise RefusedError(410, "The requested API has been removed.")
    if is_cloud and not call.world.is_cloud:
        raise RefusedError(404, "null for uri")


def _size(call: Call) -> int:
    return min(call.number("maxResults", 50), _LARGEST_PAGE)


def _found(call: Call) -> list[Issue]:
    jql = call.request.query.get("jql", "")
    query = _QUERY.fullmatch(jql)
    if query is None:
        raise RefusedError(400, f"Error in the JQL Query: {jql}")
    names = re.findall(r'"([^"]*)"', query["projects"])
    for name in names:
        if name not in call.world.projects:
            words = f"The value '{name}' does not exist for the field 'project'."
            raise RefusedError(400, words)
    since = call.world.clock.now() - timedelta(minutes=int(query["minutes"]))
    found = [
        one
        for one in call.world.issues.values()
        if one.project in names
        and one.updated >= since
        and call.world.may_see(call.caller, one)
    ]
    return sorted(found, key=lambda one: one.updated)


def _shown(call: Call, issue: Issue) -> dict[str, object]:
    wanted = call.request.query.get("fields", "id")
    return render.issue(call.world, issue, call.version, showing(wanted))


ROUTES = (
    Route("GET", "myself", _myself),
    Route("GET", "mypermissions", _permissions),
    Route("GET", "field", _fields),
    Route("GET", "search/jql", _search_by_token),
    Route("GET", "search", _search_by_place),
)
