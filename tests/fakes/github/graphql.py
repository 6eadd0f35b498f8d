"""What has no twin in REST: to draft and back to ready, and the threads of reviews."""

from tests.fakes.github import committing, discussing, graphql_pulls
from tests.fakes.github.access import WRITE_PULL, Need, forbidden, may, visible_repo
from tests.fakes.github.acts.pulls import set_draft
from tests.fakes.github.auth import Caller, CallerKind, identify
from tests.fakes.github.exchange import Answer, Json, RefusedError, Request, not_found
from tests.fakes.github.render.discussion_nodes import show_discussion
from tests.fakes.github.render.reviews import list_reviews
from tests.fakes.github.render.thread_nodes import list_submitted, show_thread
from tests.fakes.github.routing import Handled
from tests.fakes.github.state import Issue, Role, World

MUTATIONS = {
    "convertPullRequestToDraft": True,
    "markPullRequestReadyForReview": False,
}
# The fields that are answered by themselves; a query has one of them.
FIELDS = {
    "reviewThreads": list_reviews,
    "issueOrPullRequest": show_thread,
    "reviews": list_submitted,
    "discussion": show_discussion,
    "postHtml": discussing.show_html,
    "addDiscussionComment": discussing.add_comment,
    "updateDiscussionComment": discussing.update_comment,
    "deleteDiscussionComment": discussing.delete_comment,
    "addReaction": discussing.add_reaction,
    **graphql_pulls.FIELDS,
    **committing.FIELDS,
}
EDIT_ANY = Need(("pull_requests",), "write", Role.WRITE)


def is_graphql(world: World, request: Request) -> bool:
    """Tell the address: on an own server it lies beside the REST API, not below.

    https://docs.github.com/enterprise-server/graphql/guides/forming-calls-with-graphql
    """
    address = "/api/graphql" if world.enterprise else "/graphql"
    return request.method == "POST" and request.path == address


def respond(world: World, request: Request) -> Handled:
    with world.lock:
        try:
            caller = identify(world, request.headers.get("authorization"))
        except RefusedError as refusal:
            answer = refusal.answer()
            return Handled(answer=answer, caller=CallerKind.REFUSED, route=None)
        try:
            answer = _respond(world, caller, request.json())
        except RefusedError as refusal:
            answer = _graphql_error(refusal)
    return Handled(answer=answer, caller=caller.kind, route=None)


def _respond(world: World, caller: Caller, asked: Json) -> Answer:
    query = str(asked.get("query", ""))
    if "viewer {" in query:
        return _show_viewer(caller)
    for named, answer in FIELDS.items():
        if f"{named}(" in query:
            return answer(world, caller, asked)
    return _mutate(world, caller, asked)


def _show_viewer(caller: Caller) -> Answer:
    """Say whose the token is, which REST does not say of an installation's.

    https://docs.github.com/en/graphql/reference/queries#viewer
    """
    if caller.user is None:
        raise RefusedError(401, "This endpoint requires you to be authenticated.")
    return Answer(status=200, body={"data": {"viewer": {"login": caller.user.login}}})


def _mutate(world: World, caller: Caller, asked: Json) -> Answer:
    query = str(asked.get("query", ""))
    name = next((name for name in MUTATIONS if f"{name}(" in query), None)
    if name is None:
        raise RefusedError(422, "This server knows no such query")
    wanted = asked.get("variables", {}).get("input", {})
    issue = _find(world, caller, str(wanted.get("pullRequestId", "")))
    actor = caller.user.login if caller.user else ""
    if not may(caller, world.repo(issue.repo), _need(issue, actor)):
        raise forbidden(caller)
    set_draft(world, issue, actor=actor, draft=MUTATIONS[name])
    result = {
        "clientMutationId": wanted.get("clientMutationId"),
        "pullRequest": {"isDraft": MUTATIONS[name]},
    }
    return Answer(status=200, body={"data": {name: result}})


def _find(world: World, caller: Caller, node_id: str) -> Issue:
    for issue in world.issues.values():
        if issue.pull is not None and f"PR_{issue.pull.id}" == node_id:
            visible_repo(world, caller, issue.repo)
            return issue
    raise not_found()


def _need(issue: Issue, actor: str) -> Need:
    return WRITE_PULL if issue.author == actor else EDIT_ANY


def _graphql_error(refusal: RefusedError) -> Answer:
    kind = "NOT_FOUND" if refusal.status == 404 else "FORBIDDEN"
    error = {"type": kind, "message": refusal.message}
    return Answer(status=200, body={"data": None, "errors": [error]})
