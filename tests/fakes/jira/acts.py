"""What people and programs do in Jira; each is written down and told."""

from collections.abc import Iterable
from typing import Any

from tests.fakes.jira import webhooks
from tests.fakes.jira.state import (
    Attachment,
    Body,
    Comment,
    History,
    Issue,
    Item,
    World,
)


def create(
    world: World,
    project: str,
    author: str,
    summary: str,
    description: Body | None,
    **more: Any,
) -> Issue:
    """Open a ticket; `more` are other fields of `Issue`."""
    home = world.projects[project]
    home.last_number += 1
    now = world.clock.now()
    issue = Issue(
        id=world.new_id(),
        key=f"{project}-{home.last_number}",
        kind=more.pop("kind", "Task"),
        summary=summary,
        description=description,
        creator=author,
        reporter=more.pop("reporter", author),
        created=now,
        updated=now,
        **more,
    )
    world.issues[issue.key] = issue
    webhooks.tell_created(world, issue, _first(world, issue))
    return issue


def _first(world: World, issue: Issue) -> History | None:
    """Return what a webhook tells of a new ticket; its history does not begin so."""
    items = [
        Item(field="summary", field_id="summary", old_words="", new_words=issue.summary)
    ]
    if issue.labels:
        items.append(_labels([], issue.labels))
    if issue.assignee:
        items.append(_assignee(world, None, issue.assignee))
    return _history(world, issue.creator, items)


def change(world: World, issue: Issue, author: str, items: list[Item]) -> None:
    """Write down what was changed already, and tell of it."""
    if not items:
        return
    history = _history(world, author, items)
    issue.histories.append(history)
    issue.updated = history.created
    webhooks.tell_updated(world, issue, history)


def set_labels(world: World, issue: Issue, author: str, labels: Iterable[str]) -> None:
    wanted = sorted(set(labels))
    if wanted == sorted(issue.labels):
        return
    item = _labels(issue.labels, wanted)
    issue.labels = wanted
    change(world, issue, author, [item])


def assign(world: World, issue: Issue, author: str, person: str | None) -> None:
    item = _assignee(world, issue.assignee, person)
    issue.assignee = person
    change(world, issue, author, [item])


def edit(world: World, issue: Issue, author: str, field: str, text: Body | str) -> None:
    """Change the summary or the description."""
    old = issue.summary if field == "summary" else issue.description
    setattr(issue, field, text)
    words = [part.wiki if isinstance(part, Body) else part for part in (old, text)]
    item = Item(field=field, field_id=field, old_words=words[0], new_words=words[1])
    change(world, issue, author, [item])


def set_custom(
    world: World, issue: Issue, author: str, field_id: str, value: Any
) -> None:
    field = next(one for one in world.custom_fields if one.id == field_id)
    issue.custom[field_id] = value
    item = Item(field=field.name, field_id=field_id, custom=True, new_words=str(value))
    change(world, issue, author, [item])


def move(world: World, issue: Issue, author: str, project: str) -> str:
    """Move it to another project, and return its key there; the old one leads on."""
    home = world.projects[project]
    home.last_number += 1
    old, new = issue.key, f"{project}-{home.last_number}"
    items = [
        Item(field="project", old_words=issue.project, new_words=project),
        Item(field="Key", old_words=old, new_words=new),
    ]
    issue.old_keys.append(old)
    issue.key = new
    world.issues[new] = world.issues.pop(old)
    change(world, issue, author, items)
    return new


def transition(world: World, issue: Issue, author: str, status: str) -> None:
    item = Item(
        field="status", field_id="status", old_words=issue.status, new_words=status
    )
    issue.status = status
    change(world, issue, author, [item])


def comment(
    world: World,
    issue: Issue,
    author: str,
    body: Body,
    *,
    properties: dict[str, Any] | None = None,
    visibility: dict[str, str] | None = None,
) -> Comment:
    now = world.clock.now()
    made = Comment(
        id=world.new_id(),
        author=author,
        body=body,
        created=now,
        updated=now,
        update_author=author,
        properties=properties or {},
        visibility=visibility,
    )
    issue.comments.append(made)
    issue.updated = now
    webhooks.tell_comment(world, issue, made, "comment_created")
    return made


def edit_comment(
    world: World,
    comment_id: str,
    author: str,
    body: Body,
    *,
    visibility: dict[str, str] | None = None,
) -> Comment:
    """Change it; who may read it is as it is told now, which may be everybody."""
    issue, found = world.find_comment(comment_id)
    found.visibility = visibility
    found.body, found.update_author = body, author
    found.updated = issue.updated = world.clock.now()
    webhooks.tell_comment(world, issue, found, "comment_updated")
    return found


def delete_comment(world: World, comment_id: str) -> None:
    issue, found = world.find_comment(comment_id)
    issue.comments.remove(found)
    webhooks.tell_comment(world, issue, found, "comment_deleted")


def attach(
    world: World, issue: Issue, author: str, file: tuple[str, str, bytes]
) -> Attachment:
    """Attach a file of a name, a type and bytes."""
    filename, mime_type, data = file
    made = Attachment(
        id=world.new_id(),
        filename=filename,
        author=author,
        created=world.clock.now(),
        mime_type=mime_type,
        data=data,
    )
    issue.attachments.append(made)
    item = Item(
        field="Attachment",
        field_id="attachment",
        new=made.id,
        new_words=filename,
    )
    change(world, issue, author, [item])
    return made


def _history(world: World, author: str, items: list[Item]) -> History:
    return History(
        id=world.new_id(), author=author, created=world.clock.now(), items=items
    )


def _labels(old: Iterable[str], new: Iterable[str]) -> Item:
    return Item(
        field="labels",
        field_id="labels",
        old_words=" ".join(old),
        new_words=" ".join(new),
    )


def _assignee(world: World, old: str | None, new: str | None) -> Item:
    names = [world.users[one].display_name if one else None for one in (old, new)]
    return Item(
        field="assignee",
        field_id="assignee",
        old=old,
        old_words=names[0],
        new=new,
        new_words=names[1],
    )
