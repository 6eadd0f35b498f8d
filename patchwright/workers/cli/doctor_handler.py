"""Carry out `patchwright doctor`: choose the checks, run them, and report."""

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Final

import structlog
import typer
from rich.console import Console

from patchwright.core.doctor import DoctorCheck, failed, skipped, warning
from patchwright.core.plugin import import_later
from patchwright.core.settings.environment import process_environment
from patchwright.core.settings.model import Settings, secret_values
from patchwright.core.system.clock import Clock, SystemClock
from patchwright.core.text.redaction import Redactor
from patchwright.core.types.errors import SettingsError
from patchwright.core.types.purpose import Purpose
from patchwright.integrations.registry import find_forge
from patchwright.integrations.settings import exposed_secrets, load_settings_here
from patchwright.workers.cli.doctor_report import (
    SECRETS,
    SETTINGS,
    WRONG_CONFIGURATION,
    Examination,
    as_json,
    exit_code,
    print_check,
    print_parts,
    summary,
)
from patchwright.workers.cli.forge_token import with_own_token
from patchwright.workers.doctor.checks import (
    CHECKS,
    NamedResult,
    checks_for,
    choose_checks,
    is_service_set_up,
    make_context,
    run_checks,
    without_secrets,
)

# It brings half of the service along, which a look at the database can do without.
_with_registered_app: Final = import_later(
    "patchwright.workers.doctor.storage:with_registered_app"
)


def run_doctor(
    only: Sequence[str], purpose: Purpose | None, *, spends: bool, as_object: bool
) -> int:
    """Print the report, and return the exit code."""
    chosen = choose_checks(only)
    _silence_logs()
    clock = SystemClock()
    try:
        settings = load_settings_here()
    except SettingsError as error:
        return _print_unreadable(error, as_object=as_object)
    examination = replace(
        _plan(settings, chosen if only else (), purpose),
        notices=tuple(_notices(settings)),
    )
    context = make_context(
        _settings_with_account(settings, clock, examination),
        clock,
        spends=spends,
        is_set_up=examination.is_set_up,
    )
    redactor = Redactor(secret_values(context.settings))
    verdicts = (
        without_secrets(verdict, redactor)
        for verdict in run_checks(context, examination.entries)
    )
    if as_object:
        results = [*verdicts, *_left_out(examination, chosen)]
        told = as_json(results, examination)
        typer.echo(json.dumps(told, ensure_ascii=False))
    else:
        results = _print_results(Console(), verdicts, examination)
    return exit_code(results, examination)


def _print_unreadable(error: SettingsError, *, as_object: bool) -> int:
    """Report settings that cannot be read: nothing else can be checked then."""
    verdict = NamedResult(SETTINGS, failed("they cannot be read", str(error)), 0.0)
    if as_object:
        typer.echo(json.dumps(as_json([verdict], Examination()), ensure_ascii=False))
    else:
        print_check(Console(), verdict)
    return WRONG_CONFIGURATION


def _plan(
    settings: Settings, only: Sequence[DoctorCheck], purpose: Purpose | None
) -> Examination:
    """Choose the checks; a service that nobody has set up has no faults."""
    if only:
        return Examination(entries=tuple(only))
    is_set_up = purpose is Purpose.SERVE or (
        purpose is None and is_service_set_up(settings)
    )
    parts = (purpose,) if purpose else tuple(Purpose)
    examined = [one for one in parts if one is Purpose.RESOLVE or is_set_up]
    names = {entry.name for part in examined for entry in checks_for(part)}
    entries = tuple(entry for entry in CHECKS if entry.name in names)
    return Examination(entries=entries, parts=parts, is_set_up=is_set_up)


def _left_out(
    examination: Examination, chosen: Sequence[DoctorCheck]
) -> Iterator[NamedResult]:
    """Yield the checks of a service that nobody has set up, for a program's list."""
    if examination.parts != tuple(Purpose):
        return
    for entry in chosen:
        if entry not in examination.entries:
            yield NamedResult(entry.name, skipped("the service is not set up"), 0.0)


def _notices(settings: Settings) -> Iterator[NamedResult]:
    """Yield what to change about settings that can be read."""
    if exposed := exposed_secrets(settings):
        found = "\n".join(one.text for one in exposed)
        yield NamedResult(SECRETS, failed(found, exposed[0].fix), 0.0)
    if settings.notices:
        found = "\n".join(one.text for one in settings.notices)
        yield NamedResult(SETTINGS, warning(found, settings.notices[0].fix), 0.0)


def _settings_with_account(
    settings: Settings, clock: Clock, examination: Examination
) -> Settings:
    """Add the App that was made for the service, where a check asks it.

    Without a service it is the person's own token, as `resolve` finds it.
    """
    if all(entry.local for entry in examination.entries):
        return settings
    found: Settings = _with_registered_app(settings, clock)
    if examination.is_set_up or Purpose.RESOLVE not in examination.parts:
        return found
    return with_own_token(find_forge(found), found, process_environment())


def _print_results(
    console: Console, verdicts: Iterator[NamedResult], examination: Examination
) -> list[NamedResult]:
    """Print each part when its checks have ended, or each check where there is none."""
    names = [entry.name for entry in examination.entries]
    results: list[NamedResult] = []
    # What comes next; nobody watches what is piped.
    waiting = console.status(names[0])
    if not examination.parts:
        for notice in examination.notices:
            print_check(console, notice)
    with waiting if console.is_terminal else nullcontext():
        for verdict, following in zip(verdicts, (*names[1:], ""), strict=False):
            results.append(verdict)
            if not examination.parts:
                print_check(console, verdict)
            waiting.update(following)
    if examination.parts:
        print_parts(console, results, examination)
    else:
        console.print(f"\n{summary(results)}", style="bold", highlight=False)
    return results


def _silence_logs() -> None:
    """Silence the log: the report contains the same facts."""
    level = logging.CRITICAL
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(level))
    logging.basicConfig(level=level, handlers=[logging.NullHandler()], force=True)
