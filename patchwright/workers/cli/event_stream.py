"""The events of a run on standard output, one JSON object a line as they come."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import typer

from patchwright.core.events.log import EventLog
from patchwright.core.events.types import Event

EVENT: Final = "event"
RESULT: Final = "result"


def event_line(event: Event) -> str:
    """Write an event as the log has it, without secrets, and its `type`."""
    return json.dumps({"type": EVENT, **event.model_dump(mode="json")})


def result_line(result: str) -> str:
    """Add the `type` to the object that `--json` prints."""
    return json.dumps({"type": RESULT, **json.loads(result)})


@contextmanager
def event_stream(log: EventLog, *, is_wanted: bool) -> Iterator[None]:
    """Print what is written to the log while the block runs."""
    if not is_wanted:
        yield
        return
    with log.subscribe(_Printer().show):
        yield


class _Printer:
    def __init__(self) -> None:
        self._is_read = True

    def show(self, event: Event) -> None:
        if not self._is_read:
            return
        try:
            typer.echo(event_line(event))
        except BrokenPipeError:
            # Whoever read it has gone; the run goes on, and its log has everything.
            self._is_read = False
