"""Carry the checks out, all at once, and tell what they find in their order."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as LateError
from dataclasses import dataclass
from importlib import import_module

from patchwright.core.background import start_call
from patchwright.workers.doctor.case import CheckContext
from patchwright.workers.doctor.errors import result_of_error
from patchwright.workers.doctor.finding import CheckResult, NamedResult, failed
from patchwright.workers.doctor.table import CheckEntry

CheckFunction = Callable[[CheckContext], CheckResult]


@dataclass(frozen=True, slots=True)
class _RunningCheck:
    """A check that was begun; `ended` has the reading of the clock at its end."""

    entry: CheckEntry
    asked: "Future[Finding]"
    ended: "Future[float]"


def run_checks(context: CheckContext, entries: Iterable[CheckEntry]) -> Iterator[NamedResult]:
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
    asked = start_call(lambda: _load_check(entry)(context))
    asked.add_done_callback(lambda _: ended.set_result(context.clock.monotonic()))
    return _RunningCheck(entry, asked, ended)


def _load_check(entry: CheckEntry) -> CheckFunction:
    check: CheckFunction = import_module(entry.module).check
    return check


def _named_result(running: _RunningCheck, began_at: float, left_s: float) -> NamedResult:
    entry, asked = running.entry, running.asked
    try:
        seconds = running.ended.result(left_s) - began_at
    except LateError:
        words = f"no answer within {entry.within_s:.0f} s"
        fix = f"try it alone: patchwright doctor --only {entry.name}"
        return NamedResult(entry.name, failed(words, fix), entry.within_s)
    error = asked.exception()
    finding = result_of_error(error) if error else asked.result()
    return NamedResult(entry.name, finding, round(seconds, 3))
