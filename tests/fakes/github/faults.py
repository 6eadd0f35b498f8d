"""Failures to order: what the next requests meet instead of an answer."""

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from tests.fakes.github.exchange import Answer


class When(Enum):
    """Whether the work is done before the answer gets lost."""

    INSTEAD = "instead"
    AFTER = "after"


@dataclass(kw_only=True)
class Fault:
    method: str
    path: re.Pattern[str]
    answer: Answer
    times: int
    when: When


class Moment(Enum):
    """Where a request is held up: nothing is done yet, or only the answer is due."""

    BEFORE = "before"
    AFTER = "after"


@dataclass(kw_only=True)
class Interruption:
    """Something that happens once, in the middle of a request whose body matches."""

    method: str
    path: re.Pattern[str]
    body: re.Pattern[bytes]
    moment: Moment
    happens: Callable[[], None]

    def fits(self, method: str, path: str, body: bytes) -> bool:
        return (
            self.method == method
            and self.path.search(path) is not None
            and self.body.search(body) is not None
        )


@dataclass
class Faults:
    """Faults in the order they were asked for; each is used up."""

    pending: list[Fault] = field(default_factory=list)
    interruptions: list[Interruption] = field(default_factory=list)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def add(
        self, method: str, path_regex: str, answer: Answer, *, times: int, when: When
    ) -> None:
        path = re.compile(path_regex)
        fault = Fault(method=method, path=path, answer=answer, times=times, when=when)
        self.pending.append(fault)

    def take(self, method: str, path: str) -> Fault | None:
        """Return the first fault for that request, and count it as used."""
        with self._guard:
            for fault in self.pending:
                if fault.method == method and fault.path.search(path):
                    self._use(fault)
                    return fault
        return None

    def interruption(self, method: str, path: str, body: bytes) -> Interruption | None:
        """Return what is to happen in the middle of that request."""
        with self._guard:
            fitting = (
                one for one in self.interruptions if one.fits(method, path, body)
            )
            found = next(fitting, None)
            if found is not None:
                self.interruptions.remove(found)
        return found

    def _use(self, fault: Fault) -> None:
        fault.times -= 1
        if fault.times == 0:
            self.pending.remove(fault)
