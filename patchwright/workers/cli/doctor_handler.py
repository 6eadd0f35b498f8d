"""Examine a service, and report to a person, to a program and by an exit code."""

import json
import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Final

import structlog
import typer
from pydantic import JsonValue
from rich.console import Console
from rich.text import Text

from patchwright.core.doctor import CheckStatus, DoctorCheck, failed, warning
from patchwright.core.plugin import import_later
from patchwright.core.settings.model import Settings, secret_values
from patchwright.core.system.clock import Clock, SystemClock
from patchwright.core.text.redaction import Redactor
from patchwright.core.text.strings import count_noun, strip_invisible
from patchwright.core.types.errors import SettingsError
from patchwright.integrations.settings import exposed_secrets, load_settings_here
from patchwright.workers.doctor.checks import (
    CHECKS,
    NamedResult,
    choose_checks,
    make_context,
    run_checks,
)

# It brings half of the service along, which a look at the database can do without.
_with_registered_app: Final = import_later(
    "patchwright.workers.doctor.storage:with_registered_app"
)


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


def _results(entries: Sequence[DoctorCheck], *, spends: bool) -> Iterator[NamedResult]:
    clock = SystemClock()
    try:
        settings = load_settings_here()
    except SettingsError as error:
        yield NamedResult(SETTINGS, failed("they cannot be read", str(error)), 0.0)
        return
    yield from _notices(settings)
    context = make_context(
        _settings_with_app(settings, clock, entries), clock, spends=spends
    )
    redactor = Redactor(secret_values(context.settings))
    for verdict in run_checks(context, entries):
        yield without_secrets(verdict, redactor)


def _notices(settings: Settings) -> Iterator[NamedResult]:
    """Yield what to change about settings that can be read."""
    if exposed := exposed_secrets(settings):
        found = "\n".join(one.text for one in exposed)
        yield NamedResult(SECRETS, failed(found, exposed[0].fix), 0.0)
    if settings.notices:
        found = "\n".join(one.text for one in settings.notices)
        yield NamedResult(SETTINGS, warning(found, settings.notices[0].fix), 0.0)


def _settings_with_app(
    settings: Settings, clock: Clock, entries: Sequence[DoctorCheck]
) -> Settings:
    """Add the App that was made for the service, where a check asks it."""
    if all(entry.local for entry in entries):
        return settings
    found: Settings = _with_registered_app(settings, clock)
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


FINE: Final = 0
SOMETHING_FAILED: Final = 1
WRONG_CONFIGURATION: Final = 2
SETTINGS: Final = "settings"
SECRETS: Final = "secrets"


def without_secrets(verdict: NamedResult, redactor: Redactor) -> NamedResult:
    finding = replace(
        verdict.finding,
        found=redactor.redact(verdict.finding.found),
        fix=redactor.redact(verdict.finding.fix),
    )
    return replace(verdict, finding=finding)


def as_json(verdicts: Sequence[NamedResult]) -> dict[str, JsonValue]:
    checks: list[JsonValue] = [
        {
            "name": verdict.name,
            "status": verdict.finding.status.value,
            "found": verdict.finding.found,
            "fix": verdict.finding.fix,
            "seconds": verdict.seconds,
        }
        for verdict in verdicts
    ]
    return {"ok": not _failed(verdicts), "checks": checks}


def exit_code(verdicts: Sequence[NamedResult]) -> int:
    """Return what the process ends with; `serve` would refuse wrong settings too."""
    failed = _failed(verdicts)
    if SETTINGS in failed:
        return WRONG_CONFIGURATION
    return SOMETHING_FAILED if failed else FINE


def summary(verdicts: Sequence[NamedResult]) -> str:
    """Say in one line how many checks ended how."""
    count = Counter(verdict.finding.status for verdict in verdicts)
    parts = [
        f"{count[CheckStatus.OK]} ok",
        count_noun(count[CheckStatus.WARNING], "warning"),
        f"{count[CheckStatus.FAILED]} failed",
        f"{count[CheckStatus.SKIPPED]} skipped",
    ]
    return ", ".join(part for part in parts if not part.startswith("0 ")) or "no checks"


def _failed(verdicts: Sequence[NamedResult]) -> list[str]:
    return [one.name for one in verdicts if one.finding.status is CheckStatus.FAILED]


_STYLES: Final[Mapping[CheckStatus, str]] = {
    CheckStatus.OK: "green",
    CheckStatus.WARNING: "yellow",
    CheckStatus.FAILED: "bold red",
    CheckStatus.SKIPPED: "dim",
}
_STATUS_WIDTH: Final = max(len(status) for status in CheckStatus) + 2
_NAME_WIDTH: Final = max(len(entry.name) for entry in CHECKS) + 2
_INDENT: Final = _STATUS_WIDTH + _NAME_WIDTH
_LEAST_WIDTH: Final = 30


def print_check(console: Console, verdict: NamedResult) -> None:
    """Print what was found, and below it what to do."""
    style = _STYLES[verdict.finding.status]
    dim = "dim" if verdict.finding.status is CheckStatus.SKIPPED else ""
    head = Text.assemble(
        (verdict.finding.status.ljust(_STATUS_WIDTH), style),
        (verdict.name.ljust(_NAME_WIDTH), dim or "bold"),
    )
    # What others say is in there too, and must not steer the terminal.
    found, _ = strip_invisible(verdict.finding.found)
    _print_column(console, head, Text(found, style=dim))
    for line in verdict.finding.fix.splitlines():
        pointer = Text.assemble((" " * (_INDENT - 2) + "> ", style))
        _print_column(console, pointer, Text(line))


def _print_column(console: Console, head: Text, words: Text) -> None:
    for line in _wrapped(console, words):
        console.print(head + line, soft_wrap=True)
        head = Text(" " * _INDENT)


def _wrapped(console: Console, words: Text) -> Iterator[Text]:
    """Break a text for the width of a terminal; what is piped stays whole."""
    if not console.is_terminal:
        yield words
        return
    width = max(console.width - _INDENT, _LEAST_WIDTH)
    yield from words.wrap(console, width)
