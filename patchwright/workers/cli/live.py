"""Show a run while it works, on standard error."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from patchwright.core.agent.loop_finder import describe_step
from patchwright.core.events import types as ev
from patchwright.core.events.log import EventLog
from patchwright.core.system.clock import Clock
from patchwright.core.text.strings import count_noun
from patchwright.core.types.work import Limits
from patchwright.resolver.messages.elements import cost_text, duration_text
from patchwright.resolver.messages.status import Progress
from patchwright.resolver.progress import ProgressTracker
from patchwright.workers.cli.terminal import plain, print_line

_SPINNER_CELLS = 2


@contextmanager
def live_view(
    console: Console,
    log: EventLog,
    watch: ProgressTracker,
    limits: Limits,
    clock: Clock,
) -> Iterator[None]:
    """Print what is finished line by line; a terminal shows what is going on below."""
    with live_lines(console, watch, limits, clock) as show, log.subscribe(show):
        yield


@contextmanager
def live_lines(
    console: Console, watch: ProgressTracker, limits: Limits, clock: Clock
) -> Iterator[Callable[[ev.Event], None]]:
    """Lend what shows one event after the other."""
    doing = _ProgressLine(console, watch, limits, clock)
    # It is drawn again and again, and the time in it goes on.
    with console.status(doing):
        yield _LiveView(console, watch).show


@dataclass(frozen=True)
class _ProgressLine:
    """The line of what is going on, and what it took so far."""

    console: Console
    watch: ProgressTracker
    limits: Limits
    clock: Clock

    def __rich__(self) -> Text:
        progress = self.watch.progress(self.clock.now())
        spent = cost_text(progress.usage, progress.allowed(self.limits))
        parts = [spent] if progress.iterations else []
        figures = " · ".join([duration_text(progress.seconds), *parts])
        width = self.console.width - _SPINNER_CELLS
        return _fit_line(progress.doing, figures, width)


def _fit_line(words: str, figures: str, width: int) -> Text:
    """Put them on one line; the text is cut first, down to a third of the line."""
    tail = Text(f" · {figures}", style="dim")
    text = plain(words)
    text.truncate(max(width - tail.cell_len, width // 3), overflow="ellipsis")
    text.append_text(tail)
    text.truncate(width, overflow="ellipsis")
    return text


class _LiveView:
    def __init__(self, console: Console, watch: ProgressTracker) -> None:
        self._console, self._watch = console, watch
        self._stages = 0
        self._step = ""

    def show(self, event: ev.Event) -> None:
        progress = self._watch.add(event)
        stages = (*progress.done, *progress.then)
        for stage in stages[self._stages :]:
            is_missed = stage in progress.missed
            mark, style = ("✗", "red") if is_missed else ("✓", "")
            print_line(self._console, plain(f"{mark} {stage}", style))
        self._stages = len(stages)
        payload = event.payload
        if isinstance(payload, ev.SandboxAction | ev.Think):
            self._step = describe_step(payload)
        elif event.source is ev.Source.ENVIRONMENT and isinstance(
            payload, ev.Observation
        ):
            self._show_step(progress, payload)

    def _show_step(self, progress: Progress, observation: ev.Observation) -> None:
        result = _result_text(observation)
        if self._step or result:
            number = Text(f"{progress.iterations:>3}  ", style="dim")
            step = number.append_text(plain(self._step))
            print_line(self._console, step, result)
        self._step = ""


def _result_text(observation: ev.Observation) -> Text:
    match observation:
        case ev.CommandOutput(still_running=True):
            return Text("still running", style="yellow")
        case ev.CommandOutput(exit_code=0):
            return Text("exit 0", style="green")
        case ev.CommandOutput(exit_code=None):
            return Text("no exit code", style="red")
        case ev.CommandOutput(exit_code=code):
            return Text(f"exit {code}", style="red")
        case ev.SearchResult(matches=matches):
            return Text(count_noun(matches, "line"), style="dim")
        case ev.ErrorObservation(text=text):
            return plain(text.partition("\n")[0], "red")
        case _:
            return Text()
