"""What an operator has said to a job."""

from typing import Final

from sqlalchemy import Connection, bindparam, select

from patchwright.core.events.types import ChangeState, Source
from patchwright.core.types.ids import JobId
from patchwright.workers.db.tables import events, jobs

_KIND: Final = ChangeState.model_fields["kind"].default
_UNREAD: Final = (
    select(events.c.id)
    .join(jobs, jobs.c.conversation_id == events.c.conversation_id)
    .where(
        jobs.c.id == bindparam("job"),
        events.c.kind == _KIND,
        events.c.source == Source.USER.value,
        events.c.id > jobs.c.read_up_to,
        # An earlier job of the conversation was not this one.
        events.c.at >= jobs.c.created_at,
    )
    .limit(1)
)


def has_unread_command(connection: Connection, job_id: JobId) -> bool:
    """Tell whether an operator wants something that the job has not taken note of."""
    return connection.execute(_UNREAD, {"job": job_id}).first() is not None
