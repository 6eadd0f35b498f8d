"""The requests in Linear, and the triggers made from them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from patchwright.core.commands import Verb
from patchwright.core.text.mentions import find_request
from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import TalkThread, ThreadKind
from patchwright.core.types.triggers import Ignored, ParsedWebhook, Trigger, TriggerKind
from patchwright.integrations.linear.webhooks.payloads import (
    SERVICE,
    ActivityPayload,
    DataPayload,
    GuidanceRule,
    IssuePayload,
    LinearComment,
    LinearPerson,
    LinearWorkspace,
    SessionEventPayload,
)

# A delivery could bring a million characters, which take long to read.
LONGEST_TEXT: Final = 100_000
# Linear begins the thread of a session with this where no comment of anybody's did.
_SESSION_ROOT: Final = "This thread is for an agent session"
_KEY: Final = re.compile(r"/issue/([A-Za-z0-9]+-\d+)(?![\w-])")
_STOP_SIGNAL: Final = "stop"


class LinearTriggerRules(Value):
    """What counts as asking in a workspace; `mention` is written with its @."""

    workspace: LinearWorkspace
    mention: str
    label: str = ""

    @property
    def handles(self) -> tuple[str, ...]:
        own = self.workspace.own_name
        return tuple(dict.fromkeys((self.mention, *([f"@{own}"] if own else ()))))

    def find_request(self, text: str) -> str | None:
        """Return what a text asks of us, None if it does not mention us."""
        shown = self._with_names(text[:LONGEST_TEXT])
        found = (find_request(shown, handle) for handle in self.handles)
        return next((one for one in found if one is not None), None)

    def is_own(self, *people: str) -> bool:
        return bool(self.workspace.own_id) and self.workspace.own_id in people

    def _with_names(self, text: str) -> str:
        """Write a mention as our handle where it came as the address of our page."""
        own = self.workspace.own_name
        if not own or "/profiles/" not in text:
            return text
        page = rf"https?://[^\s()<>\[\]]+/profiles/{re.escape(own)}(?![\w-])"
        return re.sub(rf"\[[^\]\n]*\]\(<?{page}>?\)|<?{page}>?", f"@{own}", text)


def issue_key(issue: IssuePayload, url: str = "") -> str:
    """Return `ENG-12`, by the address where the delivery does not say it."""
    found = _KEY.search(issue.url) or _KEY.search(url)
    return issue.key or (found[1].upper() if found else "")


@dataclass(frozen=True, slots=True)
class IssueContext:
    """An issue, and how we listen there; `key` is its identifier."""

    issue: IssuePayload
    key: str
    rules: LinearTriggerRules
    guidance: tuple[GuidanceRule, ...] = ()

    @property
    def workspace(self) -> LinearWorkspace:
        return self.rules.workspace

    @property
    def ref(self) -> TalkThread:
        return TalkThread(
            service=SERVICE,
            place=f"{self.workspace.url_key}/{self.key.rpartition('-')[0]}",
            kind=ThreadKind.TICKET,
            id=self.key,
            lasting_id=self.issue.id,
        )

    @property
    def body(self) -> str:
        """The description, and what the workspace wants all agents to know."""
        rules = [f"- {_origin(one)}{one.body}" for one in self.guidance if one.body]
        guidance = "\n".join(["Guidance of the workspace for agents:", *rules])
        return "\n\n".join(
            filter(None, (self.issue.description, guidance if rules else ""))
        )

    def trigger(
        self,
        name: str,
        kind: TriggerKind,
        asker: LinearPerson,
        *,
        request: str = "",
        text: str = "",
        post_id: str = "",
        others: Iterable[LinearPerson | None] = (),
    ) -> ParsedWebhook:
        """Make a trigger; `name` is what the request is called in its workspace."""
        if self.rules.is_own(asker.id):
            return Ignored(reason="own-act")
        if not asker.id:
            return Ignored(reason="nobody")
        return Trigger(
            key=f"{SERVICE}:{self.workspace.id}:{name}",
            kind=kind,
            actor=self._actor(asker),
            thread=self.ref,
            request=request,
            title=self.issue.title,
            body=self.body,
            text=text,
            post_id=post_id,
            others=tuple(
                {
                    self._actor(one): None
                    for one in others
                    if one is not None and one.id and one.id != asker.id
                }
            ),
            installation=self.workspace.id,
        )

    def _actor(self, person: LinearPerson) -> Actor:
        return person.actor(self.workspace.url_key, self.workspace.own_id)


def _origin(rule: GuidanceRule) -> str:
    team = rule.origin.team
    return f"(team {team.display_name or team.name}) " if team else ""


def read_comment(
    context: IssueContext, comment: LinearComment, event: DataPayload
) -> ParsedWebhook:
    """Read a new or changed comment: it asks at most once, however often it changes.

    Whoever changes a comment of somebody else's is judged beside its author.
    """
    rules, author = context.rules, comment.author
    is_edit = event.updated_from is not None
    asker = (event.actor or author) if is_edit else author
    if rules.is_own(author.id, asker.id):
        return Ignored(reason="own-text")
    request = rules.find_request(comment.body)
    if is_edit:
        before = (event.updated_from or {}).get("body")
        if not isinstance(before, str) or request is None:
            return Ignored(reason="no-mention")
        if rules.find_request(before) is not None:
            return Ignored(reason="asked-before")
    if request is None and not _may_answer(comment, rules):
        return Ignored(reason="other-thread")
    is_reply = request is None
    return context.trigger(
        f"{'reply' if is_reply else 'comment'}:{comment.id}",
        TriggerKind.REPLY if is_reply else TriggerKind.COMMENT_MENTION,
        asker.replace(type=event.actor.type) if event.actor else asker,
        request=comment.body if request is None else request,
        text=comment.body,
        post_id=comment.id,
        others=(author, event.actor),
    )


def _may_answer(comment: LinearComment, rules: LinearTriggerRules) -> bool:
    """Tell whether a comment that calls nobody may answer a question of ours.

    What is said in the thread of a session, Linear tells us as a prompt as well; people
    answer our own comments in their threads, and all others talk among themselves.
    """
    if not comment.parent_id or not rules.workspace.is_app:
        return True
    parent = comment.parent
    if parent is None or not rules.is_own(parent.author.id):
        return False
    return not parent.body.startswith(_SESSION_ROOT)


def read_issue(context: IssueContext, event: DataPayload) -> ParsedWebhook:
    """Return the one request of an act: words before a label, that before a person."""
    issue, rules = context.issue, context.rules
    person = event.actor or issue.creator or LinearPerson(id=issue.creator_id)
    found = _find_request(issue, rules, event)
    if found is None:
        return Ignored(reason="no-request")
    kind, request = found
    # The description asks once; labels and assignments can be repeated.
    moment = issue.updated_at or event.created_at
    act = f"{kind}:{moment.isoformat() if moment else ''}"
    name = "body" if kind is TriggerKind.BODY_MENTION else act
    return context.trigger(
        f"issue:{issue.id}:{name}",
        kind,
        person,
        request=request,
        others=(event.actor, issue.creator),
    )


def _find_request(
    issue: IssuePayload, rules: LinearTriggerRules, event: DataPayload
) -> tuple[TriggerKind, str] | None:
    before = event.updated_from
    request = _new_request(issue, rules, event)
    if request is not None:
        return TriggerKind.BODY_MENTION, request
    if _has_new_label(issue, rules.label, event):
        return TriggerKind.LABEL, ""
    # Of what an app is given to do, Linear begins a session, which is told besides.
    persons = () if rules.workspace.is_app else (("delegateId", issue.delegate_id),)
    for field, now in (("assigneeId", issue.assignee_id), *persons):
        is_changed = before is None or field in before
        if is_changed and rules.is_own(now):
            return TriggerKind.ASSIGNMENT, ""
    return None


def _new_request(
    issue: IssuePayload, rules: LinearTriggerRules, event: DataPayload
) -> str | None:
    """Return what the title or description ask that did not ask before."""
    for field, now in (("description", issue.description), ("title", issue.title)):
        before = event.updated_from
        if before is not None and field not in before:
            continue
        request = rules.find_request(now)
        old = (before or {}).get(field)
        had = isinstance(old, str) and rules.find_request(old) is not None
        if request is not None and not had:
            return request
    return None


def _has_new_label(issue: IssuePayload, label: str, event: DataPayload) -> bool:
    """Compare the ids of labels with those before, which stand at the top level."""
    wanted = {one.id for one in issue.labels if one.name.casefold() == label.casefold()}
    if not label or not wanted:
        return False
    if event.updated_from is None:
        return True
    before = event.updated_from.get("labelIds")
    return isinstance(before, list) and not wanted & set(map(str, before))


def read_session(context: IssueContext, event: SessionEventPayload) -> ParsedWebhook:
    """Read a session that a mention or a delegation began.

    What `promptContext` holds besides is the thread, which is read when the run begins:
    words of others there are no request.
    """
    session, rules = event.agent_session, context.rules
    comment = session.comment
    is_said = comment is not None and not comment.body.startswith(_SESSION_ROOT)
    if session.source_comment_id and not is_said:
        known = event.previous_comments
        comment = next(
            (one for one in known if one.id == session.source_comment_id),
            LinearComment(id=session.source_comment_id),
        )
        is_said = True
    author = comment.author if comment else LinearPerson()
    person = session.person if session.person.id else author
    if comment is None or not is_said:
        return context.trigger(f"session:{session.id}", TriggerKind.ASSIGNMENT, person)
    request = rules.find_request(comment.body)
    return context.trigger(
        f"comment:{comment.id}",
        TriggerKind.COMMENT_MENTION,
        person,
        request=comment.body if request is None else request,
        text=comment.body,
        post_id=comment.id,
        others=(author,),
    )


def read_prompt(context: IssueContext, activity: ActivityPayload) -> ParsedWebhook:
    """Read what somebody says to us in a session; there, everything is to us."""
    if context.rules.is_own(activity.person.id):
        return Ignored(reason="own-text")
    if activity.signal == _STOP_SIGNAL:
        return context.trigger(
            f"activity:{activity.id}",
            TriggerKind.COMMENT_MENTION,
            activity.person,
            request=Verb.STOP,
        )
    body = activity.content.body
    if not body.strip():
        return Ignored(reason="no-words")
    request = context.rules.find_request(body)
    comment = activity.source_comment_id
    return context.trigger(
        f"comment:{comment}" if comment else f"activity:{activity.id}",
        TriggerKind.COMMENT_MENTION,
        activity.person,
        request=body if request is None else request,
        text=body,
        post_id=comment,
    )
