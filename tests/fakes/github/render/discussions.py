"""Discussions as webhooks show them; the REST API does not know them."""

from tests.fakes.github.discussion_state import Discussion, DiscussionComment
from tests.fakes.github.exchange import Json
from tests.fakes.github.render.issues import KINDS, association, label_json
from tests.fakes.github.render.repositories import api_path
from tests.fakes.github.render.users import instant, user_json
from tests.fakes.github.state import World


def discussion_json(world: World, discussion: Discussion) -> Json:
    comments = [
        one for one in world.discussed.values() if one.discussion_id == discussion.id
    ]
    return {
        "id": discussion.id,
        "node_id": f"D_{discussion.id}",
        "number": discussion.number,
        "title": discussion.title,
        "body": discussion.body,
        "user": user_json(world, world.user(discussion.author)),
        "author_association": association(world, discussion.repo, discussion.author),
        "state": "open" if discussion.is_open else "closed",
        "state_reason": None if discussion.is_open else "resolved",
        "locked": False,
        "active_lock_reason": None,
        "comments": len(comments),
        "labels": [label_json(world, discussion.repo, n) for n in discussion.labels],
        "created_at": instant(discussion.created_at),
        "updated_at": instant(discussion.updated_at),
        "answer_html_url": None,
        "answer_chosen_at": None,
        "answer_chosen_by": None,
        "html_url": discussion_page(world, discussion),
        "repository_url": api_path(world, discussion.repo),
        "timeline_url": f"{api_path(world, discussion.repo)}"
        f"/discussions/{discussion.number}/timeline",
        "reactions": _no_reactions(world, discussion),
        "category": _category(world, discussion),
    }


def discussion_comment_json(world: World, comment: DiscussionComment) -> Json:
    discussion = world.discussions[comment.discussion_id]
    answers = [one for one in world.discussed.values() if one.parent_id == comment.id]
    page = discussion_page(world, discussion)
    return {
        "id": comment.id,
        "node_id": f"DC_{comment.id}",
        "discussion_id": comment.discussion_id,
        "parent_id": comment.parent_id,
        "child_comment_count": len(answers),
        "user": user_json(world, world.user(comment.author)),
        "author_association": association(world, discussion.repo, comment.author),
        "body": comment.body,
        "created_at": instant(comment.created_at),
        "updated_at": instant(comment.updated_at),
        "html_url": f"{page}#discussioncomment-{comment.id}",
        "repository_url": api_path(world, discussion.repo),
        "reactions": _no_reactions(world, discussion),
    }


def discussion_page(world: World, discussion: Discussion) -> str:
    return f"{world.web_url}/{discussion.repo}/discussions/{discussion.number}"


def _category(world: World, discussion: Discussion) -> Json:
    repo = world.repo(discussion.repo)
    made = instant(repo.created_at)
    return {
        "id": 1,
        "node_id": f"DIC_{repo.id}",
        "repository_id": repo.id,
        "emoji": ":speech_balloon:",
        "name": "General",
        "description": "",
        "created_at": made,
        "updated_at": made,
        "slug": "general",
        "is_answerable": False,
    }


def _no_reactions(world: World, discussion: Discussion) -> Json:
    url = f"{api_path(world, discussion.repo)}/discussions/{discussion.number}"
    return {
        "url": f"{url}/reactions",
        "total_count": 0,
        **dict.fromkeys(KINDS, 0),
    }
