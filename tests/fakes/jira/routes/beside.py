"""What is beside a ticket: links to elsewhere, and mail about it."""

from typing import Any

from tests.fakes.github.exchange import Answer
from tests.fakes.jira import render
from tests.fakes.jira.exchange import Call, RefusedError, Route
from tests.fakes.jira.routes.seen import check_may_write, issue_of
from tests.fakes.jira.state import Mail, RemoteLink

_MAX_CHARS = 255


def _list(call: Call) -> Answer:
    issue = issue_of(call)
    shown = [
        render.remote_link(call.world, issue, one, call.version)
        for one in issue.remote_links
    ]
    return Answer(status=200, body=shown)


def _link(call: Call) -> Answer:
    """Make a link, or change the one with the same global id."""
    issue, sent = issue_of(call), call.json()
    check_may_write(call, issue, "link this issue")
    thing = sent.get("object", {})
    for name in ("url", "title"):
        if not thing.get(name):
            raise RefusedError(400, **{name: f"'{name}' is required."})
    if max(len(thing["title"]), len(sent.get("globalId", ""))) > _MAX_CHARS:
        raise RefusedError(400, title="The title is too long.")
    name = sent.get("globalId", "")
    known = next((o for o in issue.remote_links if name and o.global_id == name), None)
    made = RemoteLink(
        id=known.id if known else int(call.world.new_id()),
        global_id=name,
        url=thing["url"],
        title=thing["title"],
        raw=sent,
    )
    others = [one for one in issue.remote_links if one is not known]
    issue.remote_links[:] = [*others, made]
    link = render.remote_link(call.world, issue, made, call.version)["self"]
    status = 200 if known else 201
    return Answer(status=status, body={"id": made.id, "self": link})


def _notify(call: Call) -> Answer:
    issue_of(call)
    if not call.world.sends_mail:
        raise RefusedError(403, "Outgoing emails are disabled for this site.")
    sent = call.json()
    people = sent.get("to", {}).get("users", [])
    if not people:
        raise RefusedError(400, "No recipients were defined for notification.")
    call.world.mails += [_mail(call, sent, person) for person in people]
    return Answer(status=204)


def _mail(call: Call, sent: dict[str, Any], person: dict[str, str]) -> Mail:
    name = person.get("accountId" if call.world.is_cloud else "name", "")
    if name not in call.world.users:
        raise RefusedError(400, users=f"User '{name}' does not exist.")
    return Mail(
        to=name,
        subject=sent["subject"],
        text=sent["textBody"],
        html=sent["htmlBody"],
    )


ROUTES = (
    Route("GET", "issue/{key}/remotelink", _list),
    Route("POST", "issue/{key}/remotelink", _link),
    Route("POST", "issue/{key}/notify", _notify),
)
