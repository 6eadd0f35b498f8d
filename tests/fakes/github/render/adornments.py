"""Milestones and teams as GitHub's JSON shows them."""

import zlib

from tests.fakes.github.exchange import Json
from tests.fakes.github.render.repositories import api_path
from tests.fakes.github.render.users import instant, user_json
from tests.fakes.github.state import Issue, World


def milestone_json(world: World, issue: Issue) -> Json | None:
    if issue.milestone is None:
        return None
    milestone = world.milestones[issue.repo.lower(), issue.milestone]
    url = f"{api_path(world, issue.repo)}/milestones/{milestone.number}"
    page = f"{world.web_url}/{issue.repo}/milestone/{milestone.number}"
    made = instant(milestone.created_at)
    return {
        "url": url,
        "html_url": page,
        "labels_url": f"{url}/labels",
        "id": milestone.id,
        "node_id": f"MI_{milestone.id}",
        "number": milestone.number,
        "title": milestone.title,
        "description": None,
        "creator": user_json(world, world.user(milestone.creator)),
        "open_issues": 0,
        "closed_issues": 0,
        "state": "open",
        "created_at": made,
        "updated_at": made,
        "due_on": None,
        "closed_at": None,
    }


def team_json(world: World, owner: str, slug: str) -> Json:
    number = zlib.crc32(f"{owner}/{slug}".lower().encode())
    url = f"{world.api_url}/organizations/1/team/{number}"
    return {
        "id": number,
        "node_id": f"T_{number}",
        "url": url,
        "html_url": f"{world.web_url}/orgs/{owner}/teams/{slug}",
        "name": slug,
        "slug": slug,
        "description": None,
        "privacy": "closed",
        "notification_setting": "notifications_enabled",
        "permission": "push",
        "members_url": f"{url}/members{{/member}}",
        "repositories_url": f"{url}/repos",
        "type": "organization",
        "organization_id": 1,
        "parent": None,
    }
