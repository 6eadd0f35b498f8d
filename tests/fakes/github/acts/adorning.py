"""Milestones and requests for review."""

from dataclasses import replace

from tests.fakes.github.access import grant_of
from tests.fakes.github.exchange import RefusedError, invalid
from tests.fakes.github.rule_state import NOBODY_AWAITED, Awaited, Milestone
from tests.fakes.github.state import Issue, Role, World


def add_team(world: World, full_name: str, slug: str) -> None:
    """Give a team of the owner access to a repository."""
    with world.lock:
        world.teams.add((full_name.lower(), slug))


def add_milestone(world: World, full_name: str, title: str) -> int:
    with world.lock:
        repo = world.repo(full_name)
        here = [m for m in world.milestones.values() if m.repo == repo.full_name]
        made = Milestone(
            id=world.next_id(),
            repo=repo.full_name,
            number=len(here) + 1,
            title=title,
            creator=repo.owner,
            created_at=world.clock.now(),
        )
        world.milestones[repo.full_name.lower(), made.number] = made
        return made.number


def set_milestone(
    world: World, full_name: str, number: int, milestone: int | None
) -> None:
    with world.lock:
        issue = world.issue(full_name, number)
        key = (issue.repo.lower(), milestone or 0)
        if milestone is not None and key not in world.milestones:
            raise invalid("Issue", "invalid", field="milestone")
        world.put_issue(replace(issue, milestone=milestone))


def awaited(world: World, issue: Issue) -> Awaited:
    return world.awaited.get((issue.repo.lower(), issue.number), NOBODY_AWAITED)


def ask_reviewers(
    world: World, issue: Issue, people: tuple[str, ...], teams: tuple[str, ...]
) -> None:
    """Ask all of them, or nobody where one of them may not review."""
    if issue.author.lower() in {login.lower() for login in people}:
        raise RefusedError(422, "Review cannot be requested from pull request author.")
    strangers = [login for login in people if not _may_review(world, issue, login)]
    unknown = [t for t in teams if (issue.repo.lower(), t) not in world.teams]
    if strangers or unknown:
        raise RefusedError(
            422,
            "Reviews may only be requested from collaborators. One or more of the "
            "users or teams you specified is not a collaborator of the "
            f"{issue.repo} repository.",
        )
    now = awaited(world, issue)
    world.awaited[issue.repo.lower(), issue.number] = Awaited(
        people=tuple(dict.fromkeys((*now.people, *people))),
        teams=tuple(dict.fromkeys((*now.teams, *teams))),
    )


def may_be_assigned(world: World, issue: Issue, login: str) -> bool:
    """Tell whether somebody works here; others are left out without a word."""
    repo = world.repo(issue.repo)
    return login.lower() in repo.grants or login.lower() == repo.owner.lower()


def _may_review(world: World, issue: Issue, login: str) -> bool:
    known = login.lower() in world.users
    repo = world.repo(issue.repo)
    is_collaborator = may_be_assigned(world, issue, login)
    return known and is_collaborator and grant_of(repo, login).role >= Role.READ
