"""Discussions: people open them, talk in them, label and close them."""

from dataclasses import replace

from tests.fakes.github.acts.threads import next_number
from tests.fakes.github.discussion_state import Discussion, DiscussionComment
from tests.fakes.github.state import World
from tests.fakes.github.webhooks.discussions import (
    tell_discussed,
    tell_discussion,
    tell_labelled,
)


def open_discussion(
    world: World, full_name: str, *, author: str, title: str, body: str
) -> Discussion:
    with world.lock:
        repo, now = world.repo(full_name), world.clock.now()
        discussion = Discussion(
            id=world.next_id(),
            repo=repo.full_name,
            number=next_number(world, repo),
            author=world.user(author).login,
            title=title,
            body=body,
            created_at=now,
            updated_at=now,
        )
        world.discussions[discussion.id] = discussion
        tell_discussion(world, discussion, action="created", actor=author)
        return discussion


def edit_discussion(
    world: World, discussion_id: int, *, actor: str, body: str
) -> Discussion:
    with world.lock:
        old = world.discussions[discussion_id]
        edited = _put(world, replace(old, body=body))
        changes = {"body": {"from": old.body}}
        tell_discussion(world, edited, action="edited", actor=actor, changes=changes)
        return edited


def label_discussion(
    world: World, discussion_id: int, label: str, *, actor: str
) -> Discussion:
    with world.lock:
        old = world.discussions[discussion_id]
        labelled = _put(world, replace(old, labels=(*old.labels, label)))
        tell_labelled(world, labelled, label, actor=actor)
        return labelled


def close_discussion(world: World, discussion_id: int, *, actor: str) -> Discussion:
    with world.lock:
        closed = _put(world, replace(world.discussions[discussion_id], is_open=False))
        tell_discussion(world, closed, action="closed", actor=actor)
        return closed


def discuss(
    world: World,
    discussion_id: int,
    *,
    author: str,
    body: str,
    parent_id: int | None = None,
) -> DiscussionComment:
    """Comment, or answer a comment; answers are one level deep."""
    with world.lock:
        now = world.clock.now()
        comment = DiscussionComment(
            id=world.next_id(),
            discussion_id=discussion_id,
            author=world.user(author).login,
            body=body,
            created_at=now,
            updated_at=now,
            parent_id=parent_id,
        )
        world.discussed[comment.id] = comment
        tell_discussed(world, comment, action="created", actor=author)
        return comment


def edit_discussed(
    world: World, comment_id: int, *, actor: str, body: str
) -> DiscussionComment:
    with world.lock:
        old = world.discussed[comment_id]
        edited = replace(old, body=body, updated_at=world.clock.now())
        world.discussed[comment_id] = edited
        changes = {"body": {"from": old.body}}
        tell_discussed(world, edited, action="edited", actor=actor, changes=changes)
        return edited


def delete_discussed(world: World, comment_id: int, *, actor: str) -> None:
    with world.lock:
        comment = world.discussed.pop(comment_id)
        tell_discussed(world, comment, action="deleted", actor=actor)


def _put(world: World, discussion: Discussion) -> Discussion:
    changed = replace(discussion, updated_at=world.clock.now())
    world.discussions[changed.id] = changed
    return changed
