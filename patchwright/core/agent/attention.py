"""Wait for one thing, and hear meanwhile what people say."""

from concurrent.futures import Future
from typing import TypeVar

from patchwright.core.agent.chronicle import RunLog
from patchwright.core.errors import LeaseLostError
from patchwright.core.events.types import AgentState

T = TypeVar("T")
ReleaseSignal = Future[None]

_CANCEL_STATES = frozenset({AgentState.STOPPED, AgentState.PAUSED})


class RunCancelledError(Exception):
    """A person wants the run stopped or paused: nothing more is waited for."""


class CancelToken:
    """Keeps an ear on the run's log while something else is waited for.

    `given_back` is done when this process must let go of the job.
    """

    def __init__(self, run_log: RunLog, release_signal: ReleaseSignal) -> None:
        self._run_log = run_log
        self._release_signal = release_signal
        wakeup = run_log.wakeup
        release_signal.add_done_callback(lambda _: wakeup.set())

    @property
    def is_cancelled(self) -> bool:
        wanted = self._run_log.state.wanted
        return wanted is not None and wanted.state in _CANCEL_STATES

    def check(self) -> None:
        """Take note of what was said; raise if nothing more is to be done.

        Raises `CalledOffError`, or `LeaseLostError` when the job was given back.
        """
        self._check_held()
        self._run_log.catch_up()
        # It silences the bell, which may have rung for this.
        self._check_held()
        if self.is_cancelled:
            raise RunCancelledError

    def _check_held(self) -> None:
        if self._release_signal.done():
            raise LeaseLostError("the job was given back")

    def wait_for(self, future: "Future[T]") -> T:
        """Return what comes of a call; raises as `hear` does, leaving it behind."""
        wakeup = self._run_log.wakeup
        future.add_done_callback(lambda _: wakeup.set())
        while not future.done():
            wakeup.wait()
            if not future.done():
                self.check()
        return future.result()
