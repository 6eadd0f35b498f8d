"""Issues, comments, labels and reactions as GitHub's JSON shows them."""

import zlib
from urllib.parse import quote

from tests.fakes.github.exchange import Json
from tests.fakes.github.render.adornments import milestone_json
from tests.fakes.github.render.apps import maker_json
from tests.fakes.github.render.repositories import api_path
from tests.fakes.github.render.users import instant, user_json
from tests.fakes.github.state import Comment, Issue, Reaction, Role, Subject, World

KINDS = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")


def issue_json(world: World, issue: Issue) -> Json:
    url = f"{api_path(world, issue.repo)}/issues/{issue.number}"
    subject = Subject(repo=issue.repo, number=issue.number)
    shown = {
        "url": url,
        "repository_url": api_path(world, issue.repo),
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "timeline_url": f"{url}/timeline",
        "html_url": thread_page(world, issue),
        "node_id": f"I_{issue.id}",
        "comments": len(world.comments_of(issue)),
        "reactions": reactions_json(world, subject, url),
        "performed_via_github_app": maker_json(world, issue.app_slug),
        "state_reason": None if issue.is_open else "completed",
        **shared_json(world, issue),
    }
    if issue.pull is not None:
        shown["draft"] = issue.pull.draft
        shown["pull_request"] = _pull_links(world, issue)
    return shown


def shared_json(world: World, issue: Issue) -> Json:
    """Return what an issue and a pull request say alike."""
    assignees = [user_json(world, world.user(login)) for login in issue.assignees]
    return {
        "id": issue.id,
        "number": issue.number,
        "title": issue.title,
        "body": issue.body,
        "user": user_json(world, world.user(issue.author)),
        "labels": [label_json(world, issue.repo, name) for name in issue.labels],
        "state": "open" if issue.is_open else "closed",
        "locked": False,
        "active_lock_reason": None,
        "assignee": assignees[0] if assignees else None,
        "assignees": assignees,
        "milestone": milestone_json(world, issue),
        "created_at": instant(issue.created_at),
        "updated_at": instant(issue.updated_at),
        "closed_at": None if issue.closed_at is None else instant(issue.closed_at),
        "author_association": association(world, issue.repo, issue.author),
    }


def comment_json(world: World, comment: Comment) -> Json:
    url = f"{api_path(world, comment.repo)}/issues/comments/{comment.id}"
    issue = world.issue(comment.repo, comment.number)
    subject = Subject(repo=issue.repo, number=issue.number, comment_id=comment.id)
    return {
        "url": url,
        "html_url": f"{thread_page(world, issue)}#issuecomment-{comment.id}",
        "issue_url": f"{api_path(world, comment.repo)}/issues/{comment.number}",
        "id": comment.id,
        "node_id": f"IC_{comment.id}",
        "user": user_json(world, world.user(comment.author)),
        "created_at": instant(comment.created_at),
        "updated_at": instant(comment.updated_at),
        "author_association": association(world, comment.repo, comment.author),
        "body": comment.body,
        "reactions": reactions_json(world, subject, url),
        "performed_via_github_app": maker_json(world, comment.app_slug),
    }


def label_json(world: World, full_name: str, name: str) -> Json:
    """Return a label; its number follows from its name."""
    number = zlib.crc32(f"{full_name}/{name}".lower().encode())
    colour = world.labels.get((full_name.lower(), name.lower()), "ededed")
    return {
        "id": number,
        "node_id": f"LA_{number}",
        "url": f"{api_path(world, full_name)}/labels/{quote(name, safe='')}",
        "name": name,
        # In a list of pull requests it is never null.
        "description": "",
        "color": colour,
        "default": False,
    }


def reaction_json(world: World, reaction: Reaction) -> Json:
    return {
        "id": reaction.id,
        "node_id": f"REA_{reaction.id}",
        "user": user_json(world, world.user(reaction.author)),
        "content": reaction.content,
        "created_at": instant(reaction.created_at),
    }


def reactions_json(world: World, subject: Subject, url: str) -> Json:
    given = [reaction.content for reaction in world.reactions_on(subject)]
    counts = {kind: given.count(kind) for kind in KINDS}
    return {"url": f"{url}/reactions", "total_count": len(given), **counts}


def association(world: World, full_name: str, login: str) -> str:
    """Say how close an author is to the repository, as GitHub does beside a text."""
    repo = world.repo(full_name)
    if login.lower() == repo.owner.lower():
        return "OWNER"
    granted = repo.grants.get(login.lower())
    return "COLLABORATOR" if granted and granted.role > Role.NONE else "NONE"


def thread_page(world: World, issue: Issue) -> str:
    kind = "issues" if issue.pull is None else "pull"
    return f"{world.web_url}/{issue.repo}/{kind}/{issue.number}"


def _pull_links(world: World, issue: Issue) -> Json:
    page = thread_page(world, issue)
    return {
        "url": f"{api_path(world, issue.repo)}/pulls/{issue.number}",
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "merged_at": None,
    }
