"""Wait for one thing, and hear meanwhile what people say."""

from concurrent.futures import Future
from typing import TypeVar

from patchwright.core.agent.chronicle import Chronicle
from patchwright.core.errors import LeaseLostError
from patchwright.core.events.types import AgentState

T = TypeVar("T")
GivenBack = Future[None]

_CALL_OFF = frozenset({AgentState.STOPPED, AgentState.PAUSED})


class CalledOffError(Exception):
    """A person wants the run stopped or paused: nothing more is waited for."""


class Attention:
    """Keeps an ear on the run's log while something else is waited for.

    `given_back` is done when this process must let go of the job.
    """

    def __init__(self, chronicle: Chronicle, given_back: GivenBack) -> None:
        self._chronicle = chronicle
        self._given_back = given_back
        bell = chronicle.bell
        given_back.add_done_callback(lambda _: bell.set())

    @property
    def is_called_off(self) -> bool:
        wanted = self._chronicle.state.wanted
        return wanted is not None and wanted.state in _CALL_OFF

    def check(self) -> None:
        """Take note of what was said; raise if nothing more is to be done.

        Raises `CalledOffError`, or `LeaseLostError` when the job was given back.
        """
        self._check_held()
        self._chronicle.catch_up()
        # It silences the bell, which may have rung for this.
        self._check_held()
        if self.is_called_off:
            raise CalledOffError

    def _check_held(self) -> None:
        if self._given_back.done():
            raise LeaseLostError("the job was given back")

    def wait_for(self, future: "Future[T]") -> T:
        """Return what comes of a call; raises as `hear` does, leaving it behind."""
        bell = self._chronicle.bell
        future.add_done_callback(lambda _: bell.set())
        while not future.done():
            bell.wait()
            if not future.done():
                self.check()
        return future.result()
