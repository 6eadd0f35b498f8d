"""Follow a run that another process works on, until it ends."""

from collections.abc import Callable
from typing import Final

from patchwright.core.events.doorbell import Notifier
from patchwright.core.events.types import Event
from patchwright.workers.runs.reader import RunReader, EventSpan
from patchwright.workers.store.job import Job, is_over

# The state of a run can change without an event.
LOOK_AGAIN_S: Final = 1.0


def follow_until_end(
    reader: RunReader, notifier: Notifier, job: Job, show: Callable[[Event], None]
) -> Job:
    """Hand over each event as it comes; return the job when it has ended."""
    span, seen = EventSpan(), 0
    with notifier.listen(job.conversation_id) as wakeup:
        while True:
            wakeup.clear()
            # Asked before the events: what ended it is among them then.
            job = reader.jobs.load(job.id) or job
            span = span if span.first else reader.span(job)
            while events := reader.after(job, span, seen):
                for event in events:
                    show(event)
                seen = events[-1].id
            if is_over(job):
                return job
            wakeup.wait(LOOK_AGAIN_S)
