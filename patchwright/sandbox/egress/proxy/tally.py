"""Count what was refused, by host and port."""

from __future__ import annotations

import threading
import time
from typing import Dict

from patchwright.sandbox.egress.proxy.refusal import ProxyRefusal

# Whoever tries out all names there are gets no list of them.
MAX_HOSTS = 100
OTHERS = ("other hosts", 0)

Counted = Dict[str, object]


class RefusalCounter:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: dict[tuple[str, int], Counted] = {}

    def note(self, refusal: ProxyRefusal) -> None:
        if not refusal.is_counted:
            return
        with self._lock:
            entry = self._entry(refusal)
            entry["count"] = int(str(entry["count"])) + 1

    def counted(self) -> list[Counted]:
        """Return an entry for each host and port, in the order of the first attempt.

        `first_at` is in seconds since 1970.
        """
        with self._lock:
            return [dict(entry) for entry in self._found.values()]

    def _entry(self, refusal: ProxyRefusal) -> Counted:
        key = (refusal.host, refusal.port)
        if key not in self._found and len(self._found) >= MAX_HOSTS:
            key = OTHERS
        host, port = key
        new: Counted = {
            "host": host,
            "port": port,
            "count": 0,
            "first_at": time.time(),
            "why": refusal.text if key != OTHERS else "",
        }
        return self._found.setdefault(key, new)
