"""Check people's messages to a run, and turn them into messages for the model."""

import math
from collections.abc import Callable
from functools import partial
from typing import TypeGuard, assert_never

import structlog

from patchwright.core.agent.run_log import AcceptedSteering
from patchwright.core.channel import Channel
from patchwright.core.commands import (
    NO_AMOUNT,
    AnswerQuestion,
    BotCommand,
    CommandArgument,
    RaiseBudget,
    SetState,
    Verb,
    definition_of,
)
from patchwright.core.events.actions import ChangeState, Message, RaiseLimits
from patchwright.core.events.log import EventLog
from patchwright.core.events.observations import ConfirmationAsked
from patchwright.core.events.payload import AgentState
from patchwright.core.events.state import WaitingState
from patchwright.core.events.types import Event
from patchwright.core.settings.repository import FollowUpTrigger
from patchwright.core.system.clock import start_call
from patchwright.core.text.escape import as_data
from patchwright.core.text.hidden import TextCleaner
from patchwright.core.text.strings import dollars, truncate_middle
from patchwright.core.types.errors import ServiceError
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.people import Actor, Permission, login_in_mention
from patchwright.core.types.threads import ForgeThread, TalkThread, ThreadRef
from patchwright.core.types.triggers import Trigger, trigger_definition
from patchwright.core.types.work import ASKED, Outcome, Task
from patchwright.resolver.access import Permissions, find_permission, policy_with
from patchwright.resolver.admission import (
    AdmissionPolicy,
    Admitted,
    Declined,
    check_access,
    start_trigger_of,
    trigger_actors,
    with_forge_accounts,
)
from patchwright.resolver.commands import QuestionAnswerer, RunDetails, command_in
from patchwright.resolver.configuration import max_raise_usd_of
from patchwright.resolver.messages.answers import (
    OpenRun,
    budget_raised,
    how_to_raise,
    needless_command,
)
from patchwright.resolver.publish.destination import Invitation
from patchwright.resolver.publish.effects import InviteFollower
from patchwright.resolver.publish.live import (
    LivePublisher,
    acknowledge,
    decline,
    without_trace,
)
from patchwright.resolver.repository import is_answer
from patchwright.resolver.repository_resolution import name_people
from patchwright.resolver.run import Run
from patchwright.resolver.run_store import JoinedRequest
from patchwright.resolver.services import StepServices

MAX_CHARS = 8_000

log = structlog.get_logger(__name__)


class Steering:
    """Lets a person steer a run if the person could have started it.

    `settle` records that an event was handled, whatever happens to the run. `about`
    returns the facts of the run, for answers to questions. `permission_of` asks the
    forge for each message. `find_person` returns a person's forge account; a person
    without one gets the invitation that `invite` makes. `named` replaces ids by names.
    Whom `ask_to_sign_in` has something to tell needs an account here first.
    """

    def __init__(
        self,
        channel: Channel,
        policy: AdmissionPolicy,
        log: EventLog,
        load_requests: Callable[[], tuple[JoinedRequest, ...]],
        *,
        publisher: LivePublisher,
        settle: Callable[[int], None],
        about: Callable[[], RunDetails],
        permission_of: Permissions,
        find_person: Callable[[Actor], Actor | None],
        named: Callable[[Trigger], Trigger],
        invite: Callable[[Actor], Invitation | None],
        ask_to_sign_in: Callable[[Actor], str],
    ) -> None:
        self._channel, self._policy = channel, policy
        self._publisher = publisher
        self._find_person, self._invite = find_person, invite
        self._named, self._ask_to_sign_in = named, ask_to_sign_in
        self._load_requests, self._settle = load_requests, settle
        self._log = log
        self._about = about
        self._answering = QuestionAnswerer(channel, publisher, log, about)
        self._permission_of = permission_of

    def receive(self, event: Event) -> AcceptedSteering | None:
        """Check a message of the log; ignore a message that belongs to no request."""
        joined = self._load_requests()
        request = next((one for one in joined if one.event_id == event.id), None)
        return self.judge(request.trigger, event.id) if request else None

    def judge(self, trigger: Trigger, event_id: int) -> AcceptedSteering | None:
        """Check a person's message, which is the event with this id.

        The message is settled then, except for a text that the model must still read
        and for a request for another run.
        """
        accepted = self._judge(trigger, event_id)
        command = command_in(trigger)
        is_retry = command is not None and command.verb is Verb.RETRY
        if not isinstance(accepted, Message) and (accepted is None or not is_retry):
            self._settle(event_id)
        return accepted

    def _judge(self, trigger: Trigger, event_id: int) -> AcceptedSteering | None:
        # A reaction takes time: a stop command must not wait for it, and not for the
        # reactions to messages of strangers.
        is_unaddressed = trigger_definition(trigger.kind).is_unaddressed
        if is_unaddressed and self._is_hidden_from(trigger.thread):
            return None
        identified = with_forge_accounts(trigger, self._find_person)
        if identified is None:
            start_call(
                partial(decline, self._publisher, self._channel, trigger)
                if is_unaddressed
                else partial(self._send_invitation, trigger)
            )
            return None
        trigger = identified
        judged = self._admit(trigger)
        if isinstance(judged, Declined):
            if not judged.silent:
                start_call(partial(decline, self._publisher, self._channel, trigger))
            return None
        if self._ask_to_sign_in(trigger.asker):
            start_call(partial(decline, self._publisher, self._channel, trigger))
            return None
        start_call(partial(acknowledge, self._publisher, self._channel, trigger))
        command = command_in(trigger)
        if command is None or _is_request(command):
            return _follow_up(self._named(trigger))
        return self._apply_command(command, trigger, event_id)

    def _is_hidden_from(self, thread: ThreadRef) -> bool:
        """Tell whether a thread does not show what the run waits for.

        Whoever talks there without a mention does not answer it.
        """
        about = self._about()
        return about.keeps_out and isinstance(thread, ForgeThread)

    def _admit(self, trigger: Trigger) -> Admitted | Declined:
        """Check the person's access; a review must also be an allowed trigger."""
        start_trigger = start_trigger_of(trigger.kind)
        return check_access(
            trigger_actors(trigger),
            self._policy,
            partial(self._permission_of, self._about().trigger.home),
            start_trigger=start_trigger
            if start_trigger is FollowUpTrigger.REVIEW
            else None,
        )

    def _apply_command(
        self, command: BotCommand, trigger: Trigger, event_id: int
    ) -> Message | ChangeState | RaiseLimits | None:
        """Return the effect of a command on the run, or answer a question."""
        effect = definition_of(command.verb).while_running
        match effect:
            case SetState(state=state, answers_confirmation=answers):
                if idle := needless_command(command, self._answering.standing()):
                    self._answering.say(idle, trigger, event_id)
                    return None
                digest = self._asked_before(event_id) if answers else ""
                who = trigger.asker.called
                return ChangeState(state=state, reason=who, digest=digest)
            case AnswerQuestion(question=question):
                self._answering.answer(question, trigger, event_id)
                return None
            case RaiseBudget():
                return self._raise(command, trigger, event_id)
            case _:
                assert_never(effect)

    def _send_invitation(self, trigger: Trigger) -> None:
        def send() -> None:
            # The link is made only now: it must not be stored anywhere.
            invitation = self._invite(trigger.actor)
            if invitation is not None:
                self._channel.tell_privately(
                    trigger.thread, trigger.actor, invitation.text, invitation.offers
                )

        try:
            effect = InviteFollower(request=trigger.key)
            self._publisher.publish(effect, without_trace(send))
        except ServiceError as error:
            log.warning("reaction_not_shown", reason=error.reason)

    def _raise(
        self, command: BotCommand, trigger: Trigger, event_id: int
    ) -> RaiseLimits | None:
        standing = self._answering.standing()
        more = compute_raise(
            command,
            standing,
            most_usd=self._about().max_raise_usd,
            is_admin=partial(self._are_admins, trigger),
        )
        if isinstance(more, float):
            told = budget_raised(standing, more)
            self._answering.say(told, trigger, event_id)
            return RaiseLimits(cost_usd=more, reason=trigger.asker.called)
        self._answering.say(more, trigger, event_id)
        return None

    def _are_admins(self, trigger: Trigger) -> bool:
        """Tell whether all authors of the request are admins on the forge, or ours."""
        return all(map(self._is_admin, trigger_actors(trigger)))

    def _is_admin(self, actor: Actor) -> bool:
        if actor.is_operator:
            return True
        found = self._permission_of(self._about().trigger.home, actor)
        return found is not None and found.allows(Permission.ADMIN)

    def _asked_before(self, event_id: int) -> str:
        """Return the digest of the action that the person was asked about."""
        kinds = frozenset({"confirmation_asked"})
        asked = self._log.read(1, event_id, limit=1, reverse=True, kinds=kinds)
        found = [e.payload for e in asked if isinstance(e.payload, ConfirmationAsked)]
        return found[0].digest if found else ""


def open_steering(
    services: StepServices, run: Run, held: WaitingState | None = None
) -> Steering:
    """Return what judges the messages of a run, which may wait before its work."""
    plan = run.plan
    about = RunDetails(
        frame=plan.frame,
        trigger=run.trigger,
        admitted=plan.admitted,
        sandbox=services.sandboxes.kind,
        keeps_out=plan.openness.keeps_out,
        max_raise_usd=max_raise_usd_of(services.settings.limits),
        held=held,
    )
    return Steering(
        services.channel,
        policy_with(services, plan.config),
        run.log,
        run.store.load_requests,
        publisher=services.live,
        settle=run.store.settle_request,
        about=lambda: about,
        # Asked for each message: a person who lost a role must not steer any longer.
        permission_of=partial(find_permission, services.code_host.forge),
        find_person=services.chat.find_person,
        named=partial(name_people, services),
        invite=services.chat.invite,
        ask_to_sign_in=services.chat.ask_to_sign_in,
    )


def _is_request(command: BotCommand) -> bool:
    """Tell whether a command has a request text for a run that works already."""
    takes_request = definition_of(command.verb).argument is CommandArgument.REQUEST
    return takes_request and bool(command.argument)


def _follow_up(trigger: Trigger) -> Message:
    cleaner = TextCleaner()
    text = truncate_middle(cleaner.clean(trigger.request), MAX_CHARS)
    text = as_data("follow-up", trigger.asker.login, text)
    # Hidden parts were removed from the request already; count those of the text too.
    cleaner.clean(trigger.text if trigger.text != trigger.request else "")
    return Message(text=text, removed=cleaner.removed)


def compute_raise(
    command: BotCommand,
    run: OpenRun,
    *,
    most_usd: float,
    is_admin: Callable[[], bool],
) -> float | str:
    """Return the US dollars to add, or a text that says why nothing is added.

    An amount without a plus sign is the new total budget; it is never lowered. Only an
    admin can raise the budget by more than `most_usd` in total.
    """
    wanted = _wanted(command, run)
    if isinstance(wanted, str):
        return wanted
    left_usd = most_usd - run.progress.more_cost_usd
    # Sums of floats are not exact, and no setting is smaller than a millionth.
    if round(wanted - left_usd, 6) <= 0 or is_admin():
        return wanted
    return (
        f"{dollars(wanted)} more is too much. People with write access add at most "
        f"{dollars(most_usd)} to a run, and {dollars(max(0.0, left_usd))} of that is "
        "left. An admin of the repository can add more."
    )


def _wanted(command: BotCommand, run: OpenRun) -> float | str:
    if command.fault:
        return command.fault
    if run.task is None:
        return "The run has not started yet. Try again once it works."
    amount = float(command.argument.removeprefix("+"))
    if not math.isfinite(amount) or amount <= 0:
        return NO_AMOUNT
    if command.argument.startswith("+"):
        return amount
    allowed = run.progress.allowed(run.frame.limits).max_cost_usd
    if amount > allowed:
        return amount - allowed
    return f"The budget is {dollars(allowed)} already. {how_to_raise(run)}"


def with_follow_ups(
    services: StepServices, run: Run, steering: Steering, task: Task
) -> tuple[Task, Outcome | None]:
    """Add the joined requests to the task.

    If a person sent `stop`, also return how the job ends.
    """
    for request in run.store.load_requests():
        if request.event_id > run.start_id:
            break
        if _answers_earlier_question(services, request.trigger):
            continue
        accepted = steering.judge(request.trigger, request.event_id)
        if is_stop(accepted):
            return task, _stopped(accepted.reason, task.removed)
        if isinstance(accepted, Message):
            task = _with_message(task, accepted)
    return task, None


def is_stop(accepted: AcceptedSteering | None) -> TypeGuard[ChangeState]:
    match accepted:
        case ChangeState(state=AgentState.STOPPED):
            return True
        case _:
            return False


def _answers_earlier_question(services: StepServices, trigger: Trigger) -> bool:
    """Tell whether the request answers a question from before the run began."""
    if not isinstance(trigger.thread, TalkThread):
        return False
    return is_answer(trigger.request, services.chat.find_places())


def _stopped(who: str, removed: int) -> Outcome:
    text = f"Stopped by {who} before the run started."
    return Outcome(
        kind=OutcomeKind.STOPPED,
        reason=ASKED,
        summary=text,
        service_text=text,
        by=login_in_mention(who),
        removed=removed,
    )


def _with_message(task: Task, message: Message) -> Task:
    text = f"{task.text}\n\n{message.text}"
    return task.replace(text=text, removed=task.removed + message.removed)
