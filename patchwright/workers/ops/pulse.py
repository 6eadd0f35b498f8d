"""When a loop has last moved."""

from datetime import datetime

from patchwright.core.clock import Clock


class LoopActivity:
    """Felt by those who watch a loop; touched from any thread whenever it moves.

    `began_at` is when it was first waited for, `moved_at` None until it has moved.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.began_at = clock.now()
        self.moved_at: datetime | None = None

    def touch(self) -> None:
        # One reference is replaced by another: no lock is needed for that.
        self.moved_at = self._clock.now()
