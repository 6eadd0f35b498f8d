"""Tell that somebody was assigned to an issue or pull request, or is no more."""

from tests.fakes.github.exchange import Json
from tests.fakes.github.render.issues import issue_json
from tests.fakes.github.render.pulls import pull_json
from tests.fakes.github.render.repositories import repository_json
from tests.fakes.github.render.users import user_json
from tests.fakes.github.state import Issue, World
from tests.fakes.github.webhooks.outbox import tell


def tell_assignment(
    world: World, issue: Issue, *, action: str, actor: str, assignee: str
) -> None:
    tell(
        world,
        issue.repo,
        "issues" if issue.pull is None else "pull_request",
        lambda: {
            "action": action,
            **_thread(world, issue),
            "assignee": user_json(world, world.user(assignee)),
            "repository": repository_json(world, world.repo(issue.repo)),
            "sender": user_json(world, world.user(actor)),
        },
    )


def _thread(world: World, issue: Issue) -> Json:
    if issue.pull is None:
        return {"issue": issue_json(world, issue)}
    return {"number": issue.number, "pull_request": pull_json(world, issue)}
