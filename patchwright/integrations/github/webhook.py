"""Read a delivery of GitHub: somebody asks for something, or nobody does."""

import hashlib
from collections.abc import Callable, Mapping

from pydantic import TypeAdapter, ValidationError

from patchwright.core.errors import PayloadError
from patchwright.core.text.mentions import find_request
from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import RepoRef, ThreadKind, ThreadRef
from patchwright.core.types.triggers import Ignored, Reading, Trigger, TriggerKind
from patchwright.integrations.github.payloads import (
    Comment,
    CommentDelivery,
    Delivery,
    IssueDelivery,
    PullRequestDelivery,
    Thread,
    User,
)

SERVICE = "github"


class Listening(Value):
    """What counts as asking. `mention` is written with its @.

    `own_login` is ours, such as `patchwright[bot]`; `allow_bots` names the bots that
    may ask, with or without their `[bot]`.
    """

    mention: str
    label: str = ""
    own_login: str = ""
    allow_bots: frozenset[str] = frozenset()


def read(event: str, body: bytes, listening: Listening) -> Reading:
    """Read a verified delivery; raises PayloadError if it is not what `event` is."""
    reader = _READERS.get(event)
    if reader is None:
        return Ignored(reason="event-not-read")
    try:
        return reader(body, listening)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise PayloadError(f"the {event} delivery is malformed at {where!r}") from None


def _read_issue(body: bytes, listening: Listening) -> Reading:
    delivery = _ISSUE.validate_json(body)
    return _read_thread(delivery, delivery.issue, _kind_of(delivery.issue), listening)


def _read_pull_request(body: bytes, listening: Listening) -> Reading:
    delivery = _PULL_REQUEST.validate_json(body)
    thread = delivery.pull_request
    return _read_thread(delivery, thread, ThreadKind.PULL_REQUEST, listening)


def _read_thread(
    delivery: Delivery, thread: Thread, kind: ThreadKind, listening: Listening
) -> Reading:
    ref = _ref(delivery, thread, kind)
    match delivery.action:
        case "labeled":
            return _read_label(delivery, thread, ref, listening)
        case "opened" | "edited":
            return _read_body(delivery, thread, ref, listening)
        case _:
            return Ignored(reason="action-not-read")


def _read_label(
    delivery: Delivery, thread: Thread, ref: ThreadRef, listening: Listening
) -> Reading:
    if not listening.label or delivery.label.name != listening.label:
        return Ignored(reason="other-label")
    unwanted = _find_unwanted((delivery.sender,), "", listening)
    if unwanted is not None:
        return unwanted
    # A label that is taken off and set again asks again; its time tells them apart.
    return _trigger(
        delivery,
        thread,
        ref,
        key=f"{ref}:label:{thread.updated_at}",
        kind=TriggerKind.LABEL,
        user=delivery.sender,
        request="",
    )


def _read_body(
    delivery: Delivery, thread: Thread, ref: ThreadRef, listening: Listening
) -> Reading:
    request = _find_new_request(delivery, thread.body, listening)
    if isinstance(request, Ignored):
        return request
    users = (delivery.sender, _writer(delivery, thread.user))
    unwanted = _find_unwanted(users, _app_of(thread), listening)
    if unwanted is not None:
        return unwanted
    return _trigger(
        delivery,
        thread,
        ref,
        key=f"{ref}:body{_edition(delivery, thread.body)}",
        kind=TriggerKind.BODY_MENTION,
        user=_writer(delivery, thread.user),
        request=request,
    )


def _read_comment(body: bytes, listening: Listening) -> Reading:
    delivery = _COMMENT.validate_json(body)
    if delivery.action not in ("created", "edited"):
        return Ignored(reason="action-not-read")
    comment = delivery.comment
    request = _find_new_request(delivery, comment.body, listening)
    if isinstance(request, Ignored):
        return request
    users = (delivery.sender, _writer(delivery, comment.user))
    unwanted = _find_unwanted(users, _app_of(comment), listening)
    if unwanted is not None:
        return unwanted
    ref = _ref(delivery, delivery.issue, _kind_of(delivery.issue))
    return _trigger(
        delivery,
        delivery.issue,
        ref,
        key=f"{ref}:comment:{comment.id}{_edition(delivery, comment.body)}",
        kind=TriggerKind.COMMENT_MENTION,
        user=_writer(delivery, comment.user),
        request=request,
        text=comment.body,
        post_id=str(comment.id),
    )


def _find_new_request(
    delivery: Delivery, text: str, listening: Listening
) -> str | Ignored:
    request = find_request(text, listening.mention)
    if request is None:
        return Ignored(reason="no-mention")
    if delivery.action != "edited":
        return request
    before = delivery.changes.body
    if before is None or find_request(before.from_, listening.mention) is not None:
        return Ignored(reason="no-new-mention")
    return request


def _find_unwanted(
    users: tuple[User, ...], app: str, listening: Listening
) -> Ignored | None:
    """Return why nobody of `users` is listened to, if that is so."""
    own = _plain(listening.own_login)
    # An app that writes in a person's name is still that app.
    if own and own in {_plain(app), *(_plain(user.login) for user in users)}:
        return Ignored(reason="own-text")
    named = {_plain(bot) for bot in listening.allow_bots}
    if any(_is_bot(user) and _plain(user.login) not in named for user in users):
        return Ignored(reason="bot")
    return None


def _writer(delivery: Delivery, author: User | None) -> User:
    """Return who put the words there: of an edited text that is who edited it."""
    if delivery.action == "edited" or author is None:
        return delivery.sender
    return author


def _trigger(
    delivery: Delivery,
    thread: Thread,
    ref: ThreadRef,
    *,
    key: str,
    kind: TriggerKind,
    user: User,
    request: str,
    text: str = "",
    post_id: str = "",
) -> Trigger:
    installation = delivery.installation
    return Trigger(
        key=key,
        kind=kind,
        actor=Actor(
            service=SERVICE,
            login=user.login,
            external_id=str(user.id),
            is_bot=_is_bot(user),
        ),
        thread=ref,
        request=request,
        title=thread.title,
        body=thread.body,
        text=text,
        post_id=post_id,
        installation="" if installation is None else str(installation.id),
    )


def _ref(delivery: Delivery, thread: Thread, kind: ThreadKind) -> ThreadRef:
    repo = RepoRef(forge=SERVICE, full_name=delivery.repository.full_name)
    return ThreadRef(repo=repo, kind=kind, number=thread.number)


def _kind_of(issue: Thread) -> ThreadKind:
    # A comment on a pull request comes as one on an issue that has this field.
    is_pull_request = issue.pull_request is not None
    return ThreadKind.PULL_REQUEST if is_pull_request else ThreadKind.ISSUE


def _edition(delivery: Delivery, text: str) -> str:
    if delivery.action != "edited":
        return ""
    return f":edit:{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _app_of(text: Thread | Comment) -> str:
    app = text.performed_via_github_app
    return "" if app is None else app.slug


def _is_bot(user: User) -> bool:
    return user.type == "Bot" or user.login.endswith("[bot]")


def _plain(login: str) -> str:
    return login.removesuffix("[bot]").casefold()


_ISSUE = TypeAdapter(IssueDelivery)
_COMMENT = TypeAdapter(CommentDelivery)
_PULL_REQUEST = TypeAdapter(PullRequestDelivery)

_READERS: Mapping[str, Callable[[bytes, Listening], Reading]] = {
    "issues": _read_issue,
    "issue_comment": _read_comment,
    "pull_request": _read_pull_request,
}
