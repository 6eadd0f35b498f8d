"""Show a run while it works, on standard error."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.status import Status
from rich.text import Text

from patchwright.core.events.log import EventLog
from patchwright.core.events.types import Event
from patchwright.core.types.work import Limits
from patchwright.resolver.messages.facts import cost
from patchwright.resolver.messages.status import Progress
from patchwright.resolver.progress import Watch


@contextmanager
def live_view(
    console: Console, log: EventLog, watch: Watch, limits: Limits
) -> Iterator[None]:
    """Print each finished stage as a line, and the present one as a moving status."""
    with console.status("Starting") as status:
        view = _View(console, status, watch, limits)
        with log.subscribe(view.show):
            yield


class _View:
    def __init__(
        self, console: Console, status: Status, watch: Watch, limits: Limits
    ) -> None:
        self._console, self._status = console, status
        self._watch, self._limits = watch, limits
        self._printed = 0
        self._doing = ""

    def show(self, event: Event) -> None:
        progress = self._watch.add(event)
        for stage in progress.done[self._printed :]:
            self._console.print(Text(f"✓ {stage}"))
        self._printed = len(progress.done)
        if progress.doing != self._doing:
            self._doing = progress.doing
            self._show_doing(progress)

    def _show_doing(self, progress: Progress) -> None:
        spent = cost(progress.usage, self._limits) if progress.iterations else ""
        text = Text(" · ".join(part for part in (progress.doing, spent) if part))
        self._status.update(text)
        if not self._console.is_terminal:
            self._console.print(text)
