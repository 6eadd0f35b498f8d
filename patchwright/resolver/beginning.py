"""Write down that a run begins, or find the task with which it has begun."""

from importlib.metadata import version

from patchwright.core.events.types import Message, RunStarted, Source
from patchwright.core.types.work import Task
from patchwright.resolver.toolkit import Toolkit


def begin(task: Task | None, kit: Toolkit, start_id: int) -> Task:
    """Return the task of the run that the log from `start_id` on has, or now begins."""
    kinds = frozenset({"run_started", "message"})
    known = kit.log.read(start_id, kinds=kinds)
    begun = [event.payload for event in known if isinstance(event.payload, RunStarted)]
    found = begun[-1].task if begun else _write_start(task, kit)
    was_told = any(
        event.source is Source.SYSTEM and isinstance(event.payload, Message)
        for event in known
    )
    if not was_told:
        kit.log.append(Source.SYSTEM, Message(text=found.text))
    return found


def _write_start(task: Task | None, kit: Toolkit) -> Task:
    """Return the task as every later attempt reads it: without secrets."""
    if task is None:
        raise ValueError("there is neither a task nor a run that was begun")
    started = RunStarted(
        run_id=kit.run_id,
        task=task,
        limits=kit.limits,
        model=kit.models.main.name,
        version=version("patchwright"),
    )
    stored = kit.log.append(Source.SYSTEM, started).payload
    return stored.task if isinstance(stored, RunStarted) else task
