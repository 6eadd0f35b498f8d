"""Send commands and answers to a run: from its page, the API or the command line."""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, assert_never
from uuid import UUID, uuid5

from sqlalchemy import select

from patchwright.core.commands import parse_command
from patchwright.core.system.clock import Clock
from patchwright.core.types.base import JobId, Value
from patchwright.core.types.errors import SettingsError, WrongMomentError
from patchwright.core.types.people import Actor
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import WaitReason
from patchwright.core.webhook import (
    Delivery,
    DeliveryVerdict,
    InboxResult,
    make_own_delivery,
)
from patchwright.resolver.job import Job, JobState, is_over
from patchwright.resolver.messages.advice import choices
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import deliveries, jobs
from patchwright.workers.runs.administration import RunAdministration
from patchwright.workers.runs.requests import MAX_TEXT_CHARS
from patchwright.workers.runs.selection import SHORT_ID_LENGTH
from patchwright.workers.store.events import EventStore
from patchwright.workers.store.jobs import find_active_state


class CommandOrigin(StrEnum):
    """Where a command was given, as the service of its delivery."""

    WEB = "web"
    API = "api"
    CLI = "cli"


class RunAct(StrEnum):
    """What people may do with a run; a message is in words of their own."""

    APPROVE = "approve"
    CONFIRM = "confirm"
    REJECT = "reject"
    MESSAGE = "message"
    RESUME = "resume"
    PAUSE = "pause"
    BUDGET = "budget"
    STOP = "stop"
    RETRY = "retry"


class ActInput(StrEnum):
    """What is typed with an act; a reason may be left out."""

    NOTHING = "nothing"
    REASON = "reason"
    WORDS = "words"
    AMOUNT = "amount"


class RunOffer(Value):
    """One act that makes sense for a run now, and what a button for it says.

    `asks` is what the field for the words is called. A `choice` is the number of an
    answer that the question offers: with it nothing is typed.
    """

    act: RunAct
    label: str
    takes: ActInput = ActInput.NOTHING
    asks: str = ""
    hint: str = ""
    choice: str = ""


class RunStanding(Value):
    """What is known of a run besides its job.

    `active` is the run of the same conversation that has not ended, if there is one.
    """

    active: JobId | None = None


_APPROVE: Final = RunOffer(act=RunAct.APPROVE, label="Approve the plan")
_CONFIRM: Final = RunOffer(act=RunAct.CONFIRM, label="Confirm this action")
_REJECT_PLAN: Final = RunOffer(
    act=RunAct.REJECT,
    label="Reject the plan",
    takes=ActInput.REASON,
    asks="Reason, if you like",
    hint="The run ends, and nothing is changed.",
)
_REJECT_ACTION: Final = RunOffer(act=RunAct.REJECT, label="Reject this action")
_ANSWER: Final = RunOffer(
    act=RunAct.MESSAGE,
    label="Send the answer",
    takes=ActInput.WORDS,
    asks="Your answer",
)
_CHANGE_PLAN: Final = RunOffer(
    act=RunAct.MESSAGE,
    label="Ask for another plan",
    takes=ActInput.WORDS,
    asks="What should be different?",
)
_ANSWER_INSTEAD: Final = RunOffer(
    act=RunAct.MESSAGE,
    label="Reject and tell the agent",
    takes=ActInput.WORDS,
    asks="What should it do instead?",
    hint="The action is not done. The agent gets your words.",
)
_MESSAGE: Final = RunOffer(
    act=RunAct.MESSAGE,
    label="Send a message",
    takes=ActInput.WORDS,
    asks="Your message",
    hint="The agent gets it at its next step.",
)
_FOLLOW_UP: Final = RunOffer(
    act=RunAct.MESSAGE,
    label="Start a follow-up run",
    takes=ActInput.WORDS,
    asks="What should be done next?",
    hint="It starts a run in the same thread.",
)
_RESUME: Final = RunOffer(act=RunAct.RESUME, label="Resume the run")
_PAUSE: Final = RunOffer(act=RunAct.PAUSE, label="Pause the run")
_BUDGET: Final = RunOffer(
    act=RunAct.BUDGET,
    label="Raise the budget",
    takes=ActInput.AMOUNT,
    asks="Amount",
    hint="US dollars: +2 adds $2, 5 makes it $5 in all.",
)
_STOP: Final = RunOffer(
    act=RunAct.STOP, label="Stop the run", hint="The work so far is kept."
)
_RETRY: Final = RunOffer(
    act=RunAct.RETRY,
    label="Retry",
    hint="It starts a new run for the same request.",
)


def offers(job: Job, standing: RunStanding, by: Actor) -> tuple[RunOffer, ...]:
    """Return what makes sense for the run now, the likeliest first.

    It does not tell whether somebody may do it. A new request needs an account on the
    forge, which an operator need not have.
    """
    match job.state:
        case JobState.RECEIVED | JobState.QUEUED if not (
            job.attempts or _will_wait(job)
        ):
            # No worker had it; one that waited is counted from there on.
            return (_MESSAGE, _STOP)
        case JobState.RECEIVED | JobState.QUEUED | JobState.RUNNING:
            return (_MESSAGE, _PAUSE, _BUDGET, _STOP)
        case JobState.WAITING_USER:
            return (*_while_waiting(job), _BUDGET, _STOP)
        case JobState.DELIVERING:
            # It shows its question just now.
            return (*_while_waiting(job), _STOP) if _will_wait(job) else ()
        case JobState.DONE | JobState.FAILED | JobState.CANCELLED:
            if standing.active is not None:
                return ()
            return (_RETRY,) if by.is_operator else (_FOLLOW_UP, _RETRY)
        case _:
            assert_never(job.state)


def _will_wait(job: Job) -> bool:
    return job.outcome is not None and job.outcome.waits


def _while_waiting(job: Job) -> tuple[RunOffer, ...]:
    reason = job.outcome.wait_reason if job.outcome else WaitReason.QUESTION
    match reason:
        case WaitReason.PLAN:
            return (_APPROVE, _CHANGE_PLAN, _REJECT_PLAN)
        case WaitReason.CONFIRMATION:
            return (_CONFIRM, _REJECT_ACTION, _ANSWER_INSTEAD)
        case WaitReason.PAUSED:
            return (_RESUME,)
        case WaitReason.QUESTION:
            numbers = choices(job.outcome.summary) if job.outcome else ()
            return (*map(_choice_of, numbers), _ANSWER)
        case _:
            assert_never(reason)


def _choice_of(number: int) -> RunOffer:
    label = f"Answer {number}"
    return RunOffer(act=RunAct.MESSAGE, label=label, choice=str(number))


class CommandInputError(SettingsError):
    """What was typed with an act cannot be sent; the message says what to type."""

    reason = "bad-input"


def command_text(act: RunAct, typed: str) -> str:
    """Return the words that a comment in the thread would have.

    Raises `CommandInputError`.
    """
    typed = typed.strip()
    if len(typed) > MAX_TEXT_CHARS:
        raise CommandInputError(
            f"the text has {len(typed)} characters; the limit is {MAX_TEXT_CHARS}"
        )
    match act:
        case RunAct.MESSAGE:
            if not typed:
                raise CommandInputError("type a text: it is empty")
            return typed
        case RunAct.BUDGET:
            return _budget_text(typed)
        case RunAct.RETRY:
            return f"{act} {typed}".strip()
        case (
            RunAct.APPROVE
            | RunAct.CONFIRM
            | RunAct.REJECT
            | RunAct.STOP
            | RunAct.PAUSE
            | RunAct.RESUME
        ):
            return f"{act}: {typed}" if typed else str(act)
        case _:
            assert_never(act)


def _budget_text(amount: str) -> str:
    text = f"{RunAct.BUDGET} {amount}"
    command = parse_command(text)
    if command is None or command.fault or not command.argument:
        raise CommandInputError(
            f"{amount!r} is not an amount in US dollars: +2 adds $2, 5 makes it $5 "
            "in all"
        )
    return text


def act_of(text: str) -> RunAct:
    """Return what a text is for a run: an act by its command, or else a message."""
    command = parse_command(text)
    is_act = command is not None and command.verb.value in set(RunAct)
    return RunAct(command.verb) if command and is_act else RunAct.MESSAGE


def check_moment(job: Job, standing: RunStanding, text: str, by: Actor) -> None:
    """Raise `WrongMomentError` if the text makes no sense for the run now."""
    act = act_of(text)
    # A plan is approved and an action confirmed; the command is one.
    possible = {
        RunAct.APPROVE if one.act is RunAct.CONFIRM else one.act
        for one in offers(job, standing, by)
    }
    if act not in possible:
        raise WrongMomentError(_why_not(act, job, standing, by))


def _why_not(act: RunAct, job: Job, standing: RunStanding, by: Actor) -> str:
    name = job.id[:SHORT_ID_LENGTH]
    if is_over(job):
        return _why_not_ended(act, name, standing, by)
    if job.state is JobState.DELIVERING:
        return f"the run {name} has finished its work and publishes it now"
    match act:
        case RunAct.APPROVE | RunAct.CONFIRM | RunAct.REJECT:
            return f"the run {name} does not wait for an approval"
        case RunAct.RESUME:
            return f"the run {name} is not paused"
        case RunAct.RETRY:
            return f"the run {name} has not ended; stop it first"
        case RunAct.MESSAGE:
            return f"the run {name} is paused; resume it first"
        case RunAct.PAUSE | RunAct.BUDGET | RunAct.STOP:
            is_waiting = job.state is JobState.WAITING_USER
            why = "waits for a person already" if is_waiting else "has not started yet"
            return f"the run {name} {why}"
        case _:
            assert_never(act)


def _why_not_ended(act: RunAct, name: str, standing: RunStanding, by: Actor) -> str:
    ended = f"the run {name} has ended already"
    if standing.active is not None:
        other = standing.active[:SHORT_ID_LENGTH]
        return f"{ended}; the run {other} of the same thread has not"
    if act is RunAct.MESSAGE and by.is_operator:
        return (
            f"{ended}. A new request needs an account on the forge, which "
            f"{by.called} does not have here. Retry the run instead"
        )
    return f"{ended}; it can be retried"


def make_command_delivery(
    job: Job,
    text: str,
    by: Actor,
    *,
    origin: CommandOrigin,
    message_id: str,
    now: datetime,
) -> Delivery:
    """Return what a comment with this text in the run's thread would be.

    With the same `message_id` it is the same command to that run.
    """
    delivery_id = _delivery_id(job, message_id)
    trigger = Trigger(
        key=f"{origin}:{delivery_id}",
        kind=TriggerKind.COMMENT_MENTION,
        actor=by,
        thread=job.trigger.thread,
        request=text,
        title=job.trigger.title,
        installation=job.trigger.installation,
        is_off_thread=True,
    )
    return make_own_delivery(origin, delivery_id, trigger, now)


# Makes the ids of runs that an operator retries, so that one command starts one run.
_RETRIES: Final = UUID("4f0c2a52-8c51-4d9e-9d5f-0e6f7d6c1a17")


def _delivery_id(job: Job, message_id: str) -> str:
    return f"{job.id}:{message_id}"


@dataclass(frozen=True)
class _GivenId:
    """An `Ids` of one."""

    id: str

    def new(self) -> str:
        return self.id


@dataclass(frozen=True)
class RunCommands:
    """Sends what people want of a run on the way that their comments take.

    Nobody is asked here whether they may. `submit` stores a delivery, and `dispatch`
    hands a job to the queue.
    """

    origin: CommandOrigin
    database: Database
    events: EventStore
    clock: Clock
    submit: Callable[[Delivery], "Future[InboxResult]"]
    dispatch: Callable[[JobId], None]

    def standing(self, job: Job) -> RunStanding:
        with self.database.reading() as connection:
            found = find_active_state(connection, job.conversation_id)
        return RunStanding(active=found[0] if found else None)

    def send(
        self, job: Job, text: str, by: Actor, message_id: str
    ) -> "Future[InboxResult]":
        """Send a command or an answer; it may take a while, as the database may.

        A message id that was sent to the run before is a duplicate. Raises
        `WrongMomentError` and `InboxUnavailableError`, which the future may also have.
        """
        if earlier := self.find_earlier(job, message_id):
            return _at_once(earlier)
        check_moment(job, self.standing(job), text, by)
        if by.is_operator and is_over(job):
            return _at_once(self._retry(job, by, message_id))
        return self.submit(
            make_command_delivery(
                job,
                text,
                by,
                origin=self.origin,
                message_id=message_id,
                now=self.clock.now(),
            )
        )

    def find_earlier(self, job: Job, message_id: str) -> InboxResult | None:
        """Return that a message was sent before, whatever has become of it."""
        sent = select(deliveries.c.id).where(
            deliveries.c.service == self.origin,
            deliveries.c.delivery_id == _delivery_id(job, message_id),
        )
        retry = select(jobs.c.id).where(jobs.c.id == self._retry_id(job, message_id))
        with self.database.reading() as connection:
            both = select(sent.exists(), retry.scalar_subquery())
            is_stored, new_id = connection.execute(both).one()
        if not is_stored and new_id is None:
            return None
        return InboxResult(DeliveryVerdict.DUPLICATE, new_id, job.conversation_id)

    def _retry_id(self, job: Job, message_id: str) -> JobId:
        name = f"{self.origin}:{_delivery_id(job, message_id)}"
        return JobId(uuid5(_RETRIES, name).hex)

    def _retry(self, job: Job, by: Actor, message_id: str) -> InboxResult:
        """Ask again for the same, in the name of who has asked."""
        ids = _GivenId(self._retry_id(job, message_id))
        administration = RunAdministration(
            self.database, self.events, ids, self.clock, by.called
        )
        new_id = administration.retry(job)
        self.dispatch(new_id)
        return InboxResult(DeliveryVerdict.ACCEPTED, new_id, job.conversation_id)


def _at_once(result: InboxResult) -> "Future[InboxResult]":
    done: Future[InboxResult] = Future()
    done.set_result(result)
    return done
