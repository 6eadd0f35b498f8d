"""Write down that a run begins, or find the task with which it has begun."""

from importlib.metadata import version

from patchwright.core.events.types import Event, Message, RunStarted, Source
from patchwright.core.types.work import Task
from patchwright.resolver.toolkit import Toolkit


def begin(task: Task | None, kit: Toolkit, start_id: int) -> Task:
    """Return the task of a run that the log from `start_id` on has begun, or begins.

    The newest one counts, as every later attempt reads it: without secrets.
    """
    kinds = frozenset({"run_started", "message"})
    known = kit.log.read(start_id, kinds=kinds)
    begun = [event.payload for event in known if isinstance(event.payload, RunStarted)]
    if begun:
        task = begun[-1].task
    elif task is None:
        raise ValueError("there is neither a task nor a run that was begun")
    else:
        started = RunStarted(
            run_id=kit.run_id,
            task=task,
            limits=kit.limits,
            model=kit.models.main.name,
            version=version("patchwright"),
        )
        stored = kit.log.append(Source.SYSTEM, started).payload
        task = stored.task if isinstance(stored, RunStarted) else task
    if not any(event.source is Source.SYSTEM for event in known if _is_message(event)):
        kit.log.append(Source.SYSTEM, Message(text=task.text))
    return task


def _is_message(event: Event) -> bool:
    return isinstance(event.payload, Message)
