"""Decide what becomes of a plan: it waits for a person's word, or has got it."""

from dataclasses import dataclass

from patchwright.core.agent.open_reply import Pending
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
class Approved:
    """The plan is to be carried out; `by` is who said so."""

    by: str

    @property
    def result(self) -> PlanApproved:
        return PlanApproved(text=prompt("plan_approved").format(who=self.by))


@dataclass(frozen=True)
class Revised:
    """The plan is to be another one."""

    @property
    def result(self) -> UserRejected:
        return UserRejected(text=_REVISE)


@dataclass(frozen=True)
class Dropped:
    """Nothing is to be done; `by` is who said so."""

    by: str


@dataclass(frozen=True)
class Proposed:
    """People are to decide about `asked`; they are shown `text`."""

    asked: ConfirmationAsked
    text: str


def judge_plan(
    finish: Finish, pending: Pending, run: RunState, spoken_id: int
) -> Approved | Revised | Dropped | Proposed:
    """Judge the plan that an agent has ended its reply with.

    `spoken_id` is the event of what a person said last. A yes or no counts for the plan
    that its author had been shown, and for no other; words ask for another plan, with a
    yes or without.
    """
    digest = digest_of(finish)
    asked = pending.asked
    if asked is not None and asked.digest == digest:
        if spoken_id > pending.asked_id:
            return Revised()
        wanted = run.wanted if run.wanted_id > pending.asked_id else None
        if (answer := _answer(wanted, digest)) is not None:
            return answer
    return Proposed(
        asked=ConfirmationAsked(
            action=finish.model_dump(mode="json"),
            digest=digest,
            risk=Risk.LOW,
            call_id=pending.call.id,
        ),
        text=finish.answer or finish.summary,
    )


def _answer(wanted: ChangeState | None, digest: str) -> Approved | Dropped | None:
    if wanted is None or wanted.digest != digest:
        return None
    who = wanted.reason or "a person"
    if wanted.state is AgentState.USER_CONFIRMED:
        return Approved(who)
    return Dropped(who) if wanted.state is AgentState.USER_REJECTED else None
