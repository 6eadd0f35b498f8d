"""REST: issues and their labels."""

from typing import Any

from tests.fakes.github.access import READ_ISSUE, TRIAGE_ISSUE, WRITE_ISSUE
from tests.fakes.github.acts import threads
from tests.fakes.github.acts.adorning import set_milestone
from tests.fakes.github.call import Call, Route, paged
from tests.fakes.github.exchange import Answer, Json, RefusedError, invalid
from tests.fakes.github.render.html import rendered
from tests.fakes.github.render.issues import issue_json, label_json
from tests.fakes.github.state import Issue


def list_issues(call: Call) -> Answer:
    """List pull requests too, as GitHub does here."""
    repo = call.repo(READ_ISSUE)
    state = call.request.query.get("state", "open")
    issues = [
        issue_json(call.world, issue)
        for issue in reversed(call.world.issues_of(repo.full_name))
        if state == "all" or issue.is_open == (state == "open")
    ]
    return paged(call, issues)


def show_issue(call: Call) -> Answer:
    issue = call.issue(READ_ISSUE)
    return Answer(status=200, body=rendered(call, issue_json(call.world, issue)))


def open_issue(call: Call) -> Answer:
    repo = call.repo(WRITE_ISSUE)
    wanted = call.request.json()
    issue = threads.open_issue(
        call.world,
        repo,
        author=call.actor(),
        title=str(wanted.get("title", "")),
        body=wanted.get("body"),
        app_slug=call.app_slug(),
    )
    return Answer(status=201, body=issue_json(call.world, issue))


def edit_issue(call: Call) -> Answer:
    """Change title, body or state: authors theirs, and those who triage all."""
    issue = call.issue(WRITE_ISSUE)
    if issue.author != call.actor():
        call.issue(TRIAGE_ISSUE)
    wanted = call.request.json()
    texts = {name: wanted.get(name) for name in ("title", "body")}
    issue = threads.edit_issue(call.world, issue, actor=call.actor(), **texts)
    if "milestone" in wanted:
        call.issue(TRIAGE_ISSUE)
        set_milestone(call.world, issue.repo, issue.number, wanted["milestone"])
        issue = call.issue(WRITE_ISSUE)
    if "state" in wanted:
        is_open = wanted["state"] == "open"
        issue = threads.set_open(call.world, issue, actor=call.actor(), is_open=is_open)
    return Answer(status=200, body=issue_json(call.world, issue))


def list_labels(call: Call) -> Answer:
    return paged(call, _labels(call, call.issue(READ_ISSUE)))


def add_labels(call: Call) -> Answer:
    issue = call.issue(TRIAGE_ISSUE)
    for name in _named(call.request.any_json()):
        issue = threads.add_label(call.world, issue, name, actor=call.actor())
    return Answer(status=200, body=_labels(call, issue))


def remove_label(call: Call) -> Answer:
    issue = call.issue(TRIAGE_ISSUE)
    name = call.args["name"]
    if name not in issue.labels:
        raise RefusedError(404, "Label does not exist")
    issue = threads.remove_label(call.world, issue, name, actor=call.actor())
    return Answer(status=200, body=_labels(call, issue))


def _labels(call: Call, issue: Issue) -> list[Json]:
    return [label_json(call.world, issue.repo, name) for name in issue.labels]


def _named(wanted: Any) -> list[str]:
    """Read names from an object, or from a bare list as older clients send it."""
    labels = wanted.get("labels") if isinstance(wanted, dict) else wanted
    if not isinstance(labels, list) or not labels:
        raise invalid("Label", "missing_field", field="labels")
    return [label["name"] if isinstance(label, dict) else label for label in labels]


ISSUE = "/repos/{owner}/{repo}/issues/{issue_number}"
ROUTES = (
    Route("GET", "/repos/{owner}/{repo}/issues", list_issues),
    Route("POST", "/repos/{owner}/{repo}/issues", open_issue),
    Route("GET", ISSUE, show_issue),
    Route("PATCH", ISSUE, edit_issue),
    Route("GET", f"{ISSUE}/labels", list_labels),
    Route("POST", f"{ISSUE}/labels", add_labels),
    Route("DELETE", f"{ISSUE}/labels/{{name}}", remove_label),
)
