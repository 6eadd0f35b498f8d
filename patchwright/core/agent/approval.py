"""What of the newest reply is still to be done, and what needs a person's approval."""

import json
from dataclasses import dataclass

from patchwright.core.agent.prompts import prompt
from patchwright.core.agent.tools import Proposal
from patchwright.core.events import types as ev
from patchwright.core.events.state import RunState
from patchwright.core.security.analyzer import (
    Analyzer,
    ConfirmPolicy,
    digest_of,
    needs_confirmation,
)
from patchwright.core.text.escape import code_block
from patchwright.core.text.strings import truncate_middle


@dataclass(frozen=True)
class PendingCall:
    """A call without a result.

    `action_id` is set when its action was sent: it may have had an effect. `asked` is
    set while a person must allow it, since the event `asked_id`.
    """

    call: ev.ToolCall
    fault: str | None = None
    action_id: int | None = None
    action: ev.AgentStep | None = None
    asked: ev.ConfirmationAsked | None = None
    asked_id: int = 0


class OpenReply:
    """Follows one agent's events.

    Every call gets exactly one result, whichever worker gives it. `finished` is the
    action that ended the agent's work, unless it got a message since; `has_ended` stays
    with the reply that it was in. `asked` is the question that the agent waits with,
    until it gets a message.
    """

    def __init__(self) -> None:
        self.id = 0
        self.text = ""
        self.is_unanswered_text = False
        self.finished: ev.Finish | ev.Reject | None = None
        self.has_ended = False
        self.asked: ev.AskQuestion | None = None
        self._pending: dict[str, PendingCall] = {}

    def follow(self, event: ev.Event) -> None:
        payload = event.payload
        if isinstance(payload, ev.ModelReply):
            self._begin(event.id, payload)
        elif isinstance(payload, ev.Message) and event.source is ev.Source.SYSTEM:
            # The agent gets a message and continues.
            self.is_unanswered_text, self.finished, self.asked = False, None, None
        elif isinstance(payload, ev.Observation):
            self._close(payload.call_id)
        elif isinstance(payload, ev.ConfirmationAsked):
            self._update(payload.call_id, asked=payload, asked_id=event.id)
        elif isinstance(payload, ev.AgentStep):
            self._update(payload.call_id, action=payload, action_id=event.id)

    @property
    def question(self) -> str:
        """Return what people are asked where the agent waits for an answer."""
        return self.text if self.asked is None else self.asked.question

    def first(self) -> PendingCall | None:
        """Return the next call to be dealt with: they run in order."""
        return next(iter(self._pending.values()), None)

    def _begin(self, event_id: int, reply: ev.ModelReply) -> None:
        self.id, self.text = event_id, reply.text
        self.finished, self.has_ended, self.asked = None, False, None
        self.is_unanswered_text = bool(reply.text) and not reply.tool_calls
        self._pending = {
            call.id: PendingCall(call, reply.malformed.get(call.id))
            for call in reply.tool_calls
        }

    def _close(self, call_id: str) -> None:
        closed = self._pending.pop(call_id, None)
        action = None if closed is None else closed.action
        if isinstance(action, ev.Finish | ev.Reject):
            self.finished, self.has_ended = action, True
        elif isinstance(action, ev.AskQuestion):
            self.asked = action

    def _update(self, call_id: str, **known: object) -> None:
        if call_id in self._pending:
            pending = self._pending[call_id]
            self._pending[call_id] = PendingCall(**{**vars(pending), **known})


MAX_SHOWN_CHARS = 6_000
# What touches nothing is not worth anybody's time.
_HARMLESS = ev.Think | ev.WriteTodos | ev.Finish | ev.Reject | ev.AskQuestion


@dataclass(frozen=True)
class ActionAllowed:
    """The action may run; `by` is who said so, where somebody had to."""

    action: ev.AgentStep
    by: str = ""


@dataclass(frozen=True)
class ActionRefused:
    text: str
    by: str


@dataclass(frozen=True)
class ActionWaits:
    """A person is to decide; `asked` is what to write down, `text` what to tell."""

    asked: ev.ConfirmationAsked
    text: str


def judge_action(
    proposal: Proposal,
    pending: PendingCall,
    run: RunState,
    *,
    analyzer: Analyzer,
    policy: ConfirmPolicy,
    last_message_id: int,
) -> ActionAllowed | ActionRefused | ActionWaits:
    """Judge a proposal by its risk, the policy, and what people have said.

    `last_message_id` is the event of what a person said last: words are a no, with a
    yes or without. A yes counts only for the very action it was given for, and only if
    it was given when that had been asked: the same action may come again.
    """
    action = proposal.action
    verdict = analyzer.judge(action, proposal.claimed)
    action = action.replace(risk=verdict.risk)
    free = isinstance(action, _HARMLESS)
    if free or not needs_confirmation(policy, verdict.risk):
        return ActionAllowed(action)
    digest = digest_of(action)
    if pending.asked is not None and pending.asked.digest == digest:
        if last_message_id > pending.asked_id:
            return ActionRefused(
                "Not run: a person answered with a comment instead.", ""
            )
        wanted = run.wanted if run.wanted_id > pending.asked_id else None
        answer = _confirmation_answer(action, digest, wanted)
        if answer is not None:
            return answer
    asked = ev.ConfirmationAsked(
        action=action.model_dump(mode="json"),
        digest=digest,
        risk=verdict.risk,
        why=(verdict.why,) if verdict.why else (),
        call_id=pending.call.id,
    )
    return ActionWaits(asked, _question(pending.call.name, action, verdict.why, digest))


def _confirmation_answer(
    action: ev.AgentStep, digest: str, wanted: ev.ChangeState | None
) -> ActionAllowed | ActionRefused | None:
    if wanted is None or wanted.digest != digest:
        return None
    if wanted.state is ev.AgentState.USER_CONFIRMED:
        return ActionAllowed(action, wanted.reason or "a person")
    if wanted.state is ev.AgentState.USER_REJECTED:
        who = wanted.reason or "a person"
        return ActionRefused(f"Not run: {who} did not allow it.", who)
    return None


def action_text(action: ev.AgentStep) -> str:
    """Return all of what an action would do, but for its name."""
    done = action.model_dump(
        mode="json", exclude={"kind", "call_id", "agent", "risk"}, exclude_defaults=True
    )
    command = done.pop("command", None) or done.pop("code", None) or ""
    rest = json.dumps(done, indent=2, ensure_ascii=False) if done else ""
    return "\n".join(part for part in (command, rest) if part)


def _question(tool: str, action: ev.AgentStep, why: str, digest: str) -> str:
    """Show all of what would be done: a yes to a part of it would be no yes."""
    shown = action_text(action)
    parts = [
        f"May this be done (`{tool}`, risk: {action.risk})? {why}".strip(),
        code_block(truncate_middle(shown, MAX_SHOWN_CHARS)),
        f"Its digest is `{digest[:12]}`.",
    ]
    return "\n\n".join(parts)


_REVISE = (
    "The plan was not approved: a person answered with a comment. Revise the plan, "
    "and send it again with `finish`."
)


@dataclass(frozen=True)
class ApprovedPlan:
    """The plan is to be carried out; `by` is who said so."""

    by: str

    @property
    def result(self) -> ev.PlanApproved:
        return ev.PlanApproved(text=prompt("plan_approved").format(who=self.by))


@dataclass(frozen=True)
class RevisedPlan:
    """The plan is to be another one."""

    @property
    def result(self) -> ev.UserRejected:
        return ev.UserRejected(text=_REVISE)


@dataclass(frozen=True)
class DroppedPlan:
    """Nothing is to be done; `by` is who said so."""

    by: str


@dataclass(frozen=True)
class ProposedPlan:
    """People are to decide about `asked`; they are shown `text`."""

    asked: ev.ConfirmationAsked
    text: str


def judge_plan(
    finish: ev.Finish, pending: PendingCall, run: RunState, last_message_id: int
) -> ApprovedPlan | RevisedPlan | DroppedPlan | ProposedPlan:
    """Judge the plan that an agent has ended its reply with.

    `last_message_id` is the event of what a person said last. A yes or no counts for
    the plan that its author had been shown, and for no other; words ask for another
    plan, with a yes or without.
    """
    digest = digest_of(finish)
    asked = pending.asked
    if asked is not None and asked.digest == digest:
        if last_message_id > pending.asked_id:
            return RevisedPlan()
        wanted = run.wanted if run.wanted_id > pending.asked_id else None
        if (answer := _plan_answer(wanted, digest)) is not None:
            return answer
    return ProposedPlan(
        asked=ev.ConfirmationAsked(
            action=finish.model_dump(mode="json"),
            digest=digest,
            risk=ev.Risk.LOW,
            call_id=pending.call.id,
        ),
        text=finish.answer or finish.summary,
    )


def _plan_answer(
    wanted: ev.ChangeState | None, digest: str
) -> ApprovedPlan | DroppedPlan | None:
    if wanted is None or wanted.digest != digest:
        return None
    who = wanted.reason or "a person"
    if wanted.state is ev.AgentState.USER_CONFIRMED:
        return ApprovedPlan(who)
    return DroppedPlan(who) if wanted.state is ev.AgentState.USER_REJECTED else None
