"""What Ctrl-C does: first it asks for the work so far, then it ends the run."""

import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from types import FrameType
from typing import Final

from rich.console import Console
from rich.text import Text

from patchwright.core.agent.run_log import ReleaseSignal
from patchwright.core.events.actions import ChangeState
from patchwright.core.events.log import EventLog
from patchwright.core.events.observations import StateChanged
from patchwright.core.events.payload import AgentState, Source
from patchwright.core.system.signals import signal_handlers

# What a shell reports for a program that Ctrl-C has ended: 128 and SIGINT.
INTERRUPTED: Final = 130
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_ASKED: Final = (
    "Stopping: the work so far is handed over. Press Ctrl-C again to end at once."
)
_DELIVERS: Final = (
    "The run has ended and is being delivered. Press Ctrl-C again to end at once."
)


class Interruption:
    """Hears SIGINT, SIGTERM and SIGHUP.

    While an agent works, the first one asks it to stop, as `stop` does in a thread. Any
    other raises `KeyboardInterrupt` with the words of what it was, and `release_signal`
    is done then, so that whatever holds the run up is ended. What comes after that
    changes nothing any more.
    """

    def __init__(self, console: Console) -> None:
        self.release_signal: ReleaseSignal = Future()
        self.was_told = False
        self._console = console
        self._first: Callable[[str], None] | None = None

    def tell(self, number: int, _frame: FrameType | None) -> None:
        first, self._first = self._first, None
        self.was_told = True
        words = _words(number)
        if first is not None:
            # Not here: the thread that was interrupted may hold what this waits for.
            threading.Thread(target=first, args=(words,)).start()
            return
        for one in _SIGNALS:
            signal.signal(one, signal.SIG_IGN)
        threading.Thread(target=self.release_signal.set_result, args=(None,)).start()
        raise KeyboardInterrupt(words)

    @contextmanager
    def asking(self, log: EventLog) -> Iterator[None]:
        """Ask the agent of this log to stop at the first signal, if it has begun.

        Before that there is no work that could be kept.
        """
        with log.subscribe(lambda event: self._begin(log, event.payload)):
            try:
                yield
            finally:
                self._first = None

    @contextmanager
    def delivering(self) -> Iterator[None]:
        """Let a result be delivered after the first signal."""
        if not self.was_told:
            self._first = lambda _words: self._say(_DELIVERS)
        try:
            yield
        finally:
            self._first = None

    def _begin(self, log: EventLog, payload: object) -> None:
        if not isinstance(payload, StateChanged) or self.was_told:
            return
        if payload.state is AgentState.RUNNING:
            self._first = lambda words: self._ask(log, words)

    def _ask(self, log: EventLog, words: str) -> None:
        self._say(_ASKED)
        wanted = ChangeState(state=AgentState.STOPPED, reason=words)
        log.append(Source.USER, wanted)

    def _say(self, text: str) -> None:
        self._console.print(Text(text, style="yellow"), soft_wrap=True)


@contextmanager
def interruptible(console: Console | None = None) -> Iterator[Interruption]:
    """Lend what hears the signals while the block runs."""
    interruption = Interruption(console or Console(stderr=True))
    # One that is ignored already is to be ignored, such as SIGHUP under nohup.
    handled = [one for one in _SIGNALS if signal.getsignal(one) is not signal.SIG_IGN]
    with signal_handlers(dict.fromkeys(handled, interruption.tell)):
        yield interruption


def _words(number: int) -> str:
    return "Ctrl-C" if number == signal.SIGINT else signal.Signals(number).name
