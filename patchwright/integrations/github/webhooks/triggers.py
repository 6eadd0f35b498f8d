"""The requests on GitHub, and the triggers made from them."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from patchwright.core.text.escape import split_marks
from patchwright.core.text.mentions import find_request
from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind
from patchwright.core.types.triggers import Ignored, ParsedWebhook, Trigger, TriggerKind
from patchwright.integrations.github.webhooks import payloads

SERVICE = "github"


class GitHubTriggerRules(Value):
    """What counts as asking. `mention` is written with its @ or slash.

    `own_login` is ours, such as `patchwright[bot]`; empty where it is not known. To be
    assigned to `assignee` counts as to us.
    """

    mention: str
    label: str = ""
    own_login: str = ""
    assignee: str = ""

    def is_own(self, name: str) -> bool:
        """Tell whether a login or the slug of an App is ours."""
        return bool(self.own_login) and _plain(name) == _plain(self.own_login)

    def is_assignee(self, login: str) -> bool:
        """Tell whether to assign somebody is to ask us."""
        is_named = bool(self.assignee) and _plain(login) == _plain(self.assignee)
        return is_named or self.is_own(login)


def actor_of(user: payloads.GitHubUser) -> Actor:
    return Actor(
        service=SERVICE,
        login=user.login,
        external_id=str(user.id),
        is_bot=user.type == "Bot" or user.login.endswith("[bot]"),
    )


def is_same(one: payloads.GitHubUser, other: payloads.GitHubUser) -> bool:
    return one.login.casefold() == other.login.casefold()


def _plain(login: str) -> str:
    return login.removesuffix("[bot]").casefold()


@dataclass(frozen=True, slots=True)
class ThreadContext:
    """A delivery, and the thread that it is about."""

    delivery: payloads.GitHubDelivery
    thread: payloads.ThreadPayload
    kind: ThreadKind

    @property
    def ref(self) -> ForgeThread:
        repo = repo_ref_of(self.delivery.repository)
        return ForgeThread(repo=repo, kind=self.kind, number=self.thread.number)

    def trigger(
        self,
        name: str,
        kind: TriggerKind,
        asker: payloads.GitHubUser,
        *,
        request: str = "",
        text: str = "",
        post_id: str = "",
        review_id: str = "",
    ) -> Trigger:
        """Make a trigger; `name` is what the request is called within its thread."""
        return Trigger(
            key=f"{self.ref}:{name}",
            kind=kind,
            actor=actor_of(asker),
            thread=self.ref,
            request=request,
            title=self.thread.title,
            body=self.thread.body,
            text=text,
            post_id=post_id,
            review_id=review_id,
            others=self._others(asker),
            installation=installation_id_of(self.delivery.installation),
            at=self.at,
        )

    @property
    def at(self) -> datetime | None:
        """When the thread had last changed; None if that is no time."""
        try:
            at = datetime.fromisoformat(self.thread.updated_at)
        except ValueError:
            return None
        return at if at.tzinfo else None

    def _others(self, asker: payloads.GitHubUser) -> tuple[Actor, ...]:
        sender = self.delivery.sender
        return () if is_same(sender, asker) else (actor_of(sender),)


def repo_ref_of(repository: payloads.RepositoryPayload) -> RepoRef:
    return RepoRef(forge=SERVICE, full_name=repository.full_name)


def installation_id_of(installation: payloads.InstallationPayload | None) -> str:
    return "" if installation is None else str(installation.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenText:
    """A text, who wrote it, and what to call it within its thread.

    `app` is the App it was written with, if it was. Only a comment has a `post_id`.
    """

    name: str
    kind: TriggerKind
    text: str
    author: payloads.GitHubUser | None
    app: payloads.AppPayload | None = None
    post_id: str = ""
    review_id: str = ""


def thread_text(thread: payloads.ThreadPayload) -> WrittenText:
    return WrittenText(
        name="body",
        kind=TriggerKind.BODY_MENTION,
        text=thread.body,
        author=thread.user,
        app=thread.performed_via_github_app,
    )


def comment_text(
    comment: payloads.CommentPayload, *, name: str, post_id: str, review_id: str = ""
) -> WrittenText:
    return WrittenText(
        name=name,
        kind=TriggerKind.COMMENT_MENTION,
        text=comment.body,
        author=comment.user,
        app=comment.performed_via_github_app,
        post_id=post_id,
        review_id=review_id,
    )


def read_text(
    context: ThreadContext, written: WrittenText, rules: GitHubTriggerRules
) -> ParsedWebhook:
    """Find a request in a new text, or in an edited one that did not ask before.

    A new comment without a mention is a reply: it may answer a run that waits.
    """
    request = _find_new_request(context.delivery, written.text, rules)
    if request == _NO_MENTION and _may_be_reply(context.delivery, written):
        return _read_reply(context, written, rules)
    if isinstance(request, Ignored):
        return request
    if is_own_text(context.delivery, written, rules):
        return Ignored(reason="own-text")
    return context.trigger(
        f"{written.name}{_edit_suffix(context.delivery, written.text)}",
        written.kind,
        writer_of(context.delivery, written.author),
        request=request,
        # A body is the body of its thread.
        text=written.text if written.post_id else "",
        post_id=written.post_id,
        review_id=written.review_id,
    )


_NO_MENTION: Final = Ignored(reason="no-mention")


def _may_be_reply(delivery: payloads.GitHubDelivery, written: WrittenText) -> bool:
    """Tell whether it is a new comment with words, and not the text of a thread."""
    is_new = delivery.action in {"created", "submitted"}
    return is_new and bool(written.post_id and written.text.strip())


def _read_reply(
    context: ThreadContext, written: WrittenText, rules: GitHubTriggerRules
) -> ParsedWebhook:
    # Where our own login is not known, our marks tell.
    is_marked = bool(split_marks(written.text).marks)
    if is_marked or is_own_text(context.delivery, written, rules):
        return Ignored(reason="own-text")
    return context.trigger(
        # A mention that an edit adds, or one beside it in a review, is another thing.
        f"reply:{written.post_id}",
        TriggerKind.REPLY,
        writer_of(context.delivery, written.author),
        request=written.text,
        text=written.text,
        post_id=written.post_id,
        review_id=written.review_id,
    )


def is_reply(reading: ParsedWebhook) -> bool:
    return isinstance(reading, Trigger) and reading.kind is TriggerKind.REPLY


def is_own_text(
    delivery: payloads.GitHubDelivery, written: WrittenText, rules: GitHubTriggerRules
) -> bool:
    """Tell whether we wrote the text, or sent it: then it never asks.

    A text that an App writes in a person's name is still the App's.
    """
    people = (delivery.sender, written.author)
    names = [user.login for user in people if user is not None]
    return any(map(rules.is_own, [*names, written.app.slug if written.app else ""]))


def writer_of(
    delivery: payloads.GitHubDelivery, author: payloads.GitHubUser | None
) -> payloads.GitHubUser:
    """Return who put the words there: of an edited text that is who edited it."""
    if delivery.action == "edited" or author is None:
        return delivery.sender
    return author


def _find_new_request(
    delivery: payloads.GitHubDelivery, text: str, rules: GitHubTriggerRules
) -> str | Ignored:
    request = find_request(text, rules.mention)
    if request is None:
        return _NO_MENTION
    if delivery.action != "edited":
        return request
    before = delivery.changes.body
    if before is None or find_request(before.from_, rules.mention) is not None:
        return Ignored(reason="no-new-mention")
    return request


def _edit_suffix(delivery: payloads.GitHubDelivery, text: str) -> str:
    if delivery.action != "edited":
        return ""
    return f":edit:{hashlib.sha256(text.encode()).hexdigest()[:16]}"
