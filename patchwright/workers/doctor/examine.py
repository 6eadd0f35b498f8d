"""Carry the checks out, all at once, and tell what they find in their order."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as LateError
from dataclasses import dataclass
from importlib import import_module

from patchwright.core.background import start
from patchwright.workers.doctor.case import Case
from patchwright.workers.doctor.errors import explained
from patchwright.workers.doctor.finding import Finding, Verdict, failed
from patchwright.workers.doctor.table import Entry

Check = Callable[[Case], Finding]


@dataclass(frozen=True, slots=True)
class _Running:
    """A check that was begun; `ended` has the reading of the clock at its end."""

    entry: Entry
    asked: "Future[Finding]"
    ended: "Future[float]"


def examine(context: Case, entries: Iterable[Entry]) -> Iterator[Verdict]:
    """Yield a verdict for each check; who waits for a slow one misses nothing.

    One that is late is left behind, in a thread that keeps no process alive.
    """
    clock = context.clock
    began_at = clock.monotonic()
    for running in [_begin(entry, context) for entry in entries]:
        left_s = began_at + running.entry.within_s - clock.monotonic()
        yield _verdict(running, began_at, max(left_s, 0.0))


def _begin(entry: Entry, context: Case) -> _Running:
    ended: Future[float] = Future()
    asked = start(lambda: _find(entry)(context))
    asked.add_done_callback(lambda _: ended.set_result(context.clock.monotonic()))
    return _Running(entry, asked, ended)


def _find(entry: Entry) -> Check:
    check: Check = import_module(entry.module).check
    return check


def _verdict(running: _Running, began_at: float, left_s: float) -> Verdict:
    entry, asked = running.entry, running.asked
    try:
        seconds = running.ended.result(left_s) - began_at
    except LateError:
        words = f"no answer within {entry.within_s:.0f} s"
        fix = f"try it alone: patchwright doctor --only {entry.name}"
        return Verdict(entry.name, failed(words, fix), entry.within_s)
    error = asked.exception()
    finding = explained(error) if error else asked.result()
    return Verdict(entry.name, finding, round(seconds, 3))
