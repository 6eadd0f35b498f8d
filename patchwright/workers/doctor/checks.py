"""The checks of `patchwright doctor` in their order, and how they are carried out."""

from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as LateError
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from patchwright.core.doctor import (
    FOR_BOTH,
    FOR_SERVE,
    CheckContext,
    CheckResult,
    DoctorCheck,
    failed,
    result_of_error,
    skipped,
)
from patchwright.core.plugin import import_later
from patchwright.core.settings.model import Settings
from patchwright.core.settings.service import ServerSettings
from patchwright.core.system.clock import Clock, start_call
from patchwright.core.text.redaction import Redactor
from patchwright.core.text.strings import nearest_name
from patchwright.core.types.errors import (
    SettingsError,
)
from patchwright.core.types.purpose import Purpose
from patchwright.integrations.registry import PLUGINS, describe_services, find_forge
from patchwright.workers.db.database import database_error_text


@dataclass(frozen=True, slots=True)
class NamedResult:
    """The finding of the check of that name, and how long it took."""

    name: str
    finding: CheckResult
    seconds: float


def without_secrets(verdict: NamedResult, redactor: Redactor) -> NamedResult:
    """Return a result in which no secret is told."""
    finding = replace(
        verdict.finding,
        found=redactor.redact(verdict.finding.found),
        fix=redactor.redact(verdict.finding.fix),
    )
    return replace(verdict, finding=finding)


_PACKAGE: Final = "patchwright.workers.doctor"


def make_context(
    settings: Settings,
    clock: Clock,
    *,
    spends: bool = False,
    is_set_up: bool = True,
) -> CheckContext:
    """Return what checks may use; what is stored is read when one asks for it."""
    return CheckContext(
        settings,
        clock,
        partial(import_later(f"{_PACKAGE}.storage:lend_secrets"), settings, clock),
        partial(import_later(f"{_PACKAGE}.storage:known_repositories"), settings),
        spends,
        is_set_up,
    )


def _own_check(
    name: str,
    module: str,
    within_s: float = 20.0,
    *,
    local: bool = False,
    needed_by: frozenset[Purpose] = FOR_SERVE,
) -> DoctorCheck:
    """Return a check of ours; its module is imported when it is carried out."""
    function = f"{_PACKAGE}.{module}:check_{name.replace('-', '_')}"
    return DoctorCheck(name, import_later(function), within_s, local, needed_by)


def _forge_checks() -> Iterator[DoctorCheck]:
    """Yield the checks of all forges, of which a service has one."""
    for plugin in PLUGINS:
        if plugin.connect_forge:
            for one in plugin.checks:
                yield one._replace(examine=partial(_examine_forge, plugin.name, one))


def _examine_forge(name: str, check: DoctorCheck, context: CheckContext) -> CheckResult:
    forge = find_forge(context.settings)
    if forge.name != name:
        return skipped(f"the code is on {forge.title}")
    return check.examine(context)


CHECKS: Final = (
    _own_check("settings", "network", 10),
    _own_check("state", "storage", 10, local=True, needed_by=FOR_BOTH),
    _own_check("database", "storage", local=True),
    _own_check("secrets", "storage", local=True),
    _own_check("broker", "service", 15, local=True),
    _own_check("processes", "service", local=True),
    _own_check("sandbox", "sandbox", 60, local=True, needed_by=FOR_BOTH),
    _own_check("network", "network", 15),
    _own_check("clock", "network", 15),
    _own_check("model", "model", 60, local=True, needed_by=FOR_BOTH),
    *_forge_checks(),
    _own_check("public-url", "service"),
    _own_check("oidc", "network", 45),
    *(check for one in PLUGINS if one.connect_chat for check in one.checks),
    _own_check("repositories", "service", 30),
)


def choose_checks(only: Iterable[str]) -> tuple[DoctorCheck, ...]:
    """Return the checks of these names, all of them where none is named.

    The name of a service stands for all of its checks. Raises `SettingsError`.
    """
    wanted = tuple(only)
    if unknown := next(_unknown(wanted), None):
        near = nearest_name(unknown, [entry.name for entry in CHECKS])
        raise SettingsError(f"--only: there is no check {unknown!r}; is it {near!r}?")
    return tuple(one for one in CHECKS if not wanted or _is_named(one, wanted))


def checks_for(purpose: Purpose) -> tuple[DoctorCheck, ...]:
    """Return what the command needs, and what it can use."""
    return tuple(
        one for one in CHECKS if purpose in one.needed_by or purpose in one.useful_to
    )


def is_service_set_up(settings: Settings) -> bool:
    """Tell whether somebody has begun to set up a service, or has run one here.

    A token of the forge alone is no sign of it: `resolve` uses it too.
    """
    directory, forge = describe_services(settings), find_forge(settings)
    url = settings.database.url.get_secret_value()
    return any(
        (
            settings.server != ServerSettings(),
            directory.forge.needs_address,
            forge.make_probe is not None and forge.make_probe(settings) is not None,
            any(one.is_configured for one in directory.chats.values()),
            not settings.queue.is_in_memory,
            not settings.database.is_sqlite,
            Path(url.removeprefix("sqlite:///")).exists(),
        )
    )


def _unknown(wanted: Iterable[str]) -> Iterator[str]:
    return (one for one in wanted if not any(_is_named(e, (one,)) for e in CHECKS))


def _is_named(entry: DoctorCheck, wanted: Iterable[str]) -> bool:
    return any(entry.name == one or entry.name.startswith(f"{one}-") for one in wanted)


def examine(
    settings: Settings, clock: Clock, names: Iterable[str], redactor: Redactor
) -> Iterator[NamedResult]:
    """Run the checks of these names; no secret is told in what they find.

    A model that is checked is asked one thing, which costs a little.
    """
    context = make_context(settings, clock, spends=True)
    for one in run_checks(context, choose_checks(names)):
        yield without_secrets(one, redactor)


@dataclass(frozen=True, slots=True)
class _RunningCheck:
    """A check that was begun; `ended` has the reading of the clock at its end."""

    entry: DoctorCheck
    asked: "Future[CheckResult]"
    ended: "Future[float]"


def run_checks(
    context: CheckContext, entries: Iterable[DoctorCheck]
) -> Iterator[NamedResult]:
    """Yield a verdict for each check; who waits for a slow one misses nothing.

    One that is late is left behind, in a thread that keeps no process alive.
    """
    clock = context.clock
    began_at = clock.monotonic()
    for running in [_start_check(entry, context) for entry in entries]:
        left_s = began_at + running.entry.within_s - clock.monotonic()
        yield _named_result(running, began_at, max(left_s, 0.0))


def _start_check(entry: DoctorCheck, context: CheckContext) -> _RunningCheck:
    ended: Future[float] = Future()
    asked = start_call(lambda: entry.examine(context))
    asked.add_done_callback(lambda _: ended.set_result(context.clock.monotonic()))
    return _RunningCheck(entry, asked, ended)


def _named_result(
    running: _RunningCheck, began_at: float, left_s: float
) -> NamedResult:
    entry, asked = running.entry, running.asked
    try:
        seconds = running.ended.result(left_s) - began_at
    except LateError:
        words = f"no answer within {entry.within_s:.0f} s"
        fix = f"run only this check: patchwright doctor --only {entry.name}"
        return NamedResult(entry.name, failed(words, fix), entry.within_s)
    error = asked.exception()
    finding = _result_of_any_error(error) if error else asked.result()
    return NamedResult(entry.name, finding, round(seconds, 3))


def _result_of_any_error(error: BaseException) -> CheckResult:
    if isinstance(error, SQLAlchemyError):
        words = f"the database cannot be read: {database_error_text(error)}"
        return failed(words, "see the check `database`")
    return result_of_error(error)
