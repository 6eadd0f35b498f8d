"""Tell of discussions and what is said in them."""

from tests.fakes.github.discussion_state import Discussion, DiscussionComment
from tests.fakes.github.exchange import Json
from tests.fakes.github.render.discussions import (
    discussion_comment_json,
    discussion_json,
)
from tests.fakes.github.render.issues import label_json
from tests.fakes.github.render.repositories import repository_json
from tests.fakes.github.render.users import user_json
from tests.fakes.github.state import World
from tests.fakes.github.webhooks.outbox import tell


def tell_discussion(
    world: World, discussion: Discussion, *, action: str, actor: str, **facts: Json
) -> None:
    tell(
        world,
        discussion.repo,
        "discussion",
        lambda: {
            "action": action,
            "discussion": discussion_json(world, discussion),
            **_around(world, discussion, actor),
            **facts,
        },
    )


def tell_labelled(
    world: World, discussion: Discussion, label: str, *, actor: str
) -> None:
    shown = label_json(world, discussion.repo, label)
    tell_discussion(world, discussion, action="labeled", actor=actor, label=shown)


def tell_discussed(
    world: World,
    comment: DiscussionComment,
    *,
    action: str,
    actor: str,
    **facts: Json,
) -> None:
    discussion = world.discussions[comment.discussion_id]
    tell(
        world,
        discussion.repo,
        "discussion_comment",
        lambda: {
            "action": action,
            "comment": discussion_comment_json(world, comment),
            "discussion": discussion_json(world, discussion),
            **_around(world, discussion, actor),
            **facts,
        },
    )


def _around(world: World, discussion: Discussion, actor: str) -> Json:
    return {
        "repository": repository_json(world, world.repo(discussion.repo)),
        "sender": user_json(world, world.user(actor)),
    }
