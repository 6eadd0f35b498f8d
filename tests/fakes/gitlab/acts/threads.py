"""Issues and merge requests: opened, changed, closed."""

import re
from dataclasses import dataclass, field, replace
from typing import Any

from tests.fakes.gitlab.acts.notes import write_system_note
from tests.fakes.gitlab.exchange import invalid
from tests.fakes.gitlab.state import Project, World
from tests.fakes.gitlab.thread_state import (
    Label,
    LabelEvent,
    Milestone,
    Thread,
    ThreadKind,
)
from tests.fakes.gitlab.webhooks.threads import tell_thread

MAX_TITLE = 255
MAX_DESCRIPTION = 1_048_576
GREY = "#6699cc"
_COLOR = re.compile(r"#[0-9a-fA-F]{6}|#[0-9a-fA-F]{3}|[a-z]+")


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A thread that is about to be opened."""

    title: str
    description: str = ""
    labels: tuple[str, ...] = ()
    assignees: tuple[int, ...] = ()
    milestone: int | None = None
    confidential: bool = False
    more: dict[str, Any] = field(default_factory=dict)


def check_texts(title: str, description: str) -> None:
    """Raise a 400 for a title or description that GitLab would not keep."""
    if not title.strip():
        raise invalid(title="can't be blank")
    if len(title) > MAX_TITLE:
        raise invalid(title=f"is too long (maximum is {MAX_TITLE} characters)")
    if len(description) > MAX_DESCRIPTION:
        problem = f"is too long (maximum is {MAX_DESCRIPTION} characters)"
        raise invalid(description=problem)


def next_iid(world: World, project: Project, kind: ThreadKind) -> int:
    taken = (one.iid for one in world.threads_of(project.id, kind))
    return 1 + max(taken, default=0)


def begin(
    world: World, project: Project, kind: ThreadKind, author: int, draft: Draft
) -> Thread:
    """Make the record of a thread, of which nobody is told yet."""
    check_texts(draft.title, draft.description)
    now = world.clock.now()
    return Thread(
        id=world.next_id(),
        project=project.id,
        kind=kind,
        iid=next_iid(world, project, kind),
        author=author,
        title=draft.title,
        description=draft.description,
        created_at=now,
        updated_at=now,
        labels=ensure_labels(world, project, draft.labels),
        assignees=draft.assignees,
        milestone=draft.milestone,
        confidential=draft.confidential,
    )


def open_issue(world: World, project: Project, author: int, draft: Draft) -> Thread:
    issue = world.put_thread(begin(world, project, ThreadKind.ISSUE, author, draft))
    _note_labels(world, replace(issue, labels=()), issue, author)
    tell_thread(world, issue, "open", author)
    return issue


def change(world: World, thread: Thread, actor: int, **changes: Any) -> Thread:
    """Change fields of a thread, and tell of that once; nothing new tells nothing."""
    if "labels" in changes:
        project = world.projects[thread.project]
        changes["labels"] = ensure_labels(world, project, changes["labels"])
    wanted = replace(thread, **changes)
    check_texts(wanted.title, wanted.description)
    if wanted == thread:
        return thread
    now = world.clock.now()
    changed = replace(wanted, updated_at=now, updated_by=actor)
    if changed.description != thread.description:
        changed = replace(changed, edited_at=now, edited_by=actor)
    world.put_thread(changed)
    _note_changes(world, thread, changed, actor)
    _note_labels(world, thread, changed, actor)
    tell_thread(world, changed, "update", actor, before=thread)
    return changed


def _note_labels(world: World, before: Thread, after: Thread, actor: int) -> None:
    """Keep which labels came and went; the notes of a thread do not say it."""
    for label in sorted({*before.labels} ^ {*after.labels}):
        event = LabelEvent(
            id=world.next_id(),
            thread=after.id,
            user=actor,
            label=label,
            is_added=label in after.labels,
            created_at=world.clock.now(),
        )
        world.label_events.append(event)


def close(world: World, thread: Thread, actor: int) -> Thread:
    """Close it, or leave it where it is closed."""
    if not thread.is_open:
        return thread
    now = world.clock.now()
    closed = replace(
        thread, closed_at=now, closed_by=actor, updated_at=now, updated_by=actor
    )
    world.put_thread(closed)
    tell_thread(world, closed, "close", actor, before=thread)
    return closed


def reopen(world: World, thread: Thread, actor: int) -> Thread:
    if thread.closed_at is None:
        return thread
    now = world.clock.now()
    opened = replace(
        thread, closed_at=None, closed_by=None, updated_at=now, updated_by=actor
    )
    world.put_thread(opened)
    tell_thread(world, opened, "reopen", actor, before=thread)
    return opened


def ensure_labels(
    world: World, project: Project, names: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the labels, sorted; one that is not there is made, without a word."""
    for name in names:
        if (project.id, name) not in world.labels:
            add_label(world, project, name)
    return tuple(sorted(set(names), key=str.lower))


def add_label(
    world: World, project: Project, name: str, color: str = GREY, text: str = ""
) -> Label:
    if "," in name or not name.strip():
        raise invalid(title="is invalid")
    if not _COLOR.fullmatch(color):
        raise invalid(color="must be a valid color code")
    label = Label(
        id=world.next_id(),
        project=project.id,
        name=name,
        color=color,
        description=text or None,
        created_at=world.clock.now(),
    )
    world.labels[project.id, name] = label
    return label


def add_milestone(world: World, project: Project, title: str) -> Milestone:
    taken = [one.iid for one in world.milestones.values() if one.project == project.id]
    milestone = Milestone(
        id=world.next_id(),
        iid=1 + max(taken, default=0),
        project=project.id,
        title=title,
        created_at=world.clock.now(),
    )
    world.milestones[milestone.id] = milestone
    return milestone


def _note_changes(world: World, before: Thread, after: Thread, actor: int) -> None:
    """Write what GitLab notes of a change; labels and states stand elsewhere."""
    if before.title != after.title:
        text = f"changed title from **{before.title}** to **{after.title}**"
        write_system_note(world, after, actor, text)
    if before.description != after.description:
        write_system_note(world, after, actor, "changed the description")
    new = [world.users[one] for one in after.assignees if one not in before.assignees]
    gone = [world.users[one] for one in before.assignees if one not in after.assignees]
    for verb, people in (("assigned to", new), ("unassigned", gone)):
        if people:
            names = " and ".join(f"@{one.username}" for one in people)
            write_system_note(world, after, actor, f"{verb} {names}")
    if before.confidential != after.confidential:
        secret = "confidential" if after.confidential else "visible to everyone"
        write_system_note(world, after, actor, f"made the issue {secret}")
