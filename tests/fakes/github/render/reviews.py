"""Review threads as GitHub's GraphQL shows them: the fields that were asked for."""

import re
from dataclasses import replace

from tests.fakes.github.access import READ_PULL, forbidden, may, visible_repo
from tests.fakes.github.auth import Caller
from tests.fakes.github.exchange import Answer, Json, not_found
from tests.fakes.github.render.nodes import last_page, only_asked, times, written
from tests.fakes.github.render.pulls import pull_files
from tests.fakes.github.review_state import ReviewComment, ReviewThread
from tests.fakes.github.state import Issue, World

_MOST = 100
_LAST = re.compile(r"reviewThreads\(last: (\d+)")


def list_reviews(world: World, caller: Caller, asked: Json) -> Answer:
    """Answer the query for one pull request's threads, a page of them at a time."""
    query, given = str(asked["query"]), asked.get("variables", {})
    repo = visible_repo(world, caller, f"{given.get('owner')}/{given.get('name')}")
    if not may(caller, repo, READ_PULL):
        raise forbidden(caller)
    issue = world.find_issue(repo.full_name, int(given.get("number", 0)))
    if issue is None or issue.pull is None:
        raise not_found()
    last = _LAST.search(query)
    size = min(int(last[1]), _MOST) if last else _MOST
    shown = last_page(world.reviews_of(issue), given.get("before"), size)
    shown["nodes"] = [_thread(world, issue, one, query) for one in shown["nodes"]]
    answer = {"repository": {"pullRequest": {"reviewThreads": shown}}}
    return Answer(status=200, body={"data": only_asked(query, answer)})


def _thread(world: World, issue: Issue, thread: ReviewThread, query: str) -> Json:
    is_outdated = _is_outdated(world, issue, thread)
    return {
        "id": f"PRRT_{thread.id}",
        "path": thread.path,
        "line": None if is_outdated else thread.line,
        "startLine": None if is_outdated else thread.start_line,
        "originalLine": thread.line,
        "originalStartLine": thread.start_line,
        "diffSide": thread.side,
        "isResolved": thread.is_resolved,
        "isOutdated": is_outdated,
        "comments": _comments(world, thread, query),
    }


def _comments(world: World, thread: ReviewThread, query: str) -> Json:
    """Show the newest comments, or the oldest where those are asked for."""
    if "comments(last:" in query:
        return comment_page(world, thread)
    oldest = replace(thread, comments=thread.comments[:_MOST])
    return comment_page(world, oldest)


def comment_page(world: World, thread: ReviewThread, before: str | None = None) -> Json:
    """Show the last comments of a thread before a cursor."""
    shown = last_page(thread.comments, before)
    shown["nodes"] = [_comment(world, thread, one) for one in shown["nodes"]]
    return shown


def _comment(world: World, thread: ReviewThread, comment: ReviewComment) -> Json:
    return {
        "databaseId": comment.id,
        "diffHunk": thread.hunk,
        "isMinimized": comment.is_minimized,
        "pullRequestReview": {"databaseId": comment.review_id},
        **written(
            world,
            thread.repo,
            comment.author,
            node_id=f"PRRC_{comment.id}",
            body=comment.body,
        ),
        **times(comment.created_at, comment.updated_at),
    }


def _is_outdated(world: World, issue: Issue, thread: ReviewThread) -> bool:
    """Tell whether the line it was about is not in the diff any more."""
    patches = {file.path: file.patch or "" for file in pull_files(world, issue)}
    last = thread.hunk.split("\n")[-1]
    return last not in patches.get(thread.path, "").split("\n")
