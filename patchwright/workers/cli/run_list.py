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
from patchwright.workers.cli.terminal import plain, shorten_middle
from patchwright.workers.runs.run_row import (
    RunRow,
    age_text,
    origin_text,
    repository_text,
)
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
_BOUND_FROM: Final = 92
_STEPS_FROM: Final = 100
_TITLE_FROM: Final = 124
_MOST_TITLE: Final = 60
# The widest name of a person and of an origin, also where there is little room.
_MOST_LOGIN: Final = (8, 12)
_MOST_ORIGIN: Final = (10, 16)
_LEAST_CELLS: Final = 8
_GAP: Final = 2
_GOOD: Final = frozenset(kind for kind in OutcomeKind if kind.is_success)
_PROOFS: Final = {
    Proof.PROVEN: "proven",
    Proof.SHOWN_BY_COMMAND: "by command",
    Proof.NOT_PROVEN: "not proven",
    Proof.CONTRADICTED: "contradicted",
    Proof.NONE: "-",
}
_REPOSITORY: Final = "repo"
_FIGURES: Final = frozenset({"steps", "age"})


def print_runs(runs: Sequence[RunRow], now: datetime) -> None:
    console = Console()
    if not console.is_terminal:
        console = Console(width=_UNBOUNDED, color_system=None)
    rows = [_cells(one, now, console.width) for one in runs]
    names = list(rows[0])
    widest = {name: max(row[name].cell_len for row in rows) for name in names}
    fixed = sum(
        max(len(name), widest[name]) + _GAP for name in names if name != _REPOSITORY
    )
    place = max(_LEAST_CELLS, console.width - fixed - _GAP)
    table = Table(box=None, padding=(0, _GAP, 0, 0), header_style="dim", pad_edge=False)
    for name in names:
        # All that is left is for the title, which is the one that may be cut.
        least = max(len(name), widest[name])
        least = min(least, place) if name == _REPOSITORY else least
        justify: JustifyMethod = "right" if name in _FIGURES else "left"
        table.add_column(name, no_wrap=True, justify=justify, min_width=least)
    has_title = console.width >= _TITLE_FROM
    if has_title:
        table.add_column("title", no_wrap=True)
    for run, row in zip(runs, rows, strict=True):
        row[_REPOSITORY] = _on_one_line(shorten_middle(row[_REPOSITORY].plain, place))
        table.add_row(*row.values(), *([_title(run)] if has_title else ()))
    console.print(table)


def _title(run: RunRow) -> Text:
    return _on_one_line(run.title[:_MOST_TITLE])


def _cells(run: RunRow, now: datetime, width: int) -> dict[str, Text]:
    """Return a row by the headings of its columns, as many as have room."""
    is_wide = width >= _BOUND_FROM
    origin = origin_text(run) if is_wide else _short_origin(run)
    steps = f"{run.steps}/{run.limits.max_iterations}" if run.limits else "-"
    cells = {
        "run": Text(run.id[:SHORT_ID_LENGTH]),
        "state": Text(run.outcome or run.stage, style=_style(run)),
        "proof": _proof_cell(run),
        _REPOSITORY: _on_one_line(repository_text(run) or "-"),
        "from": _on_one_line(shorten_middle(origin, _MOST_ORIGIN[is_wide])),
        "by": _on_one_line(shorten_middle(run.requester or "-", _MOST_LOGIN[is_wide])),
        "steps": Text(steps),
        "cost": Text(cost_text(run, with_bound=is_wide)),
        "age": Text(age_text(run.asked_at, now)),
    }
    if width < _STEPS_FROM:
        del cells["steps"]
    return cells


def _short_origin(run: RunRow) -> str:
    """Name the channel or the ticket alone, where there is one."""
    is_there = run.thread == repository_text(run)
    return run.source if is_there or not run.thread else run.thread


def place_text(run: RunRow) -> str:
    """Name the repository and where the request came from, on one line."""
    parts = (repository_text(run), f"from {origin_text(run)}")
    return " ".join(part for part in parts if part)


def cost_text(run: RunRow, *, with_bound: bool = True) -> str:
    """Write the cost, and what it may be at most: `$0.41/3.00`."""
    if run.usage.cost_usd is None:
        return "unknown" if with_bound else "$?"
    spent_usd = dollars(run.usage.cost_usd)
    has_bound = with_bound and run.limits is not None
    bound = f"/{run.limits.max_cost_usd:.2f}" if has_bound and run.limits else ""
    return f"{spent_usd}{bound}"


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
