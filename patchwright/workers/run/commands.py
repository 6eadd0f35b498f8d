"""Answer commands and questions about a run, with or without one at work."""

from collections.abc import Callable
from functools import partial

import structlog

from patchwright.core.channel import Channel
from patchwright.core.clock import start_call
from patchwright.core.errors import ServiceError
from patchwright.core.events.log import EventLog
from patchwright.core.events.state import RunState, fold
from patchwright.core.events.types import Event, OutcomeReached, RunStarted
from patchwright.core.text.mentions import BotCommand, Verb, parse_command
from patchwright.core.types.base import Value
from patchwright.core.types.threads import ForgeThread
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import Outcome, OutcomeKind, service_outcome
from patchwright.resolver.job import Job
from patchwright.resolver.messages.answers import (
    PastRun,
    RunStatus,
    answer_ended,
    answer_running,
    help_text,
)
from patchwright.resolver.messages.status import MessageHeader
from patchwright.resolver.progress import ProgressTracker
from patchwright.resolver.run_plan import EarlyResult, tell_requester
from patchwright.workers.run.services import RunServices
from patchwright.workers.run.status import handle_of


class RunDetails(Value):
    """What is fixed about a run, for those who ask about it.

    `admitted` is the rule that let it in, `sandbox` the kind it works in. With
    `keeps_out` its words may repeat what nobody may read beside the code. People who
    may write add at most `max_raise_usd` to what it may cost.
    """

    frame: MessageHeader
    trigger: Trigger
    admitted: str = ""
    sandbox: str = ""
    keeps_out: bool = False
    max_raise_usd: float = 0.0


def load_run_status(log: EventLog, about: RunDetails) -> RunStatus:
    """Read the run's events; one that has none yet has not begun."""
    standing = RunStatus(
        frame=about.frame, trigger=about.trigger, admitted=about.admitted
    )
    begun = log.read(limit=1, reverse=True, kinds=frozenset({"run_started"}))
    # The newest one may be of an earlier run of the conversation.
    started = begun[0].payload if begun else None
    if not isinstance(started, RunStarted) or started.run_id != about.frame.run_id:
        return standing
    state, watch = RunState(), ProgressTracker(about.sandbox, begun[0].at)
    posted, now = None, begun[0].at
    for event in log.read(begun[0].id):
        state, posted = fold(state, event), _posted(event) or posted
        watch.add(event)
        # The newest is the question itself, or came after it.
        now = event.at
    return standing.replace(
        task=started.task,
        progress=watch.progress(now),
        held=state.held_as,
        posted=posted,
    )


def _posted(event: Event) -> Outcome | None:
    match event.payload:
        case OutcomeReached(outcome=outcome) if outcome.waits:
            return outcome
        case _:
            return None


log = structlog.get_logger(__name__)


class QuestionAnswerer:
    """Posts one answer to each question, from what the run's log says.

    The run does not wait for that: whoever says stop next must be heard.
    """

    def __init__(
        self, channel: Channel, log: EventLog, about: Callable[[], RunDetails]
    ) -> None:
        self._channel, self._log, self._about = channel, log, about

    def standing(self) -> RunStatus:
        return load_run_status(self._log, self._about())

    def answer(self, verb: Verb, trigger: Trigger, event_id: int) -> None:
        """Answer the question that is the event of that id."""
        hides = self._about().keeps_out and isinstance(trigger.thread, ForgeThread)
        standing = self.standing().replace(shows_words=not hides)
        self.say(answer_running(verb, standing), trigger, event_id)

    def say(self, text: str, trigger: Trigger, event_id: int) -> None:
        frame = self._about().frame
        mark = f"<!-- patchwright:answer={frame.run_id}:{event_id} -->"
        said = f"{text}\n\n{mark}"
        start_call(partial(self._post, trigger, said, mark))

    def _post(self, trigger: Trigger, text: str, mark: str) -> None:
        """Post it, unless a worker that was lost has done so."""
        try:
            if self._channel.find_post(trigger.thread, mark) is None:
                self._channel.post(trigger.thread, text)
        except ServiceError as error:
            log.warning("question_not_answered", reason=error.reason)


_ABOUT_THE_LAST = frozenset({Verb.STATUS, Verb.COST, Verb.WHY})
# They make a run of their own.
_REQUESTS = frozenset({Verb.RETRY, Verb.PLAN})
_NOTHING = "Nothing is running in this thread."


def command_in(trigger: Trigger) -> BotCommand | None:
    """Return the command that somebody gave us; only what follows a mention is one."""
    if trigger.kind is TriggerKind.REVIEW or trigger.kind.is_automatic:
        return None
    return parse_command(trigger.request)


def answer_without_rights(services: RunServices, job: Job) -> EarlyResult | None:
    """Answer what needs no run and no rights, where no code lives.

    What somebody asks about a conversation's runs takes rights in its repository.
    """
    has_run = services.stores.threads.repository_of(job.conversation_id) is not None
    command = command_in(job.trigger)
    if command is None or (has_run and command.verb is not Verb.HELP):
        return None
    handle = handle_of(services.settings, job.trigger.thread)
    answer = answer_command(job.trigger, handle)
    if answer is None:
        return None
    return EarlyResult(answer, (tell_requester(job.trigger.thread, answer.summary),))


def answer_command(
    trigger: Trigger, handle: str, last: PastRun | None = None
) -> Outcome | None:
    """Return the answer to a command in a thread without a run, or None for a request.

    `last` is the thread's last run. `retry` is a request: the thread as it is now is
    worked on again. So is `plan`.
    """
    command = command_in(trigger)
    if command is None or command.verb in _REQUESTS:
        return None
    text, by = _NOTHING, ""
    if command.fault:
        text = f"{_NOTHING} {command.fault}"
    elif command.verb is Verb.HELP:
        text = help_text(handle)
    elif command.verb in _ABOUT_THE_LAST and last is not None:
        is_beside_code = isinstance(trigger.thread, ForgeThread)
        text = answer_ended(command.verb, last, is_beside_code=is_beside_code)
        by = last.outcome.by
    return service_outcome(OutcomeKind.ANSWERED, command.verb, text, by=by)
