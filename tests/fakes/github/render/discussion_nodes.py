"""Discussions as GraphQL shows them."""

from tests.fakes.github.access import Need, forbidden, may, visible_repo
from tests.fakes.github.auth import Caller
from tests.fakes.github.discussion_state import Discussion, DiscussionComment
from tests.fakes.github.exchange import Answer, Json, not_found
from tests.fakes.github.render.nodes import last_page, only_asked, times, written
from tests.fakes.github.state import Role, World

READ = Need(("discussions",), "read", Role.READ)
WRITE = Need(("discussions",), "write", Role.READ)


def show_discussion(world: World, caller: Caller, asked: Json) -> Answer:
    given = asked.get("variables", {})
    full_name = f"{given.get('owner')}/{given.get('name')}"
    repo = visible_repo(world, caller, full_name)
    found = [
        one
        for one in world.discussions.values()
        if (one.repo, one.number) == (repo.full_name, given.get("number"))
    ]
    if not found:
        raise not_found()
    if not may(caller, repo, READ):
        raise forbidden(caller)
    shown = _discussion(world, caller, found[0], given.get("before"))
    answer = {"repository": {"discussion": shown}}
    return Answer(status=200, body={"data": only_asked(asked["query"], answer)})


def _discussion(
    world: World, caller: Caller, discussion: Discussion, before: str | None
) -> Json:
    said = [
        one for one in world.discussed.values() if one.discussion_id == discussion.id
    ]
    nodes = [
        {
            **_comment(world, caller, discussion, one),
            "replies": {
                "nodes": [
                    _comment(world, caller, discussion, reply)
                    for reply in said
                    if reply.parent_id == one.id
                ]
            },
        }
        for one in said
        if one.parent_id is None
    ]
    return {
        "title": discussion.title,
        **written(
            world,
            discussion.repo,
            discussion.author,
            node_id=f"D_{discussion.id}",
            body=discussion.body,
        ),
        **times(discussion.created_at, discussion.updated_at),
        "comments": last_page(nodes, before),
    }


def _comment(
    world: World, caller: Caller, discussion: Discussion, comment: DiscussionComment
) -> Json:
    own = caller.user is not None and caller.user.login == comment.author
    return {
        "isMinimized": False,
        "deletedAt": None,
        "viewerDidAuthor": own,
        **written(
            world,
            discussion.repo,
            comment.author,
            node_id=f"DC_{comment.id}",
            body=comment.body,
        ),
        **times(comment.created_at, comment.updated_at),
    }
