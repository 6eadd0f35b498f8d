"""Examine a service, and report to a person or to a program."""

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from importlib import import_module
from typing import Final

import structlog
import typer
from rich.console import Console

from patchwright.core.clock import Clock, SystemClock
from patchwright.core.errors import SettingsError
from patchwright.core.settings.loader import load_settings_here
from patchwright.core.settings.model import Settings, secret_values
from patchwright.core.text.redaction import Redactor
from patchwright.workers.doctor.checks import (
    CheckContext,
    CheckEntry,
    NamedResult,
    choose_checks,
    failed,
    run_checks,
)
from patchwright.workers.doctor.report import (
    SETTINGS,
    as_json,
    exit_code,
    print_check,
    summary,
    without_secrets,
)

# It brings half of the service along, which a look at the database can do without.
_KNOWN_APP: Final = "patchwright.workers.doctor.storage"


def run_doctor(only: Sequence[str], *, spends: bool, as_object: bool) -> int:
    """Print the report, and return the exit code."""
    entries = choose_checks(only)
    _silence_logs()
    verdicts = _results(entries, spends=spends)
    if not as_object:
        return exit_code(_print_results(verdicts, [entry.name for entry in entries]))
    results = list(verdicts)
    typer.echo(json.dumps(as_json(results), ensure_ascii=False))
    return exit_code(results)


def _results(entries: Sequence[CheckEntry], *, spends: bool) -> Iterator[NamedResult]:
    clock = SystemClock()
    try:
        settings = load_settings_here()
    except SettingsError as error:
        yield NamedResult(SETTINGS, failed("they cannot be read", str(error)), 0.0)
        return
    context = CheckContext(_settings_with_app(settings, clock, entries), clock, spends)
    redactor = Redactor(secret_values(context.settings))
    for verdict in run_checks(context, entries):
        yield without_secrets(verdict, redactor)


def _settings_with_app(
    settings: Settings, clock: Clock, entries: Sequence[CheckEntry]
) -> Settings:
    """Add the App that was made for the service, where a check asks GitHub."""
    if all(entry.local for entry in entries):
        return settings
    found: Settings = import_module(_KNOWN_APP).with_registered_app(settings, clock)
    return found


def _print_results(
    verdicts: Iterator[NamedResult], names: Sequence[str]
) -> list[NamedResult]:
    console = Console()
    results: list[NamedResult] = []
    # What comes next; nobody watches what is piped.
    waiting = console.status(names[0])
    with waiting if console.is_terminal else nullcontext():
        for verdict, following in zip(verdicts, (*names[1:], ""), strict=False):
            print_check(console, verdict)
            results.append(verdict)
            waiting.update(following)
    console.print(f"\n{summary(results)}", style="bold", highlight=False)
    return results


def _silence_logs() -> None:
    """Silence the log: the report contains the same facts."""
    level = logging.CRITICAL
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(level))
    logging.basicConfig(level=level, handlers=[logging.NullHandler()], force=True)
