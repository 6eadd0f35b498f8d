"""A list of runs, as a table for people and as JSON for scripts."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from pydantic import JsonValue
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from patchwright.core.replay.story import Story
from patchwright.core.text.strings import dollars
from patchwright.core.types.evidence import Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Outcome
from patchwright.resolver.messages.proof_json import outcome_proof_as_json
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.publish.publisher import as_delivered
from patchwright.workers.cli.proof_report import proof_style
from patchwright.workers.cli.terminal import plain
from patchwright.workers.runs.run_row import LOCAL_PLACE, RunRow
from patchwright.workers.runs.selection import SHORT_ID_LENGTH, RunStage


def runs_as_json(runs: Sequence[RunRow]) -> str:
    return json.dumps({"runs": [_row_as_json(one) for one in runs]})


def _row_as_json(run: RunRow) -> dict[str, JsonValue]:
    """Return a run; `id` is the former name of `run_id`, for one more release."""
    return {"run_id": run.id, **run.model_dump(mode="json")}


def run_as_json(
    run: RunRow, story: Story, outcome: Outcome | None, delivered: DeliveryResult
) -> str:
    """Write what the run is and where its result is, then its steps."""
    return json.dumps(
        {
            "run": _row_as_json(run),
            "summary": outcome.summary if outcome else "",
            **_proof(outcome, delivered),
            "warnings": list(outcome.warnings) if outcome else [],
            "notes": [*outcome.notes, *delivered.remarks] if outcome else [],
            "left_out": [one.model_dump(mode="json") for one in outcome.left_out]
            if outcome
            else [],
            "branch": delivered.branch or None,
            "pr_url": delivered.pull_request_url or None,
            "refusal": delivered.refusal,
            "steps": [one.model_dump(mode="json") for one in story.steps],
            "remarks": [one.model_dump(mode="json") for one in story.remarks],
            "metrics": story.metrics.model_dump(mode="json"),
        }
    )


def _proof(outcome: Outcome | None, delivered: DeliveryResult) -> dict[str, JsonValue]:
    """Return the proof of what is there now."""
    shown = as_delivered(outcome, delivered) if outcome else None
    return outcome_proof_as_json(shown) if shown else {"proof": None, "evidence": []}


# Where nobody looks at the width, no line is cut.
_UNBOUNDED: Final = 10_000
_STEPS_FROM: Final = 92
_TITLE_FROM: Final = 110
_MOST_TITLE: Final = 60
_MOST_LOGIN: Final = 12
# What all columns take but those of the place, the login and the title.
_FIXED: Final = 64
_LEAST_PLACE: Final = 12
_GOOD: Final = frozenset(kind for kind in OutcomeKind if kind.is_success)
_PROOFS: Final = {
    Proof.PROVEN: "proven",
    Proof.SHOWN_BY_COMMAND: "by command",
    Proof.NOT_PROVEN: "not proven",
    Proof.CONTRADICTED: "contradicted",
    Proof.NONE: "-",
}
_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))
_HEADINGS: Final = ("run", "state", "proof", "where", "by", "steps", "cost", "age")
_FIGURES: Final = frozenset({"steps", "age"})


def print_runs(runs: Sequence[RunRow], now: datetime) -> None:
    console = Console()
    if not console.is_terminal:
        console = Console(width=_UNBOUNDED, color_system=None)
    logins = [len(one.requester) for one in runs]
    place = max(_LEAST_PLACE, console.width - _FIXED - min(max(logins), _MOST_LOGIN))
    hidden = "steps" if console.width < _STEPS_FROM else ""
    names = [name for name in _HEADINGS if name != hidden]
    rows = [
        [cell for name, cell in _cells(one, now, place).items() if name != hidden]
        for one in runs
    ]
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for number, name in enumerate(names):
        # All that is left is for the title, which is the one that may be cut.
        least = max(len(name), *(row[number].cell_len for row in rows))
        justify: JustifyMethod = "right" if name in _FIGURES else "left"
        table.add_column(name, no_wrap=True, justify=justify, min_width=least)
    if console.width >= _TITLE_FROM:
        table.add_column("title", no_wrap=True)
        rows = [[*row, _title(one)] for row, one in zip(rows, runs, strict=True)]
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _title(run: RunRow) -> Text:
    return _on_one_line(run.title[:_MOST_TITLE])


def _cells(run: RunRow, now: datetime, place: int) -> dict[str, Text]:
    """Return a row by the headings of its columns."""
    cells = (
        Text(run.id[:SHORT_ID_LENGTH]),
        Text(run.outcome or run.stage, style=_style(run)),
        _proof_cell(run),
        _on_one_line(shorten_middle(place_text(run), place)),
        _on_one_line(shorten_middle(run.requester or "-", _MOST_LOGIN)),
        Text(f"{run.steps}/{run.limits.max_iterations}" if run.limits else "-"),
        Text(cost_text(run)),
        Text(age_text(run.asked_at, now)),
    )
    return dict(zip(_HEADINGS, cells, strict=True))


def shorten_middle(text: str, width: int) -> str:
    """Cut a text in its middle: a thread is known by its number at the end."""
    if len(text) <= width:
        return text
    tail = width // 2
    return f"{text[: width - tail - 1]}…{text[-tail:]}"


def place_text(run: RunRow) -> str:
    """Name the service, and the thread there."""
    place = run.thread or run.repo
    return run.source if run.place == LOCAL_PLACE else f"{run.source} {place}".strip()


def cost_text(run: RunRow) -> str:
    """Write the cost, and what it may be at most: `$0.41/3.00`."""
    if run.usage.cost_usd is None:
        return "unknown"
    spent_usd = dollars(run.usage.cost_usd)
    bound = f"/{run.limits.max_cost_usd:.2f}" if run.limits else ""
    return f"{spent_usd}{bound}"


def age_text(asked_at: datetime | None, now: datetime) -> str:
    """Write how long ago that was in its largest unit."""
    if asked_at is None:
        return "-"
    seconds = max(0, round((now - asked_at).total_seconds()))
    size, unit = next((one for one in _UNITS if seconds >= one[0]), _UNITS[-1])
    return f"{seconds // size}{unit}"


def _proof_cell(run: RunRow) -> Text:
    """Say how much is shown of a change; of a run without a change there is nothing."""
    level = next((one for one in _PROOFS if one == run.proof), None)
    if level in (None, Proof.NONE):
        return Text("-")
    return Text(_PROOFS[level], style=proof_style(level))


def _style(run: RunRow) -> str:
    if run.stage is not RunStage.ENDED:
        return "yellow"
    if run.outcome == OutcomeKind.RESOLVED and run.proof != Proof.PROVEN:
        return "yellow"
    return "green" if run.outcome in _GOOD else "red"


def _on_one_line(text: str) -> Text:
    return Text(" ".join(plain(text).plain.split()))
