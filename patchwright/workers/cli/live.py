"""Show a run while it works, on standard error."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.status import Status
from rich.text import Text

from patchwright.core.agent.stuck import describe
from patchwright.core.events.log import EventLog
from patchwright.core.events.types import (
    CommandOutput,
    ErrorObservation,
    Event,
    Observation,
    SandboxAction,
    SearchResult,
    Source,
    Think,
)
from patchwright.core.types.work import Limits
from patchwright.resolver.messages.facts import cost, counted
from patchwright.resolver.messages.status import Progress
from patchwright.resolver.progress import Watch
from patchwright.workers.cli.lines import print_line

_SPINNER_CELLS = 2


@contextmanager
def live_view(
    console: Console, log: EventLog, watch: Watch, limits: Limits
) -> Iterator[None]:
    """Print what is finished line by line; a terminal shows what is going on below."""
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
        self._stages = 0
        self._step = ""

    def show(self, event: Event) -> None:
        progress = self._watch.add(event)
        self._status.update(self._doing(progress))
        stages = (*progress.done, *progress.then)
        for stage in stages[self._stages :]:
            print_line(self._console, Text(f"✓ {stage}"))
        self._stages = len(stages)
        payload = event.payload
        if isinstance(payload, SandboxAction | Think):
            self._step = describe(payload)
        elif event.source is Source.ENVIRONMENT and isinstance(payload, Observation):
            self._show_step(progress, payload)

    def _show_step(self, progress: Progress, observation: Observation) -> None:
        result = _result(observation)
        if self._step or result:
            number = Text(f"{progress.iterations:>3}  ", style="dim")
            print_line(self._console, number.append(self._step), result)
        self._step = ""

    def _doing(self, progress: Progress) -> Text:
        spent = cost(progress.usage, self._limits) if progress.iterations else ""
        text = Text(" · ".join(part for part in (progress.doing, spent) if part))
        text.truncate(self._console.width - _SPINNER_CELLS, overflow="ellipsis")
        return text


def _result(observation: Observation) -> Text:
    match observation:
        case CommandOutput(still_running=True):
            return Text("still running", style="yellow")
        case CommandOutput(exit_code=0):
            return Text("exit 0", style="green")
        case CommandOutput(exit_code=None):
            return Text("no exit code", style="red")
        case CommandOutput(exit_code=code):
            return Text(f"exit {code}", style="red")
        case SearchResult(matches=matches):
            return Text(counted(matches, "line"), style="dim")
        case ErrorObservation(text=text):
            return Text(text.partition("\n")[0], style="red")
        case _:
            return Text()
