"""Write down that a run begins, or find the task with which it has begun."""

from importlib.metadata import version

from patchwright.core.events.types import Message, RunStarted, Source
from patchwright.core.types.work import Task
from patchwright.resolver.toolkit import RunDependencies


def record_start(task: Task | None, dependencies: RunDependencies, start_id: int) -> Task:
    """Return the task of the run that the log from `start_id` on has, or now begins."""
    kinds = frozenset({"run_started", "message"})
    known = dependencies.log.read(start_id, kinds=kinds)
    begun = [event.payload for event in known if isinstance(event.payload, RunStarted)]
    found = begun[-1].task if begun else _append_start(task, dependencies)
    was_told = any(
        event.source is Source.SYSTEM and isinstance(event.payload, Message)
        for event in known
    )
    if not was_told:
        dependencies.log.append(Source.SYSTEM, Message(text=found.text))
    return found


def _append_start(task: Task | None, dependencies: RunDependencies) -> Task:
    """Return the task as every later attempt reads it: without secrets."""
    if task is None:
        raise ValueError("there is neither a task nor a run that was begun")
    started = RunStarted(
        run_id=dependencies.run_id,
        task=task,
        limits=dependencies.limits,
        model=dependencies.models.main.name,
        version=version("patchwright"),
    )
    stored = dependencies.log.append(Source.SYSTEM, started).payload
    return stored.task if isinstance(stored, RunStarted) else task
