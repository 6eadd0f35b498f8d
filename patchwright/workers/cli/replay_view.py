"""A recorded run for people at a terminal."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Console
from rich.text import Text

from patchwright.core.agent.view import observation_text
from patchwright.core.events.observations import ModelReply
from patchwright.core.events.state import ModelCall, ModelCallTotals, RunMetrics
from patchwright.core.events.types import Event, Observation
from patchwright.core.replay.story import CallSummary, Step, Story, StoryNote, Tone
from patchwright.core.replay.trajectory import RunFacts
from patchwright.core.text.strings import count_noun, dollars
from patchwright.resolver.messages.elements import cost_text, duration_text
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.workers.cli.finished_run import FinishedRun
from patchwright.workers.cli.report import print_result
from patchwright.workers.cli.terminal import plain, print_hanging, print_line

_STYLES: Final = {
    Tone.PLAIN: "",
    Tone.GOOD: "green",
    Tone.BAD: "red",
    Tone.OPEN: "yellow",
}


UNFINISHED: Final = "The log ends here, before the end of the run."


def print_story(console: Console, story: Story) -> None:
    """Show a recorded run, and how it ended."""
    print_hanging(console, plain(story.facts.title or "A run without a title", "bold"))
    for line in facts_lines(story.facts):
        print_hanging(console, line)
    print_steps(console, story)
    if story.outcome is None:
        console.print(Text(UNFINISHED), soft_wrap=True)
    else:
        print_result(console, FinishedRun(story.outcome, DeliveryResult()))


def print_steps(console: Console, story: Story) -> None:
    """Show the steps, what happened beside them, and what they took together."""
    console.print()
    console.print(Text(f"{'step':>4} {'tokens':>8} {'cost':>8}", style="dim"))
    for part in story.parts:
        if isinstance(part, Step):
            _print_step_lines(console, part)
        elif not _is_in_result(part, story):
            _print_remark(console, part)
    console.print()
    for line in _totals(story.metrics):
        print_hanging(console, line)


def _is_in_result(remark: StoryNote, story: Story) -> bool:
    """Tell whether the outcome says it again, with the commit it was run on."""
    is_evidence = remark.kind == "evidence_recorded"
    return is_evidence and bool(story.outcome and story.outcome.evidence)


def print_step(console: Console, step: Step, events: Sequence[Event]) -> None:
    """Show a whole step: the model's text, each call, and its result."""
    payloads = {event.id: event.payload for event in events}
    reply = payloads.get(step.event_id)
    called = _join(
        step.call.model,
        f"{_tokens(step.call)} tokens",
        _price(step.call),
        f"{step.call.latency_ms / 1000:.1f} s",
    )
    console.print(Text(f"step {step.number}", style="bold"), plain(called, "dim"))
    if isinstance(reply, ModelReply):
        _print_words(console, reply.text or step.call.failure)
        for call in reply.tool_calls:
            act = next(one for one in step.acts if one.call_id == call.id)
            heading = plain(f"{call.name} {call.arguments}", "bold")
            console.print(Text("\n").append_text(heading), soft_wrap=True)
            result = payloads.get(act.result_id or 0)
            if isinstance(result, Observation):
                _print_words(console, observation_text(result))
            else:
                _print_words(console, act.result.text)


def _print_words(console: Console, text: str) -> None:
    if text.strip():
        console.print(plain(text.rstrip()), soft_wrap=not console.is_terminal)


def facts_lines(facts: RunFacts) -> Iterator[Text]:
    """Yield what is known of a run besides its title and its state."""
    base = facts.base_sha[:10]
    where = f"{base} on {facts.base_branch}" if facts.base_branch else base
    when = f"{facts.started_at:%Y-%m-%d %H:%M} UTC" if facts.started_at else ""
    version = f"patchwright {facts.patchwright}" if facts.patchwright else ""
    known = _join(where, facts.model, when, version)
    if known:
        yield plain(known, "dim")
    if limits := facts.limits:
        bounds = _join(
            count_noun(limits.max_iterations, "step"),
            dollars(limits.max_cost_usd),
            f"{limits.max_tokens:,} tokens",
            duration_text(limits.max_minutes * 60),
        )
        yield Text(f"limits {bounds}", style="dim")


def _print_step_lines(console: Console, step: Step) -> None:
    first, *others = step.acts or (None,)
    _print_act(console, _figures(str(step.number), step.call), step, first)
    for act in others:
        _print_act(console, _figures("", None), step, act)


def _print_act(
    console: Console, start: Text, step: Step, act: CallSummary | None
) -> None:
    start.append("│ " * step.depth, style="dim")
    if act is not None:
        result = plain(act.result.text, _STYLES[act.result.tone])
        print_line(console, start.append_text(plain(act.text)), result)
    elif step.call.failure:
        failed = plain(step.call.failure, "red")
        print_line(console, start.append("the model did not answer"), failed)
    else:
        print_line(console, start.append_text(plain(f"“{step.said}”", "italic")))


def _print_remark(console: Console, remark: StoryNote) -> None:
    start = _figures("·", remark.call).append("│ " * remark.depth, style="dim")
    text = plain(remark.text, _STYLES[remark.tone] or "dim")
    print_line(console, start.append_text(text))


def _figures(name: str, call: ModelCall | None) -> Text:
    """Return the columns of a line: its number, and what the model call took."""
    tokens, price = (_tokens(call), _price(call)) if call else ("", "")
    return Text().append(f"{name:>4} {tokens:>8} {price:>8}  ", style="dim")


def _tokens(call: ModelCall) -> str:
    return f"{call.usage.tokens_in + call.usage.tokens_out:,}"


def _price(call: ModelCall) -> str:
    cost_usd = call.usage.cost_usd
    return "$?" if cost_usd is None else f"${cost_usd:.4f}"


def _totals(metrics: RunMetrics) -> Iterator[Text]:
    yield Text(f"model calls: {_total(metrics.total)}")
    groups = [one for one in (metrics.by_role, metrics.by_model) if len(one) > 1]
    for group in groups:
        for name, total in group.items():
            yield plain(f"  {name or 'unnamed'}: {_total(total)}", "dim")


def _total(total: ModelCallTotals) -> str:
    usage = total.usage
    cached = f" ({usage.tokens_cached:,} cached)" if usage.tokens_cached else ""
    known = f"at least ${total.priced_usd:.4f}" if total.priced_usd else ""
    return _join(
        f"{total.calls:,}",
        f"{total.failures:,} failed" if total.failures else "",
        f"{usage.tokens_in:,} tokens in{cached}, {usage.tokens_out:,} out",
        cost_text(usage) if not total.unpriced else known or "price unknown",
        f"{duration_text(total.latency_ms / 1000)} waited",
    )


def _join(*parts: str) -> str:
    return " · ".join(part for part in parts if part)
