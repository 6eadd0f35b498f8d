"""Failures to order: what the next requests meet instead of an answer."""

import re
import threading
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


@dataclass
class Faults:
    """Faults in the order they were asked for; each is used up."""

    pending: list[Fault] = field(default_factory=list)
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

    def _use(self, fault: Fault) -> None:
        fault.times -= 1
        if fault.times == 0:
            self.pending.remove(fault)
