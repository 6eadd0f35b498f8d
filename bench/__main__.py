"""Measure: `python -m bench`, or `python -m bench NAME...` for some of it."""

import sys
from collections.abc import Callable, Iterable, Mapping

from rich.console import Console

from bench import event_log, intake, sandboxes, start_up, steps
from bench.figures import Figure, show

BENCHES: Mapping[str, tuple[str, Callable[[], Iterable[Figure]]]] = {
    "intake": ("Webhook intake", intake.measure),
    "events": ("Event log", event_log.measure),
    "steps": ("One step of the loop", steps.measure),
    "sandboxes": ("Sandboxes", sandboxes.measure),
    "start": ("Command line", start_up.measure),
}
_WIDE = 140


def main(names: list[str]) -> int:
    console = Console(width=None if sys.stdout.isatty() else _WIDE)
    if unknown := set(names) - BENCHES.keys():
        console.print(f"no such bench: {', '.join(unknown)}; {', '.join(BENCHES)}")
        return 2
    for name in names or BENCHES:
        title, measure = BENCHES[name]
        show(console, title, measure())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
