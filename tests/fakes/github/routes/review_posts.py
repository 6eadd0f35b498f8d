"""REST: single reviews, their comments, and reactions to those."""

from tests.fakes.github.access import READ_PULL, WRITE_PULL, Need
from tests.fakes.github.acts import threads
from tests.fakes.github.call import Call, Route, paged
from tests.fakes.github.exchange import Answer, not_found
from tests.fakes.github.render.html import rendered
from tests.fakes.github.render.issues import reaction_json
from tests.fakes.github.render.review_comments import review_comment_json, review_json
from tests.fakes.github.review_state import ReviewComment, ReviewThread
from tests.fakes.github.state import Subject


def show_review(call: Call) -> Answer:
    issue = call.pull(READ_PULL)
    review = call.world.submitted.get(call.number("review_id"))
    if review is None or (review.repo, review.number) != (issue.repo, issue.number):
        raise not_found()
    return Answer(status=200, body=rendered(call, review_json(call.world, review)))


def list_comments(call: Call) -> Answer:
    issue, wanted = call.pull(READ_PULL), call.number("review_id")
    shown = [
        rendered(call, review_comment_json(call.world, thread, comment))
        for thread in call.world.reviews.values()
        for comment in thread.comments
        if (thread.repo, thread.number) == (issue.repo, issue.number)
        and comment.review_id == wanted
    ]
    return paged(call, shown)


def show_comment(call: Call) -> Answer:
    thread, comment = _find(call, READ_PULL)
    shown = review_comment_json(call.world, thread, comment)
    return Answer(status=200, body=rendered(call, shown))


def react_to_comment(call: Call) -> Answer:
    thread, comment = _find(call, WRITE_PULL)
    subject = Subject(repo=thread.repo, number=thread.number, comment_id=comment.id)
    content = str(call.request.json().get("content", ""))
    reaction, is_new = threads.react(
        call.world, subject, author=call.actor(), content=content
    )
    body = reaction_json(call.world, reaction)
    return Answer(status=201 if is_new else 200, body=body)


def _find(call: Call, need: Need) -> tuple[ReviewThread, ReviewComment]:
    repo, wanted = call.repo(need), call.number("comment_id")
    for thread in call.world.reviews.values():
        for comment in thread.comments:
            if thread.repo == repo.full_name and comment.id == wanted:
                return thread, comment
    raise not_found()


COMMENT = "/repos/{owner}/{repo}/pulls/comments/{comment_id}"
ROUTES = (
    Route(
        "GET",
        "/repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}",
        show_review,
    ),
    Route(
        "GET",
        "/repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/comments",
        list_comments,
    ),
    Route("GET", COMMENT, show_comment),
    Route("POST", f"{COMMENT}/reactions", react_to_comment),
)
