"""Decide what becomes of a plan: it waits for a person's word, or has got it."""

from dataclasses import dataclass

from patchwright.core.agent.open_reply import PendingCall
from patchwright.core.agent.prompts import prompt
from patchwright.core.events.state import RunState
from patchwright.core.events.types import (
    AgentState,
    ChangeState,
    ConfirmationAsked,
    Finish,
    PlanApproved,
    Risk,
    UserRejected,
)
from patchwright.core.security.digest import digest_of

_REVISE = (
    "The plan was not approved: a person has answered in words. Revise it, and bring "
    "it again with `finish`."
)


@dataclass(frozen=True)
class ApprovedPlan:
    """The plan is to be carried out; `by` is who said so."""

    by: str

    @property
    def result(self) -> PlanApproved:
        return PlanApproved(text=prompt("plan_approved").format(who=self.by))


@dataclass(frozen=True)
class RevisedPlan:
    """The plan is to be another one."""

    @property
    def result(self) -> UserRejected:
        return UserRejected(text=_REVISE)


@dataclass(frozen=True)
class DroppedPlan:
    """Nothing is to be done; `by` is who said so."""

    by: str


@dataclass(frozen=True)
class ProposedPlan:
    """People are to decide about `asked`; they are shown `text`."""

    asked: ConfirmationAsked
    text: str


def judge_plan(
    finish: Finish, pending: PendingCall, run: RunState, last_message_id: int
) -> ApprovedPlan | RevisedPlan | DroppedPlan | ProposedPlan:
    """Judge the plan that an agent has ended its reply with.

    `spoken_id` is the event of what a person said last. A yes or no counts for the plan
    that its author had been shown, and for no other; words ask for another plan, with a
    yes or without.
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
        asked=ConfirmationAsked(
            action=finish.model_dump(mode="json"),
            digest=digest,
            risk=Risk.LOW,
            call_id=pending.call.id,
        ),
        text=finish.answer or finish.summary,
    )


def _plan_answer(wanted: ChangeState | None, digest: str) -> ApprovedPlan | DroppedPlan | None:
    if wanted is None or wanted.digest != digest:
        return None
    who = wanted.reason or "a person"
    if wanted.state is AgentState.USER_CONFIRMED:
        return ApprovedPlan(who)
    return DroppedPlan(who) if wanted.state is AgentState.USER_REJECTED else None
