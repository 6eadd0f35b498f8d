"""Signals that the main thread hears at once, whatever it waits for."""

import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Final

Handler = Callable[[int, FrameType | None], object]

# When the main thread is interrupted after a signal, in seconds after the last time.
_AGAIN_S: Final = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
# What interrupts it: nothing else uses this one, and without a handler it does nothing.
_WAKE: Final = signal.SIGURG


def _do_nothing() -> None:
    """Be called after a signal by whoever has nothing to repeat."""


@contextmanager
def signal_handlers(
    handlers: Mapping[signal.Signals, Handler],
    repeat: Callable[[], None] = _do_nothing,
) -> Iterator[None]:
    """Handle signals in the main thread while the block runs, which it must enter.

    Python calls a handler between two instructions. A signal that comes when the main
    thread has none left before it waits for a lock is handled when that wait has ended,
    which may be never. So another thread, told by the operating system, interrupts the
    main thread a few times after each signal. `repeat` is called each time: what a
    handler raises is lost where it interrupts a destructor.
    """
    told, teller = socket.socketpair()
    teller.setblocking(False)
    main_id = threading.get_ident()
    wakes: dict[signal.Signals, Handler] = {_WAKE: lambda *_: repeat()}
    before = {
        number: signal.signal(number, handler)
        for number, handler in (wakes | dict(handlers)).items()
    }
    earlier_fd = signal.set_wakeup_fd(teller.fileno(), warn_on_full_buffer=False)
    thread = threading.Thread(
        target=_interrupt, args=(told, main_id), name="signals", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(earlier_fd)
        teller.close()
        thread.join()
        told.close()
        for number, earlier in before.items():
            signal.signal(number, earlier)


def _interrupt(told: socket.socket, main_id: int) -> None:
    """Interrupt the main thread after each signal, until `told` has ended."""
    delays: list[float] = []
    while True:
        told.settimeout(delays.pop(0) if delays else None)
        try:
            numbers = told.recv(64)
        except TimeoutError:
            signal.pthread_kill(main_id, _WAKE)
            continue
        if not numbers:
            return
        if any(number != _WAKE for number in numbers):
            delays = list(_AGAIN_S)
