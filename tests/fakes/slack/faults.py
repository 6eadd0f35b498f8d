"""Failures to order: what the next calls meet instead of an answer."""

import json
from dataclasses import dataclass, field

from tests.fakes.slack.call import Fault
from tests.fakes.slack.state import World


@dataclass
class Faults:
    """Faults in the order in which they were asked for; each is used up."""

    world: World
    pending: list[Fault] = field(default_factory=list)

    def take(self, method: str) -> Fault | None:
        """Return the first fault for that call, and count it as used."""
        for fault in self.pending:
            if fault.method in (method, "*"):
                fault.times -= 1
                if not fault.times:
                    self.pending.remove(fault)
                return fault
        return None

    def fail_next(
        self,
        method: str,
        error: str = "",
        *,
        status: int = 200,
        times: int = 1,
        is_late: bool = False,
    ) -> None:
        """Let the next calls fail by a code or a status; `*` is any method.

        With `is_late` the work is done, and only the answer gets lost.
        """
        body = json.dumps({"ok": False, "error": error}).encode() if error else b"no"
        fault = Fault(
            method=method, status=status, body=body, times=times, is_late=is_late
        )
        self.pending.append(fault)

    def answer_next(self, method: str, body: bytes) -> None:
        """Let the next call be answered by these bytes."""
        self.pending.append(Fault(method=method, status=200, body=body))

    def limit_next(self, method: str, retry_after_s: int, *, times: int = 1) -> None:
        """Let the next calls be too many."""
        body = b'{"ok":false,"error":"ratelimited"}'
        headers = {"Retry-After": str(retry_after_s)}
        self.pending.append(
            Fault(method=method, status=429, body=body, headers=headers, times=times)
        )

    def expire_triggers(self) -> None:
        """Let three seconds pass for everything that was pressed so far."""
        with self.world.lock:
            found = self.world.triggers
            self.world.triggers = {key: (who, 0.0) for key, (who, _) in found.items()}
