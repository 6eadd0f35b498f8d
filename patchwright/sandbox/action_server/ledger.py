"""Which actions were asked for, so that none of them runs twice."""

from __future__ import annotations

from collections import OrderedDict

from patchwright.sandbox.action_server.wire import Reply, error

KEPT_RESULTS = 128


class IdempotencyTable:
    """Results by action id. The last ones are kept whole, the ids of all others too.

    An action whose result is gone is answered with an error: it is known to have run,
    and must not run again by itself.
    """

    def __init__(self, kept_results: int = KEPT_RESULTS) -> None:
        self._kept_results = kept_results
        self._seen: set[str] = set()
        self._results: OrderedDict[str, Reply] = OrderedDict()

    def begin(self, action_id: str) -> bool:
        """Return whether this action is new; from now on it is not."""
        is_new = action_id not in self._seen
        self._seen.add(action_id)
        return is_new

    def finish(self, action_id: str, result: Reply) -> None:
        self._results[action_id] = result
        if len(self._results) > self._kept_results:
            self._results.popitem(last=False)

    def find(self, action_id: str, *, is_running: bool) -> Reply | None:
        """Return what came of an action, or None if that will be sent later."""
        if is_running:
            return None
        lost = error("unknown", "this action has run; its result is no longer known")
        return self._results.get(action_id, lost)
