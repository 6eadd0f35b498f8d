"""The requests on GitLab, and the triggers made from them."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from patchwright.core.text.escape import split_marks
from patchwright.core.text.mentions import find_request
from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind
from patchwright.core.types.triggers import Ignored, ParsedWebhook, Trigger, TriggerKind
from patchwright.integrations.gitlab.webhooks import payloads

SERVICE: Final = "gitlab"

# Who may read the answers: only members, in a thread that only they can see, or in
# notes that only they can see of a thread that everybody can.
CONFIDENTIAL: Final = "confidential"
INTERNAL: Final = "internal"

# Users that GitLab makes: of a project's or a group's token, of a service account, and
# of its own helpers.
# https://docs.gitlab.com/user/project/settings/project_access_tokens/#bot-users-for-projects
_BOT: Final = re.compile(
    r"(?:project|group)_\d+_bot\w*|service_account_\w+|\w+-bot|gitlab-bot|GitLabDuo"
    r"|duo-code-review-bot",
    re.ASCII | re.IGNORECASE,
)


class GitLabTriggerRules(Value):
    """What counts as asking. `mention` is written with its @ or slash.

    `own_id` and `own_login` are ours; zero and empty where they are not known.
    """

    mention: str
    label: str = ""
    own_id: int = 0
    own_login: str = ""

    def is_own(self, user: payloads.UserPayload) -> bool:
        if user.id and self.own_id:
            return user.id == self.own_id
        return bool(self.own_login) and (
            user.username.casefold() == self.own_login.casefold()
        )

    def is_own_id(self, user_id: int | None) -> bool:
        return bool(user_id) and user_id == self.own_id


def actor_of(user: payloads.UserPayload) -> Actor:
    return Actor(
        service=SERVICE,
        login=user.username,
        external_id=str(user.id) if user.id else "",
        is_bot=is_bot_name(user.username),
    )


def is_bot_name(username: str) -> bool:
    """Tell whether it is a name that GitLab gives to a user that is no person."""
    return _BOT.fullmatch(username) is not None


def repo_ref_of(project: payloads.ProjectPayload) -> RepoRef:
    return RepoRef(forge=SERVICE, full_name=project.path_with_namespace)


@dataclass(frozen=True, slots=True)
class NoteContext:
    """The thread that a delivery or an answer is about, and who acted there."""

    project: payloads.ProjectPayload
    thread: payloads.NoteablePayload
    kind: ThreadKind
    user: payloads.UserPayload
    audience: str = ""

    @property
    def ref(self) -> ForgeThread:
        return ForgeThread(
            repo=repo_ref_of(self.project),
            kind=self.kind,
            number=self.thread.iid,
            audience=self.audience,
        )

    def trigger(
        self,
        name: str,
        kind: TriggerKind,
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
            actor=actor_of(self.user),
            thread=self.ref,
            request=request,
            title=self.thread.title,
            body=self.thread.description,
            text=text,
            post_id=post_id,
            review_id=review_id,
            at=self.at,
        )

    @property
    def at(self) -> datetime | None:
        """When the thread had last changed; None if that is no time."""
        return payloads.read_time(self.thread.updated_at)


def read_body(context: NoteContext, rules: GitLabTriggerRules) -> ParsedWebhook:
    """Find a request in the text of an issue or merge request.

    An edit that adds a mention later has the same name, so that a text asks once.
    """
    request = find_request(context.thread.description, rules.mention)
    if request is None:
        return NO_MENTION
    if rules.is_own(context.user):
        return Ignored(reason="own-text")
    return context.trigger("body", TriggerKind.BODY_MENTION, request=request)


NO_MENTION: Final = Ignored(reason="no-mention")


def read_note(
    context: NoteContext,
    note: payloads.NoteAttributes,
    rules: GitLabTriggerRules,
    *,
    is_edit: bool,
) -> ParsedWebhook:
    """Find a request in a note, which asks once, however often it is edited.

    GitLab does not tell what it said before. A new one without a mention is a reply: it
    may answer a run that waits.
    """
    if is_own_note(note, context.user, rules):
        return Ignored(reason="own-text")
    review = _review_of(context, note)
    request = find_request(note.note, rules.mention)
    if request is None:
        if is_edit or not note.note.strip():
            return NO_MENTION
        name, kind, request = f"reply:{note.id}", TriggerKind.REPLY, note.note
    else:
        name = f"review:{review}" if review else f"comment:{note.id}"
        kind = TriggerKind.COMMENT_MENTION
    return context.trigger(
        name,
        kind,
        request=request,
        text=note.note,
        post_id=str(note.id),
        review_id=review,
    )


def is_own_note(
    note: payloads.NoteAttributes,
    user: payloads.UserPayload,
    rules: GitLabTriggerRules,
) -> bool:
    """Tell whether we wrote it; where our name is not known, our marks tell."""
    is_ours = rules.is_own(user) or rules.is_own_id(note.author_id)
    return is_ours or bool(split_marks(note.note).marks)


def _review_of(context: NoteContext, note: payloads.NoteAttributes) -> str:
    if context.kind is ThreadKind.ISSUE or note.type != "DiffNote":
        return ""
    author = note.author_id or context.user.id
    return payloads.review_of(author, payloads.read_time(note.created_at))


def read_act(
    context: NoteContext, kind: TriggerKind, at: str, rules: GitLabTriggerRules
) -> ParsedWebhook:
    """Make a request from an act that can be repeated; each time is a new request.

    Only the time tells the second label from the first, to the second, as GitLab's API
    and its deliveries do not agree on more.
    """
    if rules.is_own(context.user):
        return Ignored(reason="own-act")
    return context.trigger(f"{kind}:{_name_of_moment(at)}", kind)


def _name_of_moment(at: str) -> str:
    moment = payloads.read_time(at)
    return f"{moment:%Y-%m-%dT%H:%M:%S}" if moment else at


def read_changes_wanted(
    context: NoteContext, at: str, rules: GitLabTriggerRules
) -> ParsedWebhook:
    """Read that somebody wants changes to a merge request; to ours it may be a request.

    Its words are in notes, which come apart.
    """
    if rules.is_own(context.user) or not rules.is_own_id(context.thread.author_id):
        return NO_MENTION
    name = f"changes-requested:{context.user.id}:{_name_of_moment(at)}"
    return context.trigger(name, TriggerKind.REVIEW)
