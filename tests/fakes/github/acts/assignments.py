"""People are assigned to issues and pull requests."""

from dataclasses import replace

from tests.fakes.github.state import Issue, World
from tests.fakes.github.webhooks.assignments import tell_assignment


def assign(
    world: World, full_name: str, number: int, assignee: str, *, actor: str
) -> Issue:
    with world.lock:
        issue = world.issue(full_name, number)
        if assignee in issue.assignees:
            return issue
        changed = _put(world, issue, (*issue.assignees, assignee))
        tell_assignment(
            world, changed, action="assigned", actor=actor, assignee=assignee
        )
        return changed


def unassign(
    world: World, full_name: str, number: int, assignee: str, *, actor: str
) -> Issue:
    with world.lock:
        issue = world.issue(full_name, number)
        rest = tuple(login for login in issue.assignees if login != assignee)
        changed = _put(world, issue, rest)
        tell_assignment(
            world, changed, action="unassigned", actor=actor, assignee=assignee
        )
        return changed


def _put(world: World, issue: Issue, assignees: tuple[str, ...]) -> Issue:
    now = world.clock.now()
    return world.put_issue(replace(issue, assignees=assignees, updated_at=now))
