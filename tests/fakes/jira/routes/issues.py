"""Tickets: read, changed in their labels, moved through their workflow."""

from collections.abc import Callable

from tests.fakes.github.exchange import Answer
from tests.fakes.jira import acts, render
from tests.fakes.jira.exchange import Call, RefusedError, Route
from tests.fakes.jira.routes.seen import check_may_write, issue_of
from tests.fakes.jira.state import Issue, Way

_MAX_LABEL = 255


def _get(call: Call) -> Answer:
    issue = issue_of(call)
    wanted = call.request.query.get("fields", "*all")
    shown = render.issue(call.world, issue, call.version, showing(wanted))
    if "changelog" in call.expand:
        shown["changelog"] = render.changelog(call.world, issue, call.version)
    return Answer(status=200, body=shown)


def showing(wanted: str) -> Callable[[str], bool]:
    names = set(wanted.split(","))
    return lambda name: bool({"*all", name} & names)


def _edit(call: Call) -> Answer:
    """Add labels and take others off; what is there or is not stays as it is."""
    issue, sent = issue_of(call), call.json()
    check_may_write(call, issue, "edit this issue")
    labels = list(issue.labels)
    for field, changes in sent.get("update", {}).items():
        if field != "labels":
            raise RefusedError(400, **{field: f"Field '{field}' cannot be set."})
        for change in changes:
            _change_label(labels, *next(iter(change.items())))
    acts.set_labels(call.world, issue, call.caller.id, labels)
    return Answer(status=204)


def _change_label(labels: list[str], how: str, label: str) -> None:
    if " " in label:
        words = f"The label '{label}' contains spaces which is invalid."
        raise RefusedError(400, labels=words)
    if not label or len(label) > _MAX_LABEL:
        raise RefusedError(400, labels=f"The label '{label}' is too long.")
    if how == "add":
        labels.append(label)
    elif how == "remove":
        labels[:] = [one for one in labels if one != label]
    else:
        raise RefusedError(400, labels=f"Operation '{how}' is not supported.")


def _ways(call: Call) -> Answer:
    issue = issue_of(call)
    full = "transitions.fields" in call.expand
    shown = [
        render.way(call.world, way, call.version, full=full)
        for way in _open_ways(call, issue)
    ]
    return Answer(status=200, body={"expand": "transitions", "transitions": shown})


def _move(call: Call) -> Answer:
    issue, sent = issue_of(call), call.json()
    wanted = str(sent.get("transition", {}).get("id", ""))
    way = next((one for one in _open_ways(call, issue) if one.id == wanted), None)
    if way is None:
        words = "It seems that you have tried to perform an illegal workflow operation."
        raise RefusedError(400, words)
    for field in way.required:
        if field not in sent.get("fields", {}):
            raise RefusedError(400, **{field: f"{field.capitalize()} is required."})
    for field in way.checked:
        if field not in sent.get("fields", {}):
            raise RefusedError(400, **{field: "A value is required."})
    acts.transition(call.world, issue, call.caller.id, way.target)
    return Answer(status=204)


def _open_ways(call: Call, issue: Issue) -> list[Way]:
    if not call.world.may_write(call.caller, issue):
        return []
    return [
        way
        for way in call.world.ways
        if way.target != issue.status
        and (not way.sources or issue.status in way.sources)
    ]


ROUTES = (
    Route("GET", "issue/{key}", _get),
    Route("PUT", "issue/{key}", _edit),
    Route("GET", "issue/{key}/transitions", _ways),
    Route("POST", "issue/{key}/transitions", _move),
)
