"""The answers to questions about a run: while it works, and when it has ended."""

from typing import Final, assert_never

from patchwright.core.commands import BotCommand, Question, Verb, help_text
from patchwright.core.events.payload import AgentState
from patchwright.core.events.state import WaitingState
from patchwright.core.text.mentions import neutralise
from patchwright.core.text.strings import count_noun, dollars
from patchwright.core.types.base import Value
from patchwright.core.types.triggers import Trigger, trigger_definition
from patchwright.core.types.work import Outcome, Task, Usage, WaitReason
from patchwright.resolver.messages.advice import next_step
from patchwright.resolver.messages.elements import (
    cost_text,
    duration_text,
    join,
    outcome_text,
    raise_example,
)
from patchwright.resolver.messages.readers import for_reader
from patchwright.resolver.messages.result import headline
from patchwright.resolver.messages.status import (
    DeliveryResult,
    MessageHeader,
    Progress,
    checklist,
    run_link,
)

_MAX_WORDS_CHARS: Final = 8_000


class OpenRun(Value):
    """How a run stands.

    `admitted` is the rule that let it in. Without a `task` it has not begun. `held` is
    the state it waits in, and `posted` what it has said when it began to wait. Private
    text is shown only with `shows_words`.
    """

    frame: MessageHeader
    trigger: Trigger
    admitted: str = ""
    task: Task | None = None
    progress: Progress = Progress()
    held: WaitingState | None = None
    posted: Outcome | None = None
    shows_words: bool = True


class PastRun(Value):
    """An ended run, and what it published."""

    frame: MessageHeader
    trigger: Trigger
    outcome: Outcome
    delivered: DeliveryResult = DeliveryResult()


def answer_running(question: Question, run: OpenRun) -> str:
    """Answer a question about a run that has not ended."""
    match question:
        case Verb.STATUS:
            text = _status(run)
        case Verb.COST:
            text = _cost(run)
        case Verb.WHY:
            text = join(_why(run.trigger, run.frame, run.admitted), _pinned_facts(run))
        case Verb.PLAN:
            text = _plan(run)
        case Verb.HELP:
            text = help_text(run.frame.handle)
        case _:
            assert_never(question)
    return neutralise(text, run.frame.handle)


def answer_ended(
    question: Question, run: PastRun, *, is_beside_code: bool = True
) -> str:
    """Answer a question about a run that has ended."""
    outcome, frame = run.outcome, run.frame
    head = " · ".join(
        part
        for part in (
            headline(outcome, run.delivered, is_beside_code=is_beside_code),
            count_noun(outcome.iterations, "step"),
            duration_text(outcome.seconds),
            cost_text(outcome.usage),
            run_link(frame, "run"),
        )
        if part
    )
    if question is Verb.COST:
        tokens = _tokens(outcome.usage)
        return f"Nothing is running here. The last run used {tokens}\n\n{head}"
    outcome = for_reader(outcome, frame.reader)
    words = outcome_text(outcome, frame.handle, _MAX_WORDS_CHARS, frame.links)
    reason = f"It ended as `{outcome.kind}`{_because(outcome)}."
    advice = next_step(
        outcome, run.delivered, frame.handle, frame.limits, reader=frame.reader
    )
    intro = "Nothing is running here. This is how the last run ended:"
    why = join(_why(run.trigger, frame, ""), reason) if question is Verb.WHY else ""
    return neutralise(join(intro, head, why, words, advice), frame.handle)


def _status(run: OpenRun) -> str:
    progress, limits = run.progress, run.progress.allowed(run.frame.limits)
    if run.task is None and run.held:
        return f"{_waiting_text(run.held)}: the work has not started yet."
    if run.task is None:
        return "**Not started yet**: reading the thread and the repository."
    parts = (
        _waiting_text(run.held) if run.held else "**Working on it**",
        f"step {progress.iterations} of {limits.max_iterations}",
        duration_text(progress.seconds),
        cost_text(progress.usage, limits),
        run_link(run.frame, "live log"),
    )
    head = " · ".join(part for part in parts if part)
    words = checklist(progress, run.frame.handle) if run.shows_words else ""
    return join(head, words)


def _waiting_text(state: WaitingState) -> str:
    match state:
        case AgentState.PAUSED:
            return "**Paused**"
        case AgentState.AWAITING_USER_INPUT:
            return "**Waiting for an answer**"
        case AgentState.AWAITING_USER_CONFIRMATION:
            return "**Waiting for an approval**"
        case _:
            assert_never(state)


def _cost(run: OpenRun) -> str:
    progress = run.progress
    spent = cost_text(progress.usage, progress.allowed(run.frame.limits))
    return (
        f"{spent} so far, for {count_noun(progress.iterations, 'step')}: "
        f"{_tokens(progress.usage)} {how_to_raise(run)}"
    )


def how_to_raise(run: OpenRun) -> str:
    """Say in a sentence how people allow the run to cost more."""
    frame = run.frame
    example = raise_example(frame.max_raise_usd, run.progress.more_cost_usd)
    if not example:
        return f"Admins of the repository can add more with `{frame.handle} budget`."
    return f"`{frame.handle} budget {example}` adds {dollars(float(example))}."


def budget_raised(run: OpenRun, more_usd: float) -> str:
    """Say what the run may cost now, and what it has."""
    progress = run.progress
    allowed = progress.allowed(run.frame.limits).max_cost_usd + more_usd
    spent = cost_text(progress.usage)
    return f"The budget is {dollars(allowed)} now. Spent so far: {spent}."


def needless_command(command: BotCommand, run: OpenRun) -> str:
    """Say that a command changes nothing; empty where it does, or may do."""
    if run.task is None:
        return ""
    held, verb = run.held, command.verb
    if verb is Verb.RESUME and held is None:
        return "The run is not paused."
    if verb is Verb.PAUSE and held is AgentState.PAUSED:
        return "The run is paused already."
    if verb in (Verb.APPROVE, Verb.REJECT) and held is None:
        return "Nothing waits for an approval."
    return ""


def _tokens(usage: Usage) -> str:
    return (
        f"{usage.tokens_in:,} tokens in ({usage.tokens_cached:,} of them cached) and "
        f"{usage.tokens_out:,} out."
    )


_PLAN_NOT_SHOWN: Final = (
    "The plan is not shown here, because this thread is public. Ask for it in the "
    "thread of the request."
)


def _plan(run: OpenRun) -> str:
    if not run.shows_words:
        return _PLAN_NOT_SHOWN
    if run.posted is not None and run.posted.wait_reason is WaitReason.PLAN:
        handle, links = run.frame.handle, run.frame.links
        return outcome_text(run.posted, handle, _MAX_WORDS_CHARS, links)
    if run.progress.todos:
        return checklist(run.progress, run.frame.handle)
    return "There is no plan yet."


_OFF_THREAD: Final = "on a page of Patchwright, by its API or its command line"


def _why(trigger: Trigger, frame: MessageHeader, admitted: str) -> str:
    how = (
        _OFF_THREAD if trigger.is_off_thread else trigger_definition(trigger.kind).words
    )
    lines = [f"Requested by {frame.requester}, {how}."]
    if admitted:
        lines.append(f"Allowed, because {admitted}.")
    return "\n".join(f"- {line}" for line in lines)


def _pinned_facts(run: OpenRun) -> str:
    lines = []
    if run.frame.asked_at is not None:
        lines.append(f"Thread read at {run.frame.asked_at:%H:%M:%S} UTC.")
    if run.task is not None:
        base = f" of `{run.task.base_branch}`" if run.task.base_branch else ""
        lines.append(f"Work starts from `{run.task.base_sha[:10]}`{base}.")
    return "\n".join(f"- {line}" for line in lines)


def _because(outcome: Outcome) -> str:
    return f" (`{outcome.reason}`)" if outcome.reason else ""
