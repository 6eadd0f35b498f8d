"""`patchwright doctor`."""

import json
import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import structlog
import typer
from rich.console import Console

from patchwright.core.clock import SystemClock
from patchwright.core.errors import SettingsError
from patchwright.core.settings.environment import process_environment
from patchwright.core.settings.load import load
from patchwright.core.settings.secret_values import secret_values
from patchwright.core.text.redaction import Redactor
from patchwright.workers.doctor.case import Case
from patchwright.workers.doctor.examine import examine
from patchwright.workers.doctor.finding import Verdict, failed
from patchwright.workers.doctor.report import (
    SETTINGS,
    as_json,
    exit_code,
    summary,
    without_secrets,
)
from patchwright.workers.doctor.show import show
from patchwright.workers.doctor.stored import with_known_app
from patchwright.workers.doctor.table import Entry, choose


def register(app: typer.Typer) -> None:
    app.command("doctor")(_doctor)


def _doctor(
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="This check, or all of a service; repeat."),
    ] = None,
    spend: Annotated[
        bool, typer.Option("--spend", help="Ask the model one thing, for real.")
    ] = False,
    json_output: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.")
    ] = False,
) -> None:
    """Check what the service needs, and say how to put right what is wrong."""
    entries = choose(only or ())
    _keep_quiet()
    verdicts = _verdicts(entries, spends=spend)
    if json_output:
        told = list(verdicts)
        typer.echo(json.dumps(as_json(told), ensure_ascii=False))
    else:
        told = _show(verdicts, len(entries))
    sys.exit(exit_code(told))


def _verdicts(entries: Sequence[Entry], *, spends: bool) -> Iterator[Verdict]:
    clock = SystemClock()
    try:
        settings = load(process_environment(), flags={}, cwd=Path.cwd())
    except SettingsError as error:
        yield Verdict(SETTINGS, failed("they cannot be read", str(error)), 0.0)
        return
    case = Case(with_known_app(settings, clock), clock, spends)
    redactor = Redactor(secret_values(case.settings))
    for verdict in examine(case, entries):
        yield without_secrets(verdict, redactor)


def _show(verdicts: Iterator[Verdict], count: int) -> list[Verdict]:
    console = Console()
    told = []
    waiting = console.status(f"{count} checks") if console.is_terminal else None
    with waiting or nullcontext():
        for verdict in verdicts:
            show(console, verdict)
            told.append(verdict)
    console.print(f"\n{summary(told)}", style="bold")
    return told


def _keep_quiet() -> None:
    """Let nothing but the report be heard: what is logged on the way is in it too."""
    level = logging.CRITICAL
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(level))
    logging.basicConfig(level=level, handlers=[logging.NullHandler()])
