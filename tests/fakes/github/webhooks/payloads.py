"""Build the body of a webhook from what happened."""

from typing import assert_never

from tests.fakes.github.exchange import Json
from tests.fakes.github.render.issues import comment_json, issue_json, label_json
from tests.fakes.github.render.pulls import pull_json
from tests.fakes.github.render.repositories import repository_json
from tests.fakes.github.render.users import user_json
from tests.fakes.github.state import Issue, World
from tests.fakes.github.webhooks.changes import (
    Change,
    CommentChange,
    IssueChange,
    LabelChange,
    PullChange,
    repo_of,
)


def event_of(change: Change) -> str:
    """Return the value of X-GitHub-Event."""
    match change:
        case CommentChange():
            return "issue_comment"
        case PullChange():
            return "pull_request"
        case IssueChange() | LabelChange():
            return "issues" if change.issue.pull is None else "pull_request"
        case _:
            assert_never(change)


def payload(world: World, change: Change) -> Json:
    """Return the body, but for `installation`, which differs by who receives it."""
    return {
        "action": change.action,
        **_facts(world, change),
        "repository": repository_json(world, world.repo(repo_of(change))),
        "sender": user_json(world, world.user(change.actor)),
    }


def _facts(world: World, change: Change) -> Json:
    match change:
        case CommentChange():
            return _comment_facts(world, change)
        case IssueChange():
            return _thread(world, change.issue) | _edits(change)
        case LabelChange():
            label = label_json(world, change.issue.repo, change.label)
            return _thread(world, change.issue) | {"label": label}
        case PullChange(before_sha=None):
            return _thread(world, change.issue)
        case PullChange():
            shas = {"before": change.before_sha, "after": change.after_sha}
            return _thread(world, change.issue) | shas
        case _:
            assert_never(change)


def _thread(world: World, issue: Issue) -> Json:
    if issue.pull is None:
        return {"issue": issue_json(world, issue)}
    return {"number": issue.number, "pull_request": pull_json(world, issue)}


def _edits(change: IssueChange) -> Json:
    """Say what the changed fields held before, as GitHub does for `edited`."""
    before = change.before
    if before is None:
        return {}
    changes: Json = {}
    if before.title != change.issue.title:
        changes["title"] = {"from": before.title}
    if before.body != change.issue.body:
        changes["body"] = {"from": before.body or ""}
    return {"changes": changes}


def _comment_facts(world: World, change: CommentChange) -> Json:
    issue = world.issue(change.comment.repo, change.comment.number)
    facts: Json = {
        "issue": issue_json(world, issue),
        "comment": comment_json(world, change.comment),
    }
    if change.before is not None:
        facts["changes"] = {"body": {"from": change.before.body}}
    return facts
