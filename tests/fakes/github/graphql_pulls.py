"""GraphQL around pull requests: answers to reviews, opinions, what closes issues."""

import re

from tests.fakes.github.access import (
    READ_ISSUE,
    READ_PULL,
    WRITE_PULL,
    Need,
    forbidden,
    may,
    visible_repo,
)
from tests.fakes.github.acts import reviews
from tests.fakes.github.auth import Caller
from tests.fakes.github.exchange import Answer, Json, not_found
from tests.fakes.github.render.nodes import only_asked
from tests.fakes.github.render.reviews import comment_page
from tests.fakes.github.review_state import Review, ReviewThread
from tests.fakes.github.state import AccountKind, Issue, Role, World

PAGE = 100
SETTLE = Need(("pull_requests",), "write", Role.WRITE)
# https://docs.github.com/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue
CLOSES = r"(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+#{number}\b"
OPINIONS = {"APPROVED", "CHANGES_REQUESTED", "DISMISSED"}


def _reply(world: World, caller: Caller, asked: Json) -> Answer:
    wanted = _input(asked)
    thread = _thread(world, caller, str(wanted["pullRequestReviewThreadId"]))
    actor = _require(world, caller, thread.repo, WRITE_PULL)
    number = reviews.answer(world, thread.id, author=actor, body=str(wanted["body"]))
    comment = {"id": f"PRRC_{number}"}
    return _data({"addPullRequestReviewThreadReply": {"comment": comment}})


def _delete_reply(world: World, caller: Caller, asked: Json) -> Answer:
    wanted = str(_input(asked)["id"])
    for thread in world.reviews.values():
        found = [one for one in thread.comments if f"PRRC_{one.id}" == wanted]
        if not found:
            continue
        actor = _require(world, caller, thread.repo, WRITE_PULL)
        if found[0].author != actor:
            raise forbidden(caller)
        reviews.take_back(world, thread.id, found[0].id)
        deleted = {"pullRequestReview": {"id": f"PRR_{thread.id}"}}
        return _data({"deletePullRequestReviewComment": deleted})
    raise not_found()


def _settle(world: World, caller: Caller, asked: Json) -> Answer:
    thread = _thread(world, caller, str(_input(asked)["threadId"]))
    _require(world, caller, thread.repo, SETTLE)
    reviews.resolve(world, thread.id)
    return _data({"resolveReviewThread": {"thread": {"isResolved": True}}})


def _show_thread(world: World, caller: Caller, asked: Json) -> Answer:
    given = asked.get("variables", {})
    thread = _thread(world, caller, str(given.get("id", "")))
    _require(world, caller, thread.repo, READ_PULL)
    query = str(asked["query"])
    if "$before" in query:
        page = comment_page(world, thread, given.get("before"))
        shown_page = only_asked(query, {"node": {"comments": page}})
        return Answer(status=200, body={"data": shown_page})
    begin = int(given.get("after") or 0)
    shown = [
        {"id": f"PRRC_{one.id}", "body": one.body, "author": _actor(world, one.author)}
        for one in thread.comments[begin : begin + PAGE]
    ]
    more = begin + PAGE < len(thread.comments)
    page = {"hasNextPage": more, "endCursor": str(begin + PAGE)}
    return _data({"node": {"comments": {"pageInfo": page, "nodes": shown}}})


def _show_opinions(world: World, caller: Caller, asked: Json) -> Answer:
    issue = _issue(world, caller, asked, READ_PULL)
    latest: dict[str | None, Review] = {
        review.author: review
        for review in world.submitted.values()
        if (review.repo, review.number) == (issue.repo, issue.number)
        and review.state in OPINIONS
    }
    shown = [
        {"state": review.state, "author": _actor(world, login)}
        for login, review in latest.items()
    ]
    reviewed = {"latestOpinionatedReviews": {"nodes": shown}}
    return _data({"repository": {"pullRequest": reviewed}})


def _show_closing(world: World, caller: Caller, asked: Json) -> Answer:
    """Show what closes an issue; pull requests into other branches close nothing."""
    issue = _issue(world, caller, asked, READ_ISSUE)
    repo = world.repo(issue.repo)
    said = re.compile(CLOSES.replace("{number}", str(issue.number)))
    shown = [
        {
            "number": one.number,
            "url": f"{world.web_url}/{one.repo}/pull/{one.number}",
            "state": "OPEN",
            "author": _actor(world, one.author),
        }
        for one in world.issues_of(issue.repo)
        if one.pull is not None
        and one.is_open
        and one.pull.base_branch == repo.default_branch
        and said.search(one.body or "")
    ]
    closing = {"closedByPullRequestsReferences": {"nodes": shown}}
    return _data({"repository": {"issue": closing}})


FIELDS = {
    "addPullRequestReviewThreadReply": _reply,
    "deletePullRequestReviewComment": _delete_reply,
    "resolveReviewThread": _settle,
    "node": _show_thread,
    "latestOpinionatedReviews": _show_opinions,
    "closedByPullRequestsReferences": _show_closing,
}


def _data(data: Json) -> Answer:
    return Answer(status=200, body={"data": data})


def _input(asked: Json) -> Json:
    found: Json = asked.get("variables", {}).get("input", {})
    return found


def _thread(world: World, caller: Caller, node_id: str) -> ReviewThread:
    for thread in world.reviews.values():
        if f"PRRT_{thread.id}" == node_id:
            visible_repo(world, caller, thread.repo)
            return thread
    raise not_found()


def _issue(world: World, caller: Caller, asked: Json, need: Need) -> Issue:
    given = asked.get("variables", {})
    name = f"{given.get('owner')}/{given.get('name')}"
    repo = visible_repo(world, caller, name)
    _require(world, caller, repo.full_name, need)
    issue = world.find_issue(repo.full_name, int(given.get("number", 0)))
    if issue is None or (need is READ_PULL and issue.pull is None):
        raise not_found()
    return issue


def _require(world: World, caller: Caller, full_name: str, need: Need) -> str:
    """Return who acts, if they may."""
    if not may(caller, world.repo(full_name), need):
        raise forbidden(caller)
    return caller.user.login if caller.user else ""


def _actor(world: World, login: str | None) -> Json | None:
    """Show an account; GraphQL leaves out the end of a bot's name."""
    if login is None:
        return None
    user = world.user(login)
    is_bot = user.kind is AccountKind.BOT
    name = user.login.removesuffix("[bot]") if is_bot else user.login
    return {"__typename": user.kind.value, "login": name}
