"""GraphQL: programs speak in discussions and react there."""

from tests.fakes.github.access import Need, forbidden, may, visible_repo
from tests.fakes.github.acts import discussions
from tests.fakes.github.auth import Caller
from tests.fakes.github.discussion_state import Discussion, DiscussionComment
from tests.fakes.github.exchange import Answer, Json, RefusedError, not_found
from tests.fakes.github.render.discussion_nodes import WRITE
from tests.fakes.github.render.html import html_of
from tests.fakes.github.state import Reaction, Subject, World

CONTENTS = {"EYES": "eyes", "THUMBS_DOWN": "-1"}


def add_comment(world: World, caller: Caller, asked: Json) -> Answer:
    wanted = _input(asked)
    discussion = _find(world, str(wanted.get("discussionId")))
    login = _who(world, caller, discussion, WRITE)
    written = discussions.discuss(
        world, discussion.id, author=login, body=_text(wanted)
    )
    comment = {"id": f"DC_{written.id}"}
    return _done("addDiscussionComment", {"comment": comment})


def update_comment(world: World, caller: Caller, asked: Json) -> Answer:
    wanted = _input(asked)
    comment = _find_comment(world, str(wanted.get("commentId")))
    discussion = world.discussions[comment.discussion_id]
    login = _who(world, caller, discussion, WRITE)
    if login != comment.author:
        raise forbidden(caller)
    discussions.edit_discussed(world, comment.id, actor=login, body=_text(wanted))
    shown = {"id": f"DC_{comment.id}"}
    return _done("updateDiscussionComment", {"comment": shown})


def delete_comment(world: World, caller: Caller, asked: Json) -> Answer:
    comment = _find_comment(world, str(_input(asked).get("id")))
    login = _who(world, caller, world.discussions[comment.discussion_id], WRITE)
    if login != comment.author:
        raise forbidden(caller)
    discussions.delete_discussed(world, comment.id, actor=login)
    shown = {"id": f"DC_{comment.id}"}
    return _done("deleteDiscussionComment", {"comment": shown})


def add_reaction(world: World, caller: Caller, asked: Json) -> Answer:
    wanted = _input(asked)
    subject_id = str(wanted.get("subjectId"))
    comment = _find_comment(world, subject_id) if subject_id[:2] == "DC" else None
    discussion = (
        world.discussions[comment.discussion_id]
        if comment
        else _find(world, subject_id)
    )
    login = _who(world, caller, discussion, WRITE)
    content = CONTENTS[wanted["content"]]
    reaction = Reaction(
        id=world.next_id(),
        subject=Subject(
            repo=discussion.repo,
            number=discussion.number,
            comment_id=comment.id if comment else None,
        ),
        author=login,
        content=content,
        created_at=world.clock.now(),
    )
    world.reactions[reaction.id] = reaction
    return _done("addReaction", {"reaction": {"content": wanted["content"]}})


def show_html(world: World, caller: Caller, asked: Json) -> Answer:
    """Show a post as its readers see it."""
    node_id = str(asked.get("variables", {}).get("id"))
    comment = _find_comment(world, node_id) if node_id[:2] == "DC" else None
    discussion = (
        world.discussions[comment.discussion_id] if comment else _find(world, node_id)
    )
    visible_repo(world, caller, discussion.repo)
    html = html_of(world, (comment or discussion).body)
    return Answer(status=200, body={"data": {"node": {"bodyHTML": html}}})


def _input(asked: Json) -> Json:
    wanted: Json = asked.get("variables", {}).get("input", {})
    return wanted


def _text(wanted: Json) -> str:
    body = str(wanted.get("body", ""))
    if not body.strip():
        raise RefusedError(422, "Body can't be blank")
    return body


def _find(world: World, node_id: str) -> Discussion:
    for one in world.discussions.values():
        if node_id == f"D_{one.id}":
            return one
    raise not_found()


def _find_comment(world: World, node_id: str) -> DiscussionComment:
    for one in world.discussed.values():
        if node_id == f"DC_{one.id}":
            return one
    raise not_found()


def _who(world: World, caller: Caller, discussion: Discussion, need: Need) -> str:
    repo = visible_repo(world, caller, discussion.repo)
    if caller.user is None or not may(caller, repo, need):
        raise forbidden(caller)
    return caller.user.login


def _done(name: str, result: Json) -> Answer:
    return Answer(status=200, body={"data": {name: result}})
