"""Repositories get another name or another owner; all that is in them goes along."""

from dataclasses import replace
from typing import TypeVar

from tests.fakes.github.acts.accounts import ensure_account
from tests.fakes.github.discussion_state import Discussion
from tests.fakes.github.exchange import Json
from tests.fakes.github.render.repositories import repository_json
from tests.fakes.github.render.users import user_json
from tests.fakes.github.review_state import Review, ReviewThread
from tests.fakes.github.state import AccountKind, Comment, Issue, Repo, World
from tests.fakes.github.webhooks.outbox import tell

Placed = TypeVar("Placed", Comment, ReviewThread, Review, Discussion)


def rename(world: World, full_name: str, name: str, *, actor: str) -> Repo:
    """Give it another name. The old one leads nowhere here, where GitHub redirects."""
    with world.lock:
        old = world.repo(full_name)
        moved = _move(world, old, replace(old, name=name))
        changes = {"repository": {"name": {"from": old.name}}}
        _tell(world, moved, "renamed", changes, actor)
        return moved


def transfer(world: World, full_name: str, owner: str, *, actor: str) -> Repo:
    with world.lock:
        old = world.repo(full_name)
        ensure_account(world, owner, AccountKind.ORGANIZATION)
        giver = world.user(old.owner)
        is_user = giver.kind is AccountKind.USER
        moved = _move(world, old, replace(old, owner=owner))
        kind = "user" if is_user else "organization"
        changes = {"owner": {"from": {kind: _owner(world, old.owner)}}}
        _tell(world, moved, "transferred", changes, actor)
        return moved


def _owner(world: World, login: str) -> Json:
    user = world.user(login)
    shown = user_json(world, user)
    if user.kind is AccountKind.USER:
        return shown
    url = f"{world.api_url}/orgs/{login}"
    return {
        "login": login,
        "id": user.id,
        "node_id": f"O_{user.id}",
        "url": url,
        "repos_url": f"{url}/repos",
        "events_url": f"{url}/events",
        "hooks_url": f"{url}/hooks",
        "issues_url": f"{url}/issues",
        "members_url": f"{url}/members{{/member}}",
        "public_members_url": f"{url}/public_members{{/member}}",
        "avatar_url": shown["avatar_url"],
        "description": None,
    }


def _tell(world: World, repo: Repo, action: str, changes: Json, actor: str) -> None:
    tell(
        world,
        repo.full_name,
        "repository",
        lambda: {
            "action": action,
            "changes": changes,
            "repository": repository_json(world, repo),
            "sender": user_json(world, world.user(actor)),
        },
    )


def _move(world: World, old: Repo, new: Repo) -> Repo:
    before, after = old.full_name, new.full_name
    del world.repos[before.lower()]
    for (repo, number), issue in list(world.issues.items()):
        if repo == before.lower():
            del world.issues[repo, number]
            world.put_issue(_issue_at(issue, before, after))
    _move_posts(world, before, after)
    for installation in list(world.installations.values()):
        names = {_moved(n, before, after) for n in installation.repositories}
        world.installations[installation.id] = replace(
            installation, repositories=frozenset(names)
        )
    for hook in list(world.hooks.values()):
        world.hooks[hook.id] = replace(hook, repo=_moved(hook.repo, before, after))
    return world.put_repo(new)


def _issue_at(issue: Issue, before: str, after: str) -> Issue:
    pull = issue.pull
    if pull is not None and pull.head_repo == before:
        pull = replace(pull, head_repo=after)
    return replace(issue, repo=after, pull=pull)


def _move_posts(world: World, before: str, after: str) -> None:
    _relabel(world.comments, before, after)
    _relabel(world.reviews, before, after)
    _relabel(world.submitted, before, after)
    _relabel(world.discussions, before, after)
    for number, reaction in world.reactions.items():
        if reaction.subject.repo == before:
            subject = replace(reaction.subject, repo=after)
            world.reactions[number] = replace(reaction, subject=subject)


def _relabel(table: dict[int, Placed], before: str, after: str) -> None:
    for number, record in table.items():
        if record.repo == before:
            table[number] = replace(record, repo=after)


def _moved(name: str, before: str, after: str) -> str:
    """Return the name in lower case, as tables of names hold it."""
    return after.lower() if name == before.lower() else name
