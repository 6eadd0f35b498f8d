"""Carry out `patchwright spend`: what the model calls of the service have cost."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, date, timedelta
from typing import Final

import typer
from pydantic import JsonValue
from rich.console import Console
from rich.table import Table
from rich.text import Text

from patchwright.core.system.clock import SystemClock
from patchwright.core.text.strings import dollars
from patchwright.core.types.errors import SettingsError
from patchwright.workers.cli.terminal import load_command_settings, plain
from patchwright.workers.db.database import Database, database_errors, open_existing
from patchwright.workers.runs.spend import (
    CeilingState,
    SpendOverview,
    SpendReader,
    SpendRow,
    SpendTotal,
    fullest,
    make_spend_report,
)
from patchwright.workers.store.reservations import BudgetScope

MOST_DAYS: Final = 366
_MOST_ROWS: Final = 10
_MOST_CEILINGS: Final = 5
# Where nobody looks at the width, no line is cut.
_UNBOUNDED: Final = 10_000


def print_spend(days: int, *, as_object: bool) -> None:
    """Print the spend of so many days, today being the last of them (UTC)."""
    if not 1 <= days <= MOST_DAYS:
        raise SettingsError(f"--days: expected a number from 1 to {MOST_DAYS}")
    settings = load_command_settings()
    today = SystemClock().now().astimezone(UTC).date()
    since = today - timedelta(days=days - 1)
    with open_existing(settings.database.url.get_secret_value()) as database:
        if database is None:
            raise SettingsError(
                "database.url: there is no database yet, and so no spend; "
                "`patchwright serve` creates it"
            )
        with database_errors():
            rows, names = _read(database, since, today)
    report = make_spend_report(rows, names, settings.limits, since=since, today=today)
    if as_object:
        typer.echo(json.dumps(spend_as_json(report)))
    else:
        _print_report(_console(), report)


def _read(
    database: Database, since: date, today: date
) -> tuple[tuple[SpendRow, ...], dict[str, str]]:
    reader = SpendReader(database)
    rows = reader.rows(since, today)
    return rows, reader.names_of(one.account_id for one in rows)


def spend_as_json(report: SpendOverview) -> dict[str, JsonValue]:
    """Return the report as an object; money is in USD."""
    told = report.model_dump(mode="json", exclude={"rows"})
    told["ceilings"] = [
        {**one.model_dump(mode="json"), "percent": one.percent}
        for one in report.ceilings
    ]
    return told


def _console() -> Console:
    console = Console()
    if console.is_terminal:
        return console
    return Console(width=_UNBOUNDED, color_system=None)


def _print_report(console: Console, report: SpendOverview) -> None:
    total = report.total
    days = len(report.days)
    span = "today" if days == 1 else f"in the last {days} days"
    console.print(Text(f"{dollars(total.spent_usd)} {span} (UTC)", "bold"))
    if total.assumed_usd:
        console.print(
            f"{dollars(total.assumed_usd)} more is assumed for unknown prices"
        )
    if total.reserved_usd:
        console.print(f"{dollars(total.reserved_usd)} more is reserved")
    by_day = [one for one in report.days if one != SpendTotal(name=one.name)]
    for title, rows in (
        ("day", tuple(reversed(by_day))),
        ("repository", report.repositories),
        ("person", report.people),
    ):
        _print_totals(console, title, rows)
    _print_ceilings(console, report)


def _print_totals(console: Console, title: str, rows: Sequence[SpendTotal]) -> None:
    if not rows:
        return
    table = _table(title, "spent", "assumed", "reserved", "runs")
    for one in rows[:_MOST_ROWS]:
        table.add_row(plain(one.name), *_figures(one), str(one.runs))
    console.print()
    console.print(table)
    if len(rows) > _MOST_ROWS:
        more = len(rows) - _MOST_ROWS
        console.print(f"and {more} more; --json has them all", style="dim")


def _figures(one: SpendTotal) -> Iterator[str]:
    for usd in (one.spent_usd, one.assumed_usd, one.reserved_usd):
        yield dollars(usd) if usd else "-"


def _print_ceilings(console: Console, report: SpendOverview) -> None:
    table = _table("limit", "used", "of", "percent")
    shown, left = fullest(report.ceilings, _MOST_CEILINGS)
    for one in shown:
        table.add_row(
            plain(ceiling_name(one)),
            dollars(one.taken_usd),
            dollars(one.ceiling_usd),
            f"{one.percent} %",
        )
    table.add_row("each run", "", dollars(report.run_usd), "")
    console.print()
    console.print(table)
    if left:
        console.print(f"and {left} less used; --json has them all", style="dim")


def ceiling_name(one: CeilingState) -> str:
    """Say whose ceiling it is."""
    whose = "everybody" if one.scope is BudgetScope.DAY else one.name
    return f"{whose} today"


def _table(title: str, *figures: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    table.add_column(title, overflow="fold")
    for one in figures:
        table.add_column(one, justify="right", no_wrap=True)
    return table
