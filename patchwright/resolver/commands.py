"""Answer commands and questions about a run, whether it is running or not."""

from collections.abc import Callable
from functools import partial
from typing import Final, assert_never

import structlog

from patchwright.core.channel import Channel
from patchwright.core.commands import (
    BotCommand,
    CommandAccess,
    NothingToDo,
    Question,
    ShowHelp,
    StartRun,
    TellLastRun,
    Verb,
    definition_of,
    help_text,
    is_greeting,
    parse_command,
)
from patchwright.core.events.log import EventLog
from patchwright.core.events.observations import OutcomeReached, RunStarted
from patchwright.core.events.state import RunState, WaitingState, fold
from patchwright.core.events.types import Event
from patchwright.core.system.clock import start_call
from patchwright.core.types.base import Value
from patchwright.core.types.errors import ServiceError
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.threads import ForgeThread, ThreadKind
from patchwright.core.types.triggers import (
    Trigger,
    TriggerKind,
    trigger_definition,
)
from patchwright.core.types.work import Outcome, service_outcome
from patchwright.resolver.messages.answers import (
    OpenRun,
    PastRun,
    answer_ended,
    answer_running,
)
from patchwright.resolver.messages.status import MessageHeader
from patchwright.resolver.progress import ProgressTracker
from patchwright.resolver.publish.effects import PostAnswer
from patchwright.resolver.publish.live import Carry, Find, LivePublisher
from patchwright.resolver.run import Run
from patchwright.resolver.run_plan import EarlyResult, tell_requester
from patchwright.resolver.services import StepServices
from patchwright.resolver.triage import drop_mentions, has_substance


class RunDetails(Value):
    """The fixed facts of a run, for answers to questions about it.

    `admitted` is the rule that allowed the run, `sandbox` the kind of its sandbox. With
    `keeps_out` the run's texts may repeat private words, which must not be shown in the
    repository. People with write permission can raise its budget by at most
    `max_raise_usd`. A run that waits before its work has started is `held`.
    """

    frame: MessageHeader
    trigger: Trigger
    admitted: str = ""
    sandbox: str = ""
    keeps_out: bool = False
    max_raise_usd: float = 0.0
    held: WaitingState | None = None


def load_run_status(log: EventLog, about: RunDetails) -> OpenRun:
    """Read the run's events; a run without events has not begun."""
    standing = OpenRun(
        frame=about.frame,
        trigger=about.trigger,
        admitted=about.admitted,
        held=about.held,
    )
    begun = log.read(limit=1, reverse=True, kinds=frozenset({"run_started"}))
    # The newest event may belong to an earlier run of the conversation.
    started = begun[0].payload if begun else None
    if not isinstance(started, RunStarted) or started.run_id != about.frame.run_id:
        return standing
    state, watch = RunState(), ProgressTracker(about.sandbox, begun[0].at)
    posted, now = None, begun[0].at
    for event in log.read(begun[0].id):
        state, posted = fold(state, event), _posted(event) or posted
        watch.add(event)
        # The newest event is the question itself, or came after it.
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
    """Posts one answer to each question, from the run's log.

    The run does not wait for the answer: a stop command that comes next must work.
    """

    def __init__(
        self,
        channel: Channel,
        publisher: LivePublisher,
        log: EventLog,
        about: Callable[[], RunDetails],
    ) -> None:
        self._channel, self._publisher = channel, publisher
        self._log, self._about = log, about

    def standing(self) -> OpenRun:
        return load_run_status(self._log, self._about())

    def answer(self, question: Question, trigger: Trigger, event_id: int) -> None:
        """Answer the question with this event id."""
        hides = self._about().keeps_out and isinstance(trigger.thread, ForgeThread)
        standing = self.standing().replace(shows_words=not hides)
        self.say(answer_running(question, standing), trigger, event_id)

    def say(self, text: str, trigger: Trigger, event_id: int) -> None:
        frame = self._about().frame
        mark = f"<!-- patchwright:answer={frame.run_id}:{event_id} -->"
        answer = f"{text}\n\n{mark}"
        post = partial(self._channel.post, trigger.thread, answer)
        find = partial(self._channel.find_post, trigger.thread, mark)
        start_call(partial(self._show, PostAnswer(event_id=event_id), post, find))

    def _show(self, effect: PostAnswer, post: Carry, find: Find) -> None:
        try:
            self._publisher.publish(effect, post, find)
        except ServiceError as error:
            log.warning("question_not_answered", reason=error.reason)


_NOTHING: Final = "Nothing is running in this thread."


def command_in(trigger: Trigger) -> BotCommand | None:
    """Return the command of a comment; a command must follow a mention of the bot.

    A mention alone, or with a greeting, asks what there is to ask for.
    """
    if not trigger_definition(trigger.kind).may_command:
        return None
    command = parse_command(trigger.request)
    if command is None and _says_nothing(trigger):
        return BotCommand(verb=Verb.HELP)
    return command


_MENTIONS: Final = (TriggerKind.BODY_MENTION, TriggerKind.COMMENT_MENTION)


def _says_nothing(trigger: Trigger) -> bool:
    """Tell whether a text has nothing beside the mention and a greeting.

    An issue or ticket has a title besides, and a comment of a review those beside it.
    A form of the service has no mention: it asks for the issue that it names.
    """
    opens = trigger.kind is TriggerKind.BODY_MENTION
    has_title = opens and trigger.thread.kind is not ThreadKind.CHAT
    if trigger.kind not in _MENTIONS or trigger.review_id or has_title:
        return False
    if trigger.request.strip() and not is_greeting(trigger.request):
        return False
    written = trigger.body if opens else trigger.text
    is_form = not written and trigger.thread.kind is not ThreadKind.CHAT
    text = drop_mentions(written)
    return not is_form and (is_greeting(text) or not has_substance(text))


def makes_run(trigger: Trigger) -> bool:
    """Tell whether a request can become a run: most commands only get an answer."""
    command = command_in(trigger)
    if command is None:
        return True
    return isinstance(definition_of(command.verb).when_idle, StartRun)


def answer_without_rights(services: StepServices, run: Run) -> EarlyResult | None:
    """Answer commands that need no run and no permission, in a chat or a ticket.

    Questions about a conversation's runs need permission in its repository.
    """
    has_run = run.store.find_repository() is not None
    trigger = run.trigger
    command = command_in(trigger)
    if command is None:
        return None
    access = definition_of(command.verb).access
    if has_run and access is not CommandAccess.ANYONE:
        return None
    handle = services.directory.mention_in(trigger.thread)
    answer = answer_command(trigger, handle)
    if answer is None:
        return None
    return EarlyResult(answer, (tell_requester(trigger.thread, answer.summary),))


def answer_command(
    trigger: Trigger, handle: str, last: PastRun | None = None
) -> Outcome | None:
    """Return the answer to a command in a thread without a run, or None for a request.

    `last` is the thread's last run.
    """
    command = command_in(trigger)
    if command is None:
        return None
    text, by = f"{_NOTHING} {command.fault}".strip(), ""
    effect = definition_of(command.verb).when_idle
    match effect:
        case StartRun():
            return None
        case ShowHelp():
            text = help_text(handle)
        case TellLastRun(question=question):
            if last is not None:
                is_beside_code = isinstance(trigger.thread, ForgeThread)
                text = answer_ended(question, last, is_beside_code=is_beside_code)
                by = last.outcome.by
        case NothingToDo():
            pass
        case _:
            assert_never(effect)
    return service_outcome(OutcomeKind.ANSWERED, command.verb, text, by=by)
