"""Measure: `python -m bench`, or `python -m bench NAME...` for some of it."""

import sys
from collections.abc import Callable, Iterable, Mapping

from rich.console import Console

from bench import (
    event_log,
    intake,
    listing,
    parsers,
    sandboxes,
    siege,
    start_up,
    steps,
    viewers,
)
from bench.figures import Metric, show

# In this order: a child's peak memory is never less than that of a parent which had
# more when it started it, and the later ones load litellm into this process.
# https://man7.org/linux/man-pages/man2/getrusage.2.html
BENCHES: Mapping[str, tuple[str, Callable[[], Iterable[Metric]]]] = {
    "start": ("Command line", start_up.measure),
    "intake": ("Webhook intake", intake.measure),
    "siege": ("Deliveries while strangers hold connections", siege.measure),
    "parsers": ("Reading what strangers send", parsers.measure),
    "events": ("Event log", event_log.measure),
    "listing": ("The list of runs", listing.measure),
    "viewers": ("People who watch a run", viewers.measure),
    "steps": ("One step of the loop", steps.measure),
    "sandboxes": ("Sandboxes", sandboxes.measure),
}
_WIDE = 140


def main(names: list[str]) -> int:
    console = Console(width=None if sys.stdout.isatty() else _WIDE)
    if unknown := set(names) - BENCHES.keys():
        console.print(f"no such bench: {', '.join(unknown)}; {', '.join(BENCHES)}")
        return 2
    for name, (title, measure) in BENCHES.items():
        if not names or name in names:
            show(console, title, measure())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
