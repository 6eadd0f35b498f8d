"""Comments: read in pages, added, and changed by who wrote them."""

from typing import Any

from tests.fakes.github.exchange import Answer
from tests.fakes.jira import acts, render
from tests.fakes.jira.bodies import read_body, read_properties
from tests.fakes.jira.exchange import Call, RefusedError, Route
from tests.fakes.jira.routes.seen import check_may_write, comment_of, issue_of
from tests.fakes.jira.state import Comment, Issue

_KNOWN = {"body", "properties", "visibility"}
# The most that the cloud gives at once. https://jira.atlassian.com/browse/JRACLOUD-67570
_LARGEST_PAGE = 100


def _list(call: Call) -> Answer:
    issue = issue_of(call)
    order = call.request.query.get("orderBy", "created")
    if order.lstrip("+-") != "created":
        raise RefusedError(400, f"The orderBy parameter is not valid: {order}")
    found = sorted(
        issue.comments,
        key=lambda one: (one.created, int(one.id)),
        reverse=order.startswith("-"),
    )
    start = call.number("startAt", 0)
    size = min(call.number("maxResults", _LARGEST_PAGE), _LARGEST_PAGE)
    page = {"startAt": start, "maxResults": size, "total": len(found)}
    shown = [_shown(call, issue, one) for one in found[start : start + size]]
    return Answer(status=200, body={**page, "comments": shown})


def _get(call: Call) -> Answer:
    issue = issue_of(call)
    return Answer(status=200, body=_shown(call, issue, comment_of(call, issue)))


def _add(call: Call) -> Answer:
    issue, sent = issue_of(call), call.json()
    check_may_write(call, issue, "comment on this issue")
    _check_known(sent)
    _check_visibility(call, sent)
    made = acts.comment(
        call.world,
        issue,
        call.caller.id,
        read_body(call, sent.get("body")),
        properties=read_properties(sent.get("properties", [])),
        visibility=sent.get("visibility"),
    )
    return Answer(status=201, body=_shown(call, issue, made))


def _edit(call: Call) -> Answer:
    issue, sent = issue_of(call), call.json()
    found = comment_of(call, issue)
    if found.author != call.caller.id:
        words = "You do not have the permission to edit this comment."
        raise RefusedError(400, comment=words)
    _check_known(sent)
    _check_visibility(call, sent)
    body = read_body(call, sent.get("body"))
    found.properties |= read_properties(sent.get("properties", []))
    acts.edit_comment(
        call.world,
        found.id,
        call.caller.id,
        body,
        visibility=sent.get("visibility"),
    )
    return Answer(status=200, body=_shown(call, issue, found))


def _delete(call: Call) -> Answer:
    issue = issue_of(call)
    found = comment_of(call, issue)
    if found.author != call.caller.id:
        words = "You do not have the permission to delete this comment."
        raise RefusedError(400, comment=words)
    acts.delete_comment(call.world, found.id)
    return Answer(status=204, body=None)


def _shown(call: Call, issue: Issue, found: Comment) -> dict[str, object]:
    full = "properties" in call.expand
    return render.comment(call.world, issue, found, call.version, full=full)


def _check_known(sent: dict[str, object]) -> None:
    for name in set(sent) - _KNOWN:
        raise RefusedError(400, f'Unrecognized field "{name}"')


def _check_visibility(call: Call, sent: dict[str, Any]) -> None:
    limit = sent.get("visibility")
    if limit is None:
        return
    if limit.get("type") not in ("role", "group"):
        raise RefusedError(400, visibility="The type must be role or group.")
    name = limit.get("value")
    if name in call.world.foreign_roles:
        words = f"You are currently not a member of the project role: {name}."
        raise RefusedError(400, commentLevel=words)


ROUTES = (
    Route("GET", "issue/{key}/comment", _list),
    Route("POST", "issue/{key}/comment", _add),
    Route("GET", "issue/{key}/comment/{id}", _get),
    Route("PUT", "issue/{key}/comment/{id}", _edit),
    Route("DELETE", "issue/{key}/comment/{id}", _delete),
)
