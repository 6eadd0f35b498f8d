"""The checks in their order, how they are carried out, and what a result is."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as LateError
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import Final, NamedTuple

from sqlalchemy.exc import SQLAlchemyError

from patchwright.core.clock import Clock, start_call
from patchwright.core.errors import (
    AuthenticationError,
    PatchwrightError,
    PermissionDeniedError,
    RateLimitedError,
    ServiceUnavailableError,
    SettingsError,
)
from patchwright.core.plugin import Plugin
from patchwright.core.settings.model import Settings
from patchwright.core.text.strings import nearest_name
from patchwright.integrations.registry import PLUGINS
from patchwright.workers.db.database import database_error_text


@dataclass(frozen=True, slots=True)
class CheckContext:
    """A service by its settings, to which an App that was made for it belongs.

    With `spends` a model may be asked for real.
    """

    settings: Settings
    clock: Clock
    spends: bool = False

    @property
    def public_url(self) -> str:
        return self.settings.server.public_url


class CheckStatus(StrEnum):
    """How a check ended; the later ones are worse."""

    SKIPPED = "skipped"
    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


_BY_WEIGHT = tuple(CheckStatus)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """`found` is one line; `fix` has a line for each thing to do."""

    status: CheckStatus
    found: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class NamedResult:
    """The finding of the check of that name, and how long it took."""

    name: str
    finding: CheckResult
    seconds: float


def ok(found: str) -> CheckResult:
    return CheckResult(CheckStatus.OK, found)


def warning(found: str, fix: str) -> CheckResult:
    return CheckResult(CheckStatus.WARNING, found, fix)


def failed(found: str, fix: str) -> CheckResult:
    return CheckResult(CheckStatus.FAILED, found, fix)


def skipped(why: str) -> CheckResult:
    return CheckResult(CheckStatus.SKIPPED, why)


def combine(findings: Iterable[CheckResult]) -> CheckResult:
    """Return all of them as one: what is wrong, or else everything that is right."""
    several = tuple(findings)
    worst = max((one.status for one in several), key=_BY_WEIGHT.index)
    wrong = [one for one in several if one.fix]
    shown = wrong or [one for one in several if one.status is worst]
    return CheckResult(
        worst,
        "; ".join(dict.fromkeys(one.found for one in shown)),
        "\n".join(dict.fromkeys(one.fix for one in wrong)),
    )


_FIXES: Final[Mapping[type[PatchwrightError], str]] = {
    SettingsError: "correct this setting",
    AuthenticationError: "set a valid credential",
    PermissionDeniedError: "give the credential this permission",
    RateLimitedError: "wait; if it happens again, lower limits.max_parallel",
    ServiceUnavailableError: "see the check `network`: can this machine reach it?",
}
_UNKNOWN: Final = "see the message; the service would have the same problem"


def result_of_error(error: BaseException, fix: str = "") -> CheckResult:
    """Say what an error means; one that is not known is a fault of the check."""
    if isinstance(error, PatchwrightError):
        return failed(_one_line(error), fix or _fix_of(error))
    if isinstance(error, SQLAlchemyError):
        words = f"the database cannot be read: {database_error_text(error)}"
        return failed(words, fix or "see the check `database`")
    words = f"the check itself failed: {type(error).__name__}: {_one_line(error)}"
    return failed(words, "report this line as a bug")


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())


def _fix_of(error: PatchwrightError) -> str:
    return next((_FIXES[k] for k in type(error).__mro__ if k in _FIXES), _UNKNOWN)


_PACKAGE: Final = "patchwright.workers.doctor"
# The module of each check; the others are in one of their own name's first word.
_MODULES: Final[Mapping[str, str]] = {
    "broker": "service",
    "clock": "network",
    "model": "agent",
    "processes": "service",
    "public-url": "service",
    "repositories": "github",
    "sandbox": "agent",
    "secrets": "storage",
    "state": "storage",
}


CheckFunction = Callable[[CheckContext], CheckResult]


class CheckEntry(NamedTuple):
    """A check of that name, which has so many seconds to answer.

    Those that are `local` have no use for an App that was made for the service.
    """

    name: str
    within_s: float = 20.0
    local: bool = False

    @property
    def module(self) -> str:
        """Where it is; imported for a check that is wanted, as some take long."""
        first, _, _ = self.name.partition("-")
        return f"{_PACKAGE}.{_MODULES.get(self.name, first)}"

    def load(self) -> CheckFunction:
        """Import the function that carries it out."""
        function = f"check_{self.name.replace('-', '_')}"
        check: CheckFunction = getattr(import_module(self.module), function)
        return check


def _service_checks(plugins: Iterable[Plugin]) -> Iterator[CheckEntry]:
    for plugin in plugins:
        yield from (CheckEntry(one.name, one.within_s) for one in plugin.checks)


CHECKS: Final = (
    CheckEntry("settings", 10),
    CheckEntry("state", 10, local=True),
    CheckEntry("database", local=True),
    CheckEntry("secrets", local=True),
    CheckEntry("broker", 15, local=True),
    CheckEntry("processes", local=True),
    CheckEntry("sandbox", 60, local=True),
    CheckEntry("network", 15),
    CheckEntry("clock", 15),
    CheckEntry("model", 60, local=True),
    *_service_checks(one for one in PLUGINS if one.connect_forge),
    CheckEntry("public-url"),
    *_service_checks(one for one in PLUGINS if one.connect_chat),
    CheckEntry("repositories", 30),
)


def choose_checks(only: Iterable[str]) -> tuple[CheckEntry, ...]:
    """Return the checks of these names, all of them where none is named.

    The name of a service stands for all of its checks. Raises `SettingsError`.
    """
    wanted = tuple(only)
    if unknown := next(_unknown(wanted), None):
        near = nearest_name(unknown, [entry.name for entry in CHECKS])
        raise SettingsError(f"--only: there is no check {unknown!r}; is it {near!r}?")
    return tuple(one for one in CHECKS if not wanted or _is_named(one, wanted))


def _unknown(wanted: Iterable[str]) -> Iterator[str]:
    return (one for one in wanted if not any(_is_named(e, (one,)) for e in CHECKS))


def _is_named(entry: CheckEntry, wanted: Iterable[str]) -> bool:
    return any(entry.name == one or entry.name.startswith(f"{one}-") for one in wanted)


@dataclass(frozen=True, slots=True)
class _RunningCheck:
    """A check that was begun; `ended` has the reading of the clock at its end."""

    entry: CheckEntry
    asked: "Future[CheckResult]"
    ended: "Future[float]"


def run_checks(
    context: CheckContext, entries: Iterable[CheckEntry]
) -> Iterator[NamedResult]:
    """Yield a verdict for each check; who waits for a slow one misses nothing.

    One that is late is left behind, in a thread that keeps no process alive.
    """
    clock = context.clock
    began_at = clock.monotonic()
    for running in [_start_check(entry, context) for entry in entries]:
        left_s = began_at + running.entry.within_s - clock.monotonic()
        yield _named_result(running, began_at, max(left_s, 0.0))


def _start_check(entry: CheckEntry, context: CheckContext) -> _RunningCheck:
    ended: Future[float] = Future()
    asked = start_call(lambda: entry.load()(context))
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
    finding = result_of_error(error) if error else asked.result()
    return NamedResult(entry.name, finding, round(seconds, 3))
