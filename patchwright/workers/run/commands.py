"""Answer commands that need no run."""

from patchwright.core.text.commands import BotCommand, Verb, parse_command
from patchwright.core.types.threads import ForgeThread
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import Outcome, OutcomeKind, service_outcome
from patchwright.resolver.messages.answers import PastRun, answer_ended, help_text
from patchwright.workers.run.framing import handle_of
from patchwright.workers.run.services import RunServices
from patchwright.workers.run.wait import EarlyResult, tell_requester
from patchwright.workers.store.job import Job

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
