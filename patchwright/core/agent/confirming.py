"""Decide whether an action may be sent off, or waits for a person's word."""

import json
from dataclasses import dataclass

from patchwright.core.agent.open_reply import PendingCall
from patchwright.core.agent.toolbox import Proposal
from patchwright.core.events.state import RunState
from patchwright.core.events.types import (
    AgentState,
    AgentStep,
    ChangeState,
    ConfirmationAsked,
    Finish,
    Reject,
    Think,
    WriteTodos,
)
from patchwright.core.security.analyzer import Analyzer
from patchwright.core.security.digest import digest_of
from patchwright.core.security.policy import ConfirmPolicy, needs_confirmation
from patchwright.core.text.cut import truncate_middle
from patchwright.core.text.fence import code_block

MAX_SHOWN_CHARS = 6_000
# What touches nothing is not worth anybody's time.
_HARMLESS = Think | WriteTodos | Finish | Reject


@dataclass(frozen=True)
class ActionAllowed:
    """The action may run; `by` is who said so, where somebody had to."""

    action: AgentStep
    by: str = ""


@dataclass(frozen=True)
class ActionRefused:
    text: str
    by: str


@dataclass(frozen=True)
class ActionWaits:
    """A person is to decide; `asked` is what to write down, `text` what to tell."""

    asked: ConfirmationAsked
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

    `spoken_id` is the event of what a person said last: words are a no, with a yes or
    without. A yes counts only for the very action it was given for, and only if it was
    given when that had been asked: the same action may come again.
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
            return ActionRefused("Not run: a person answered with words instead.", "")
        wanted = run.wanted if run.wanted_id > pending.asked_id else None
        answer = _confirmation_answer(action, digest, wanted)
        if answer is not None:
            return answer
    asked = ConfirmationAsked(
        action=action.model_dump(mode="json"),
        digest=digest,
        risk=verdict.risk,
        why=(verdict.why,) if verdict.why else (),
        call_id=pending.call.id,
    )
    return ActionWaits(asked, _question(action, verdict.why, digest))


def _confirmation_answer(
    action: AgentStep, digest: str, wanted: ChangeState | None
) -> ActionAllowed | ActionRefused | None:
    if wanted is None or wanted.digest != digest:
        return None
    if wanted.state is AgentState.USER_CONFIRMED:
        return ActionAllowed(action, wanted.reason or "a person")
    if wanted.state is AgentState.USER_REJECTED:
        who = wanted.reason or "a person"
        return ActionRefused(f"Not run: {who} did not allow it.", who)
    return None


def _question(action: AgentStep, why: str, digest: str) -> str:
    """Show all of what would be done: a yes to a part of it would be no yes."""
    done = action.model_dump(
        mode="json", exclude={"kind", "call_id", "agent", "risk"}, exclude_defaults=True
    )
    command = done.pop("command", None) or done.pop("code", None) or ""
    rest = json.dumps(done, indent=2, ensure_ascii=False) if done else ""
    shown = "\n".join(part for part in (command, rest) if part)
    parts = [
        f"May this be done (`{action.kind}`, risk: {action.risk})? {why}".strip(),
        code_block(truncate_middle(shown, MAX_SHOWN_CHARS)),
        f"Its digest is `{digest[:12]}`.",
    ]
    return "\n\n".join(parts)
