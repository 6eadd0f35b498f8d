"""Find the runs in a conversation's events, and the one that is meant."""

from collections.abc import Sequence
from itertools import pairwise

from patchwright.core.errors import SettingsError
from patchwright.core.events.types import Event, RunStarted
from patchwright.core.trajectory.document import RunFacts, facts_of

Events = Sequence[Event]


def split_runs(events: Events) -> list[Events]:
    """Return the events of each run, in order.

    A run that is taken up again does not begin anew. What was said before the first
    one belongs to it; older logs say nowhere that a run begins, and have one.
    """
    starts = [n for n, event in enumerate(events) if _begins(event)]
    borders = [0, *starts[1:], len(events)]
    return [events[first:end] for first, end in pairwise(borders) if first < end]


def choose_run(events: Events, run_id: str | None, name: str) -> Events:
    """Return the run whose id begins with `run_id`, or the only one there is.

    Raises `SettingsError`, which lists the runs, when it is not clear which is meant;
    `name` is what the events were read from.
    """
    runs = split_runs(events)
    if not runs:
        raise SettingsError(f"{name} is empty; a run writes an event at its start")
    if run_id is None:
        if len(runs) == 1:
            return runs[0]
        raise SettingsError(
            f"{name} has {len(runs)} runs; choose one with --run:\n{_list(runs)}"
        )
    found = [run for run in runs if facts_of(run).run_id.startswith(run_id)]
    if len(found) == 1:
        return found[0]
    problem = "more than one run begins" if found else "no run begins"
    raise SettingsError(f"--run: {problem} with {run_id!r}; there are:\n{_list(runs)}")


def _begins(event: Event) -> bool:
    return isinstance(event.payload, RunStarted)


def _list(runs: Sequence[Events]) -> str:
    return "\n".join(_line(facts_of(run)) for run in runs)


def _line(facts: RunFacts) -> str:
    run_id, outcome = facts.run_id or "(no id)", facts.outcome or "not ended"
    return f"  {run_id}  {outcome}  {facts.title}".rstrip()
