"""REST: comments on issues and pull requests, and reactions to either."""

from datetime import datetime

from tests.fakes.github.access import READ_ISSUE, WRITE_ISSUE, Need
from tests.fakes.github.acts import threads
from tests.fakes.github.call import Call, Route, paged
from tests.fakes.github.exchange import Answer, RefusedError, not_found
from tests.fakes.github.render.html import rendered
from tests.fakes.github.render.issues import comment_json, reaction_json
from tests.fakes.github.state import Comment, Role, Subject

# People with write access may edit what others wrote.
# https://docs.github.com/communities/moderating-comments-and-conversations/managing-disruptive-comments
EDIT_ANY = Need(("issues",), "write", Role.WRITE)


def list_comments(call: Call) -> Answer:
    issue = call.issue(READ_ISSUE)
    since = call.request.query.get("since")
    after = datetime.fromisoformat(since) if since else None
    comments = [
        comment_json(call.world, comment)
        for comment in call.world.comments_of(issue)
        if after is None or comment.updated_at >= after
    ]
    return paged(call, comments)


def write_comment(call: Call) -> Answer:
    issue = call.issue(WRITE_ISSUE)
    comment = threads.comment(
        call.world,
        issue,
        author=call.actor(),
        body=_text(call),
        app_slug=call.app_slug(),
    )
    shown = comment_json(call.world, comment)
    return Answer(status=201, body=shown, headers={"Location": shown["url"]})


def show_comment(call: Call) -> Answer:
    comment = call.comment(READ_ISSUE)
    return Answer(status=200, body=rendered(call, comment_json(call.world, comment)))


def edit_comment(call: Call) -> Answer:
    comment = threads.edit_comment(
        call.world, _own_or_any(call), actor=call.actor(), body=_text(call)
    )
    return Answer(status=200, body=comment_json(call.world, comment))


def delete_comment(call: Call) -> Answer:
    threads.delete_comment(call.world, _own_or_any(call), actor=call.actor())
    return Answer(status=204)


def list_issue_reactions(call: Call) -> Answer:
    issue = call.issue(READ_ISSUE)
    return _reactions(call, Subject(repo=issue.repo, number=issue.number))


def react_to_issue(call: Call) -> Answer:
    issue = call.issue(WRITE_ISSUE)
    return _react(call, Subject(repo=issue.repo, number=issue.number))


def list_comment_reactions(call: Call) -> Answer:
    return _reactions(call, _subject(call.comment(READ_ISSUE)))


def react_to_comment(call: Call) -> Answer:
    return _react(call, _subject(call.comment(WRITE_ISSUE)))


def delete_reaction(call: Call) -> Answer:
    call.repo(READ_ISSUE)
    reaction = call.world.reactions.get(call.number("reaction_id"))
    if reaction is None:
        raise not_found()
    if reaction.author != call.actor():
        raise RefusedError(403, "You cannot delete the reaction of somebody else")
    del call.world.reactions[reaction.id]
    return Answer(status=204)


def _own_or_any(call: Call) -> Comment:
    comment = call.comment(WRITE_ISSUE)
    return comment if comment.author == call.actor() else call.comment(EDIT_ANY)


def _text(call: Call) -> str:
    body = call.request.json().get("body")
    if not isinstance(body, str):
        raise RefusedError(422, 'Invalid request.\n\n"body" wasn\'t supplied.', [])
    return body


def _subject(comment: Comment) -> Subject:
    return Subject(repo=comment.repo, number=comment.number, comment_id=comment.id)


def _reactions(call: Call, subject: Subject) -> Answer:
    given = call.world.reactions_on(subject)
    return paged(call, [reaction_json(call.world, reaction) for reaction in given])


def _react(call: Call, subject: Subject) -> Answer:
    content = str(call.request.json().get("content", ""))
    reaction, is_new = threads.react(
        call.world, subject, author=call.actor(), content=content
    )
    body = reaction_json(call.world, reaction)
    return Answer(status=201 if is_new else 200, body=body)


ISSUE = "/repos/{owner}/{repo}/issues/{issue_number}"
COMMENT = "/repos/{owner}/{repo}/issues/comments/{comment_id}"
ROUTES = (
    Route("GET", f"{ISSUE}/comments", list_comments),
    Route("POST", f"{ISSUE}/comments", write_comment),
    Route("GET", f"{ISSUE}/reactions", list_issue_reactions),
    Route("POST", f"{ISSUE}/reactions", react_to_issue),
    Route("DELETE", f"{ISSUE}/reactions/{{reaction_id}}", delete_reaction),
    Route("GET", COMMENT, show_comment),
    Route("PATCH", COMMENT, edit_comment),
    Route("DELETE", COMMENT, delete_comment),
    Route("GET", f"{COMMENT}/reactions", list_comment_reactions),
    Route("POST", f"{COMMENT}/reactions", react_to_comment),
    Route("DELETE", f"{COMMENT}/reactions/{{reaction_id}}", delete_reaction),
)
