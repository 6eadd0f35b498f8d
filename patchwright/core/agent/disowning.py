"""Say of actions whose sandbox is gone that nobody knows what came of them."""

from typing import Final

from patchwright.core.agent.chronicle import RunLog
from patchwright.core.agent.open_reply import OpenReply, PendingCall
from patchwright.core.events.types import (
    ErrorObservation,
    Event,
    SandboxAction,
    Source,
)

UNKNOWN_RESULT: Final = (
    "It is not known what came of this: the worker was lost while it ran, and the "
    "sandbox with it. It was not run again. Look at the state of things before you do."
)


def mark_unknown(run_log: RunLog, since_id: int) -> None:
    """Give the actions that were sent off, by whichever agent, their results.

    To be called before another sandbox is started: what is sent off after that went
    to the new one, so that no worker, lost or not, can take the one for the other.
    """
    agents: dict[str, OpenReply] = {}

    def follow(event: Event) -> None:
        agents.setdefault(event.payload.agent, OpenReply()).follow(event)

    run_log.catch_up()
    run_log.follow(follow, since_id)
    run_log.leave(follow)
    for agent, reply in agents.items():
        pending = reply.first()
        if pending is not None and isinstance(pending.action, SandboxAction):
            _conclude(run_log, agent, pending)


def _conclude(run_log: RunLog, agent: str, pending: PendingCall) -> None:
    unknown = ErrorObservation(
        reason="unknown", text=UNKNOWN_RESULT, call_id=pending.call.id, agent=agent
    )
    run_log.append(Source.ENVIRONMENT, unknown, pending.action_id)
