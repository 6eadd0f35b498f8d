"""Find what a call is about, among what its caller may see."""

from tests.fakes.jira.exchange import Call, RefusedError, not_found
from tests.fakes.jira.state import Comment, Issue


def issue_of(call: Call) -> Issue:
    """Return the ticket; one that may not be seen is not there."""
    wanted = call.args["key"]
    found = next(
        (
            one
            for one in call.world.issues.values()
            if wanted in (one.key, one.id, *one.old_keys)
        ),
        None,
    )
    if found is None or not call.world.may_see(call.caller, found):
        raise not_found()
    return found


def comment_of(call: Call, issue: Issue) -> Comment:
    for comment in issue.comments:
        if comment.id == call.args["id"]:
            return comment
    raise RefusedError(404, f"Can not find a comment for the id: {call.args['id']}.")


def check_may_write(call: Call, issue: Issue, what: str) -> None:
    if not call.world.may_write(call.caller, issue):
        words = f"{call.caller.display_name}, you do not have the permission to {what}."
        raise RefusedError(400, comment=words)
