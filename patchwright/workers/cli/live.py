"""Show a run while it works, on standard error."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from rich.console import Console
from rich.text import Text

from patchwright.core.events import types as ev
from patchwright.core.events.log import EventLog
from patchwright.core.system.clock import Clock
from patchwright.core.types.work import Limits
from patchwright.resolver.messages.elements import cost_text, duration_text
from patchwright.resolver.messages.status import Progress
from patchwright.resolver.progress import ProgressTracker
from patchwright.workers.cli.step_lines import Block, StepReader
from patchwright.workers.cli.terminal import hanging_lines, plain, print_hanging

_SPINNER_CELLS: Final = 2
_NUMBER_CELLS: Final = 5
# An activity that takes longer shows its age.
_YOUNG_S: Final = 3.0
_HINT: Final = "Ctrl-C stops the run and keeps the work so far"


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
    view = _LiveView(console, watch, clock.now())
    # It is drawn again and again, and the times in it go on.
    with console.status(_PresentLines(view, limits, clock)):
        yield view.show


class _LiveView:
    def __init__(
        self, console: Console, watch: ProgressTracker, started_at: datetime
    ) -> None:
        self.console, self.watch = console, watch
        self.steps = StepReader()
        self.last_at = started_at
        self.waits = False
        self._stages = 0

    def show(self, event: ev.Event) -> None:
        progress = self.watch.add(event)
        self.last_at = event.at
        if isinstance(event.payload, ev.StateChanged):
            self.waits = _is_wait(event)
        stages = (*progress.done, *progress.then)
        for stage in stages[self._stages :]:
            is_missed = stage in progress.missed
            mark, style = ("✗", "red") if is_missed else ("✓", "")
            print_hanging(self.console, plain(f"{mark} {stage}", style), len("✓ "))
        self._stages = len(stages)
        self._print_blocks(self.steps.read(event, progress.iterations))
        if _is_wait(event) and not self.console.is_terminal:
            # There is no line for what is going on.
            self.console.print(plain(progress.doing), soft_wrap=True)

    def _print_blocks(self, blocks: Iterator[Block]) -> None:
        for block in blocks:
            for line in _block_lines(self.console, block):
                self.console.print(line, soft_wrap=True)

    def doing(self, progress: Progress) -> str:
        """Return what goes on; of a step what it does now."""
        if not progress.doing.startswith("Step "):
            return progress.doing
        if self.steps.running:
            return f"Step {progress.iterations}: {self.steps.running}"
        return f"Step {progress.iterations + 1}: asking the model"


def _is_wait(event: ev.Event) -> bool:
    match event.payload:
        case ev.StateChanged(state=ev.AgentState.RATE_LIMITED):
            return True
        case _:
            return False


def _block_lines(console: Console, block: Block) -> Iterator[Text]:
    """Put a block beside the number of its step; nothing of it is cut."""
    number = f"{block.number:>3}" if block.number else ""
    mark = "│ " * block.depth
    start = Text(f"{number:<{_NUMBER_CELLS}}{mark}", style="dim")
    others = Text(f"{'':<{_NUMBER_CELLS}}{mark}", style="dim")
    return hanging_lines(console, start, others, block.text)


@dataclass(frozen=True)
class _PresentLines:
    """What is going on and what it took so far; below it the plan and the files.

    While it waits, its second sentence takes their place: when it is tried again.
    """

    view: _LiveView
    limits: Limits
    clock: Clock

    def __rich__(self) -> Text:
        now, view = self.clock.now(), self.view
        progress = view.watch.progress(now)
        width = view.console.width - _SPINNER_CELLS
        doing, then = view.doing(progress), ""
        if view.waits:
            doing, _, then = doing.partition(". ")
        first = self._first(doing, progress, now, width)
        # There are always two lines: rich leaves remains of one that grows.
        second = plain(then or _second(view.steps) or _HINT, "dim")
        second.truncate(width, overflow="ellipsis")
        return Text("\n").join([first, second])

    def _first(self, doing: str, progress: Progress, now: datetime, width: int) -> Text:
        age_s = (now - self.view.last_at).total_seconds()
        spent = cost_text(progress.usage, progress.allowed(self.limits))
        figures = [
            f"for {duration_text(age_s)}" if age_s >= _YOUNG_S else "",
            f"{duration_text(progress.seconds)} in all",
            spent if progress.iterations else "",
        ]
        shown = " · ".join(filter(None, figures))
        return _fit_line(doing, shown, width)


def _second(steps: StepReader) -> str:
    """Name the present part of the plan, and the files that were changed."""
    done = sum(one.state == "done" for one in steps.todos)
    left = [one for one in steps.todos if one.state != "done"]
    present = next((one for one in left if one.state == "doing"), None)
    present = present or next(iter(left), None)
    parts = [
        f"plan {done + 1} of {len(steps.todos)}: {present.text}" if present else "",
        f"changed: {', '.join(steps.changed)}" if steps.changed else "",
    ]
    return " · ".join(" ".join(part.split()) for part in parts if part)


def _fit_line(words: str, figures: str, width: int) -> Text:
    """Put them on one line; the text is cut first, down to a third of the line."""
    tail = Text(f" · {figures}", style="dim")
    text = plain(words)
    text.truncate(max(width - tail.cell_len, width // 3), overflow="ellipsis")
    text.append_text(tail)
    text.truncate(width, overflow="ellipsis")
    return text
