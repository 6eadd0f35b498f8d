"""REST: assignees, milestones and requests for review."""

from tests.fakes.github.access import READ_PULL, TRIAGE_ISSUE, Need
from tests.fakes.github.acts import assignments
from tests.fakes.github.acts.adorning import ask_reviewers, may_be_assigned
from tests.fakes.github.call import Call, Route, paged
from tests.fakes.github.exchange import Answer
from tests.fakes.github.render.issues import issue_json
from tests.fakes.github.render.pulls import pull_summary_json
from tests.fakes.github.render.review_comments import review_json
from tests.fakes.github.state import Role

# https://docs.github.com/en/organizations/managing-user-access-to-your-organizations-repositories/managing-repository-roles/repository-roles-for-an-organization
ASK_REVIEW = Need(("pull_requests",), "write", Role.TRIAGE)


def add_assignees(call: Call) -> Answer:
    issue = call.issue(TRIAGE_ISSUE)
    wanted = call.request.json().get("assignees") or []
    for login in wanted:
        if may_be_assigned(call.world, issue, login):
            issue = assignments.assign(
                call.world, issue.repo, issue.number, login, actor=call.actor()
            )
    return Answer(status=201, body=issue_json(call.world, issue))


def request_reviewers(call: Call) -> Answer:
    issue = call.pull(ASK_REVIEW)
    wanted = call.request.json()
    people = tuple(wanted.get("reviewers") or ())
    ask_reviewers(call.world, issue, people, tuple(wanted.get("team_reviewers") or ()))
    shown = pull_summary_json(call.world, issue)
    labels = [{**label, "description": ""} for label in shown["labels"]]
    return Answer(status=201, body={**shown, "labels": labels})


def list_submitted(call: Call) -> Answer:
    issue = call.pull(READ_PULL)
    found = [
        review_json(call.world, review)
        for review in call.world.submitted.values()
        if (review.repo, review.number) == (issue.repo, issue.number)
    ]
    return paged(call, found)


PULL = "/repos/{owner}/{repo}/pulls/{pull_number}"
ROUTES = (
    Route(
        "POST", "/repos/{owner}/{repo}/issues/{issue_number}/assignees", add_assignees
    ),
    Route("POST", f"{PULL}/requested_reviewers", request_reviewers),
    Route("GET", f"{PULL}/reviews", list_submitted),
)
