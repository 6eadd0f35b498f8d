"""What the API and the webhooks show of things."""

from collections.abc import Callable
from datetime import datetime
from typing import Any
from urllib.parse import quote, quote_plus

from tests.fakes.jira.state import (
    Attachment,
    Body,
    Comment,
    History,
    Issue,
    Item,
    Link,
    RemoteLink,
    User,
    Way,
    World,
)

Json = dict[str, Any]
STATUS_IDS = {
    "To Do": "10000",
    "In Progress": "3",
    "In Review": "10001",
    "Done": "10002",
}


def moment(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}+0000"


def rest(world: World, version: str, path: str) -> str:
    return f"{world.base_url}/rest/api/{version}/{path}"


def user(world: World, person: User | str | None, version: str = "2") -> Json | None:
    if person is None:
        return None
    found = person if isinstance(person, User) else world.users[person]
    shown = {"displayName": found.display_name, "active": True, "timeZone": "Etc/UTC"}
    if world.is_cloud:
        kind = "app" if found.is_app else "atlassian"
        link = rest(world, version, f"user?accountId={quote_plus(found.id)}")
        return {"self": link, "accountId": found.id, "accountType": kind, **shown}
    link = rest(world, version, f"user?username={quote_plus(found.id)}")
    key = f"JIRAUSER{found.id}"
    names = {"name": found.id, "key": key, "emailAddress": found.email}
    return {"self": link, **names, **shown}


def body(text: Body | None, version: str) -> Any:
    if text is None:
        return None
    return text.adf if version == "3" else text.wiki


def comment(
    world: World,
    issue: Issue,
    found: Comment,
    version: str = "2",
    *,
    full: bool = False,
) -> Json:
    """Show a comment; its properties only to those who ask for them."""
    shown: Json = {
        "self": rest(world, version, f"issue/{issue.id}/comment/{found.id}"),
        "id": found.id,
        "author": user(world, found.author, version),
        "body": body(found.body, version),
        "updateAuthor": user(world, found.update_author, version),
        "created": moment(found.created),
        "updated": moment(found.updated),
    }
    if world.is_cloud:
        internal = found.properties.get("sd.public.comment", {}).get("internal")
        shown["jsdPublic"] = not internal
    if found.visibility:
        shown["visibility"] = found.visibility
    if full:
        shown["properties"] = [
            {"key": key, "value": value} for key, value in found.properties.items()
        ]
    return shown


def status(world: World, name: str, version: str = "2") -> Json:
    number = STATUS_IDS.get(name, "10099")
    link = rest(world, version, f"status/{number}")
    return {"self": link, "name": name, "id": number, "description": ""}


def project(world: World, key: str, version: str = "2") -> Json:
    found = world.projects[key]
    link = rest(world, version, f"project/{found.id}")
    return {"self": link, "id": found.id, "key": found.key, "name": found.name}


def kind(issue: Issue) -> Json:
    return {"id": "10001", "name": issue.kind, "subtask": issue.kind == "Sub-task"}


def near(world: World, issue: Issue, version: str) -> Json:
    """Show a ticket as others name it."""
    fields = {
        "summary": issue.summary,
        "status": status(world, issue.status, version),
        "issuetype": kind(issue),
    }
    link = rest(world, version, f"issue/{issue.id}")
    return {"id": issue.id, "key": issue.key, "self": link, "fields": fields}


def attachment(world: World, found: Attachment, version: str = "2") -> Json:
    name = quote_plus(found.filename)
    path = f"/secure/attachment/{found.id}/{name}"
    if world.is_cloud:
        path = f"/rest/api/{version}/attachment/content/{found.id}"
    return {
        "self": rest(world, version, f"attachment/{found.id}"),
        "id": found.id,
        "filename": found.filename,
        "author": user(world, found.author, version),
        "created": moment(found.created),
        "size": len(found.data),
        "mimeType": found.mime_type,
        "content": f"{world.base_url}{path}",
    }


def link(world: World, issue: Issue, found: Link, version: str) -> Json:
    """Show a link as it is seen from one of its ends."""
    away = found.target if found.source == issue.key else found.source
    end = "outwardIssue" if found.source == issue.key else "inwardIssue"
    names = {"name": found.name, "inward": found.inward, "outward": found.outward}
    other = near(world, world.issues[away], version)
    return {"id": found.id, "type": {"id": "10000", **names}, end: other}


def _relations(world: World, issue: Issue, version: str) -> Json:
    ends = (issue.key,)
    links = [one for one in world.links if {one.source, one.target} & set(ends)]
    below = [one for one in world.issues.values() if one.parent == issue.key]
    tasks = [one for one in below if one.kind == "Sub-task"]
    shown: Json = {
        "issuelinks": [link(world, issue, one, version) for one in links],
        "subtasks": [near(world, one, version) for one in tasks],
    }
    # A data center names the epic in a field of its own.
    if issue.parent and (world.is_cloud or issue.kind == "Sub-task"):
        shown["parent"] = near(world, world.issues[issue.parent], version)
    return shown


def fields(world: World, issue: Issue, version: str = "2") -> Json:
    def person(found: str | None) -> Json | None:
        return user(world, found, version)

    return {
        "summary": issue.summary,
        "description": body(issue.description, version),
        "issuetype": kind(issue),
        "project": project(world, issue.project, version),
        "status": status(world, issue.status, version),
        "priority": {"id": "3", "name": "Medium"},
        "labels": list(issue.labels),
        "creator": person(issue.creator),
        "reporter": person(issue.reporter),
        "assignee": person(issue.assignee),
        "created": moment(issue.created),
        "updated": moment(issue.updated),
        "attachment": [attachment(world, one, version) for one in issue.attachments],
        **_relations(world, issue, version),
        **{found.id: issue.custom.get(found.id) for found in world.custom_fields},
    }


Show = Callable[[str], bool]


def issue(world: World, found: Issue, version: str, show: Show) -> Json:
    """Show a ticket with those of its fields that were asked for."""
    shown = {k: v for k, v in fields(world, found, version).items() if show(k)}
    link = rest(world, version, f"issue/{found.id}")
    return {"id": found.id, "self": link, "key": found.key, "fields": shown}


def item(world: World, found: Item) -> Json:
    shown: Json = {
        "field": found.field,
        "fieldtype": "custom" if found.custom else "jira",
        "from": found.old,
        "fromString": found.old_words,
        "to": found.new,
        "toString": found.new_words,
    }
    return {**shown, "fieldId": found.field_id} if world.is_cloud else shown


def history(world: World, found: History, version: str) -> Json:
    return {
        "id": found.id,
        "author": user(world, found.author, version),
        "created": moment(found.created),
        "items": [item(world, one) for one in found.items],
    }


def changelog(world: World, found: Issue, version: str) -> Json:
    """Show the changes, the newest first in the cloud, and last elsewhere."""
    shown = [history(world, one, version) for one in found.histories]
    newest = shown[::-1][:100] if world.is_cloud else shown
    return {
        "startAt": 0,
        "maxResults": len(newest),
        "total": len(shown),
        "histories": newest,
    }


def way(world: World, found: Way, version: str, *, full: bool) -> Json:
    shown: Json = {
        "id": found.id,
        "name": found.name,
        "to": status(world, found.target, version),
    }
    if full:
        shown["fields"] = {
            name: {
                "required": True,
                "name": name.capitalize(),
                "key": name,
                "hasDefaultValue": False,
                "schema": {"type": "string"},
                "operations": ["set"],
            }
            for name in found.required
        }
    return shown


def remote_link(world: World, issue: Issue, found: RemoteLink, version: str) -> Json:
    path = f"issue/{quote(issue.key)}/remotelink/{found.id}"
    return {"id": found.id, "self": rest(world, version, path), **found.raw}
