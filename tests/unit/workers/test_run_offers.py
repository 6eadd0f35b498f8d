"""What people can do with a run now, and why not what they cannot."""

from datetime import UTC, datetime

import pytest

from patchwright.core.types.base import ConversationId, JobId
from patchwright.core.types.errors import WrongMomentError
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.people import OPERATOR, Actor
from patchwright.core.types.work import Outcome
from patchwright.resolver.job import Job, JobState
from patchwright.workers.runs.commands import (
    CommandInputError,
    CommandOrigin,
    RunAct,
    RunStanding,
    act_of,
    check_moment,
    command_text,
    make_command_delivery,
    offers,
)
from patchwright.workers.runs.requests import MAX_TEXT_CHARS
from tests.unit.resolver.runs import TRIGGER

ALICE = Actor(service="github", login="alice", external_id="1")
ADMIN = Actor(service=OPERATOR, login="an administrator")
ALONE = RunStanding()
OTHER = RunStanding(active=JobId("fedcba9876543210"))
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def waits(reason: str, summary: str = "Which?") -> Outcome:
    return Outcome(
        kind=OutcomeKind.NEEDS_INPUT, reason=reason, summary=summary, waits=True
    )


def run(state: JobState, outcome: Outcome | None = None, attempts: int = 1) -> Job:
    return Job(
        id=JobId("0123456789abcdef"),
        conversation_id=ConversationId("c"),
        state=state,
        trigger=TRIGGER,
        created_at=NOW,
        attempts=attempts,
        outcome=outcome,
    )


QUEUED = run(JobState.QUEUED, attempts=0)
WORKING = run(JobState.RUNNING)
DONE = run(JobState.DONE, Outcome(kind=OutcomeKind.RESOLVED))
PUBLISHING = run(JobState.DELIVERING, Outcome(kind=OutcomeKind.RESOLVED))
PLAN = run(JobState.WAITING_USER, waits("plan"))
ACTION = run(JobState.WAITING_USER, waits("confirmation"))
PAUSED = run(JobState.WAITING_USER, waits("paused"))
CHOICE = run(JobState.WAITING_USER, waits("question", "Which?\n\n1. Tabs\n2. Blanks"))
SHOWS_PLAN = run(JobState.DELIVERING, waits("plan"))


@pytest.mark.parametrize(
    ("job", "labels"),
    [
        (QUEUED, "Send a message, Stop the run"),
        (
            run(JobState.QUEUED),
            "Send a message, Pause the run, Raise the budget, Stop the run",
        ),
        (
            run(JobState.QUEUED, waits("plan"), attempts=0),
            "Send a message, Pause the run, Raise the budget, Stop the run",
        ),
        (WORKING, "Send a message, Pause the run, Raise the budget, Stop the run"),
        (
            PLAN,
            (
                "Approve the plan, Ask for another plan, Reject the plan, "
                "Raise the budget, Stop the run"
            ),
        ),
        (
            ACTION,
            (
                "Confirm this action, Reject this action, Reject and tell the agent, "
                "Raise the budget, Stop the run"
            ),
        ),
        (PAUSED, "Resume the run, Raise the budget, Stop the run"),
        (
            CHOICE,
            "Answer 1, Answer 2, Send the answer, Raise the budget, Stop the run",
        ),
        (
            SHOWS_PLAN,
            "Approve the plan, Ask for another plan, Reject the plan, Stop the run",
        ),
        (PUBLISHING, ""),
        (DONE, "Start a follow-up run, Retry"),
        (run(JobState.CANCELLED), "Start a follow-up run, Retry"),
    ],
)
def test_each_state_has_its_offers(job: Job, labels: str) -> None:
    assert ", ".join(one.label for one in offers(job, ALONE, ALICE)) == labels


def test_an_operator_can_only_retry_what_has_ended() -> None:
    assert [one.act for one in offers(DONE, ALONE, ADMIN)] == [RunAct.RETRY]
    assert offers(PLAN, ALONE, ADMIN) == offers(PLAN, ALONE, ALICE)


def test_while_another_run_of_the_thread_works_an_ended_one_has_no_offers() -> None:
    assert offers(DONE, OTHER, ALICE) == ()


@pytest.mark.parametrize("job", [QUEUED, WORKING, PLAN, ACTION, PAUSED, CHOICE, DONE])
def test_what_is_offered_can_be_sent(job: Job) -> None:
    typed = {"amount": "+2", "words": "in cents, always", "reason": "not now"}
    for one in offers(job, ALONE, ALICE):
        text = command_text(one.act, one.choice or typed.get(one.takes, ""))
        check_moment(job, ALONE, text, ALICE)


@pytest.mark.parametrize(
    ("job", "text", "why"),
    [
        (DONE, "stop", "the run 01234567 has ended already; it can be retried"),
        (DONE, "approve", "the run 01234567 has ended already; it can be retried"),
        (
            PUBLISHING,
            "stop",
            "the run 01234567 has finished its work and publishes it now",
        ),
        (WORKING, "approve", "the run 01234567 does not wait for an approval"),
        (CHOICE, "confirm", "the run 01234567 does not wait for an approval"),
        (WORKING, "resume", "the run 01234567 is not paused"),
        (WORKING, "retry", "the run 01234567 has not ended; stop it first"),
        (PAUSED, "mind the tests", "the run 01234567 is paused; resume it first"),
        (PLAN, "pause", "the run 01234567 waits for a person already"),
        (QUEUED, "budget +2", "the run 01234567 has not started yet"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_reason(
    job: Job, text: str, why: str
) -> None:
    with pytest.raises(WrongMomentError) as raised:
        check_moment(job, ALONE, text, ALICE)
    assert str(raised.value) == why


def test_a_plan_may_be_confirmed_and_an_action_approved() -> None:
    check_moment(PLAN, ALONE, "confirm", ALICE)
    check_moment(ACTION, ALONE, "approve", ALICE)


def test_who_has_no_account_on_the_forge_is_told_so() -> None:
    with pytest.raises(WrongMomentError) as raised:
        check_moment(DONE, ALONE, "now in euros", ADMIN)
    assert str(raised.value) == (
        "the run 01234567 has ended already. A new request needs an account on the "
        "forge, which an administrator does not have here. Retry the run instead"
    )


def test_the_run_that_works_is_named() -> None:
    with pytest.raises(WrongMomentError) as raised:
        check_moment(DONE, OTHER, "retry", ALICE)
    assert str(raised.value) == (
        "the run 01234567 has ended already; the run fedcba98 of the same thread has "
        "not"
    )


@pytest.mark.parametrize(
    ("act", "typed", "text"),
    [
        (RunAct.APPROVE, "", "approve"),
        (RunAct.CONFIRM, " ", "confirm"),
        (RunAct.REJECT, "too risky", "reject: too risky"),
        (RunAct.BUDGET, " +2 ", "budget +2"),
        (RunAct.BUDGET, "5", "budget 5"),
        (RunAct.MESSAGE, " in cents\n", "in cents"),
        (RunAct.RETRY, "", "retry"),
        (RunAct.RETRY, "with tests", "retry with tests"),
    ],
)
def test_an_act_is_the_command_of_a_comment(act: RunAct, typed: str, text: str) -> None:
    assert command_text(act, typed) == text
    same = {RunAct.CONFIRM: RunAct.APPROVE}
    assert act_of(text) is same.get(act, act)


@pytest.mark.parametrize("amount", ["", "two", "-1", "0", "1e9", "5; stop"])
def test_what_is_no_amount_is_refused(amount: str) -> None:
    with pytest.raises(CommandInputError, match="not an amount in US dollars"):
        command_text(RunAct.BUDGET, amount)


def test_a_message_has_words_and_not_too_many() -> None:
    with pytest.raises(CommandInputError, match="it is empty"):
        command_text(RunAct.MESSAGE, " \n")
    with pytest.raises(CommandInputError, match="the limit is 20000"):
        command_text(RunAct.MESSAGE, "x" * (MAX_TEXT_CHARS + 1))


def test_a_delivery_is_of_one_run_and_one_message() -> None:
    first, again, other = (
        make_command_delivery(
            job, "stop", ALICE, origin=CommandOrigin.WEB, message_id="m", now=NOW
        )
        for job in (WORKING, WORKING, WORKING.replace(id=JobId("other")))
    )
    assert (first.id, first.reading) == (again.id, again.reading)
    assert first.id != other.id
    assert (first.service, first.headers, first.body) == ("web", {}, b"")
