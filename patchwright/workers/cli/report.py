"""The result of a run for people at a terminal, and for scripts with its events."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import typer
from rich.console import Console
from rich.text import Text

from patchwright.core.events.log import EventLog
from patchwright.core.events.types import Event
from patchwright.core.text.strings import count_noun
from patchwright.core.types.errors import PatchwrightError
from patchwright.core.types.evidence import Proof
from patchwright.core.types.work import FileStat, Outcome, error_outcome
from patchwright.resolver.messages.advice import refusal_words
from patchwright.resolver.messages.elements import AGENT_WROTE, cost_text, duration_text
from patchwright.resolver.messages.outcome_kinds import display_of
from patchwright.resolver.messages.proof_json import outcome_proof_as_json
from patchwright.resolver.messages.proof_words import level_sentence, level_words
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.publish.publisher import as_delivered
from patchwright.workers.cli.finished_run import FinishedRun
from patchwright.workers.cli.proof_report import (
    level_with_reason,
    print_findings,
    proof_style,
)
from patchwright.workers.cli.resolve_command import ResolveOptions
from patchwright.workers.cli.terminal import plain, print_hanging, shorten_middle

# Files of a change that are listed, and how much of each name.
_MOST_FILES: Final = 15
_MOST_CHARS: Final = 60
# What a line of `--json-stream` is.
_EVENT: Final = "event"
_RESULT: Final = "result"


def exit_code(outcome: Outcome, *, needs_proof: bool = False) -> int:
    """Return 0 for success, 3 for a failed service, model or sandbox, else 1.

    With `needs_proof` a change that is not proven is no success.
    """
    code = display_of(outcome.kind).exit_code
    is_unproven = outcome.proposes_change and outcome.proof is not Proof.PROVEN
    return 1 if code == 0 and needs_proof and is_unproven else code


def as_json(finished: FinishedRun, run_id: str = "", events: Path | None = None) -> str:
    """Write the one JSON object that `--json` prints; all its keys are always there."""
    outcome, delivered = finished.outcome, finished.delivered
    usage, shown = outcome.usage, as_delivered(outcome, delivered)
    return json.dumps(
        {
            "outcome": outcome.kind,
            "reason": outcome.reason,
            **outcome_proof_as_json(shown),
            "warnings": list(outcome.warnings),
            "notes": [*outcome.notes, *delivered.remarks],
            "summary": _summary(outcome, delivered),
            "branch": delivered.branch or None,
            "base_sha": outcome.base_sha,
            # On the branch there may be the commit as the forge has made it.
            "head_sha": delivered.head_sha or outcome.head_sha or None,
            "pr_url": delivered.pull_request_url or None,
            "patch": str(finished.patch) if finished.patch else None,
            "files": [one.model_dump() for one in finished.files],
            "cost_usd": usage.cost_usd,
            "tokens": {
                "in": usage.tokens_in,
                "out": usage.tokens_out,
                "cached": usage.tokens_cached,
            },
            "iterations": outcome.iterations,
            "seconds": outcome.seconds,
            "run_id": run_id or None,
            "events": str(events) if events else None,
            "left_out": [
                {"path": one.path, "reason": one.reason} for one in outcome.left_out
            ],
        }
    )


def failure_as_json(error: PatchwrightError, options: ResolveOptions) -> str:
    """Return the object for a run that could not even begin, without a line's end."""
    result = as_json(FinishedRun(error_outcome(error), DeliveryResult()))
    return result_line(result) if options.streams else result


def _summary(outcome: Outcome, delivered: DeliveryResult) -> str:
    """Show the run's own result text, and why it was not delivered."""
    if not delivered.refusal:
        return outcome.summary
    refused = f"Not delivered: {refusal_words(delivered.refusal)}"
    return "\n\n".join(
        part for part in (outcome.summary, refused, delivered.compare_url) if part
    )


def print_result(
    console: Console, finished: FinishedRun, commands: Sequence[str] = ()
) -> None:
    """Say how it ended: outcome and proof first, then what changed, and where it is.

    The agent's words come after ours, and `commands` to type next come last.
    """
    outcome, delivered = finished.outcome, finished.delivered
    shown = as_delivered(outcome, delivered)
    print_hanging(console, _headline(outcome, shown))
    for line in _change_lines(finished.files):
        console.print(line, soft_wrap=True)
    if outcome.proposes_change:
        level, report = shown.proof, shown.proof_report
        if level is Proof.PROVEN:
            print_hanging(console, Text(level_sentence(level, report)))
        print_findings(console, level, report, shown.evidence)
    for warning in outcome.warnings:
        _print_fact(console, "look at", warning)
    for note in (*outcome.notes, *delivered.remarks):
        _print_fact(console, "note", note)
    for text in (outcome.own_text, _quote_agent(outcome.agent_text)):
        if text:
            console.print(plain(text), soft_wrap=not console.is_terminal)
    _print_places(console, finished)
    for number, command in enumerate(commands):
        _print_fact(console, "" if number else "next", command)


def _print_places(console: Console, finished: FinishedRun) -> None:
    """Say where the change is, or why it is nowhere."""
    delivered = finished.delivered
    for label, value in (
        ("branch", delivered.branch),
        ("pull request", delivered.pull_request_url),
        ("patch", str(finished.patch or "")),
        ("not delivered", delivered.refusal),
    ):
        if value:
            _print_fact(console, label, value)


# Names and texts of different facts begin below each other.
_LABEL_CHARS: Final = len("not delivered: ")


def _print_fact(console: Console, label: str, value: str) -> None:
    """Print a fact; what does not fit its line continues below it."""
    start = Text(f"{label}:" if label else "", style="dim")
    start.pad_right(_LABEL_CHARS - start.cell_len)
    print_hanging(console, start.append_text(plain(value)), _LABEL_CHARS)


def _quote_agent(words: str) -> str:
    """Mark each line of the agent's, as none of them may pass for one of ours."""
    lines = "\n".join(f"> {line}".rstrip() for line in words.splitlines())
    return f"{AGENT_WROTE}\n{lines}" if lines else ""


def _headline(outcome: Outcome, shown: Outcome) -> Text:
    """Return the first line; of a change it says whether it is proven, or why not."""
    head = Text()
    if outcome.proposes_change:
        level, report = shown.proof, shown.proof_report
        style = f"bold {proof_style(level)}"
        head.append(f"{outcome.kind}, {level_words(level)}", style=style)
        head.append(level_with_reason(level, report).removeprefix(level_words(level)))
    else:
        style = "bold green" if outcome.kind.is_success else "bold yellow"
        head.append(str(outcome.kind), style=style)
        if outcome.reason:
            head.append(f" ({outcome.reason})")
    facts = [
        count_noun(outcome.iterations, "step"),
        duration_text(outcome.seconds),
        cost_text(outcome.usage),
    ]
    return head.append(f" · {' · '.join(facts)}", style="dim")


def _change_lines(files: Sequence[FileStat]) -> Iterator[Text]:
    """Yield a line for each file, as many as may be, and their sum."""
    if not files:
        return
    shown = files[:_MOST_FILES]
    names = [shorten_middle(one.path, _MOST_CHARS) for one in shown]
    width = max(map(len, names))
    added = max(len(str(one.insertions)) for one in shown) + 1
    for name, one in zip(names, shown, strict=True):
        plus = f"+{one.insertions}" if one.insertions else ""
        minus = f"-{one.deletions}" if one.deletions else ""
        line = Text(f"  {name:<{width}}  ")
        line.append(f"{plus:>{added}}", style="green")
        line.append(f" {minus}" if minus else "", style="red")
        line.rstrip()
        yield line
    if len(files) > len(shown):
        yield Text(f"  … and {len(files) - len(shown)} more")
    yield Text(f"  {_change_sum(files)}", style="dim")


def _change_sum(files: Sequence[FileStat]) -> str:
    added = sum(one.insertions for one in files)
    removed = sum(one.deletions for one in files)
    lines = [
        f"{count_noun(added, 'line')} added" if added else "",
        f"{removed} removed" if removed else "",
    ]
    counted = ", ".join(filter(None, lines))
    changed = f"{count_noun(len(files), 'file')} changed"
    return f"{changed}: {counted}" if counted else changed


def _event_line(event: Event) -> str:
    """Write an event as the log has it, without secrets, and its `type`."""
    return json.dumps({"type": _EVENT, **event.model_dump(mode="json")})


def result_line(result: str) -> str:
    """Add the `type` to the object that `--json` prints."""
    return json.dumps({"type": _RESULT, **json.loads(result)})


@contextmanager
def event_stream(log: EventLog, *, is_wanted: bool) -> Iterator[None]:
    """Print what is written to the log while the block runs."""
    if not is_wanted:
        yield
        return
    with log.subscribe(_Printer().show):
        yield


class _Printer:
    def __init__(self) -> None:
        self._is_read = True

    def show(self, event: Event) -> None:
        if not self._is_read:
            return
        try:
            typer.echo(_event_line(event))
        except BrokenPipeError:
            # The reader has gone; the run continues, and its log has everything.
            self._is_read = False
