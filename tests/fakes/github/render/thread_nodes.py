"""Issues and pull requests as GraphQL shows them, with what people say in them."""

from tests.fakes.github.access import (
    READ_ISSUE,
    READ_PULL,
    Need,
    forbidden,
    may,
    on_thread,
    visible_repo,
)
from tests.fakes.github.auth import Caller
from tests.fakes.github.exchange import Answer, Json, not_found
from tests.fakes.github.render.nodes import last_page, only_asked, times, written
from tests.fakes.github.render.users import instant
from tests.fakes.github.review_state import Review
from tests.fakes.github.state import Comment, Issue, World


def show_thread(world: World, caller: Caller, asked: Json) -> Answer:
    issue = _find(world, caller, asked, READ_ISSUE)
    given = asked.get("variables", {})
    comments = [_comment(world, one) for one in world.comments_of(issue)]
    shown = {
        "__typename": "Issue" if issue.pull is None else "PullRequest",
        "title": issue.title,
        **written(
            world, issue.repo, issue.author, node_id=f"I_{issue.id}", body=issue.body
        ),
        **times(issue.created_at, issue.edited_at),
        "comments": last_page(comments, given.get("before")),
    }
    answer = {"repository": {"issueOrPullRequest": shown}}
    return Answer(status=200, body={"data": only_asked(asked["query"], answer)})


def list_submitted(world: World, caller: Caller, asked: Json) -> Answer:
    """List the reviews of a pull request, with or without words."""
    issue = _find(world, caller, asked, READ_PULL)
    if issue.pull is None:
        raise not_found()
    before = asked.get("variables", {}).get("before")
    nodes = [
        _review(world, one)
        for one in world.submitted.values()
        if (one.repo, one.number) == (issue.repo, issue.number)
    ]
    answer = {"repository": {"pullRequest": {"reviews": last_page(nodes, before)}}}
    return Answer(status=200, body={"data": only_asked(asked["query"], answer)})


def _find(world: World, caller: Caller, asked: Json, need: Need) -> Issue:
    given = asked.get("variables", {})
    repo = visible_repo(world, caller, f"{given.get('owner')}/{given.get('name')}")
    issue = world.find_issue(repo.full_name, int(given.get("number", 0)))
    if issue is None:
        raise not_found()
    if not may(caller, repo, on_thread(need, issue)):
        raise forbidden(caller)
    return issue


def _comment(world: World, comment: Comment) -> Json:
    return {
        "databaseId": comment.id,
        "isMinimized": comment.is_minimized,
        **written(
            world,
            comment.repo,
            comment.author,
            node_id=f"IC_{comment.id}",
            body=comment.body,
        ),
        **times(comment.created_at, comment.updated_at),
    }


def _review(world: World, review: Review) -> Json:
    return {
        "databaseId": review.id,
        "state": review.state,
        "submittedAt": instant(review.submitted_at),
        "isMinimized": False,
        **written(
            world,
            review.repo,
            review.author,
            node_id=f"PRR_{review.id}",
            body=review.body,
        ),
        **times(review.submitted_at, review.edited_at),
    }
