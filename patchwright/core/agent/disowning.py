"""Say of actions whose sandbox is gone that nobody knows what came of them."""

from typing import Final

from patchwright.core.agent.chronicle import Chronicle
from patchwright.core.agent.open_reply import OpenReply, Pending
from patchwright.core.events.types import (
    ErrorObservation,
    Event,
    SandboxAction,
    Source,
)

NOT_KNOWN: Final = (
    "It is not known what came of this: the worker was lost while it ran, and the "
    "sandbox with it. It was not run again. Look at the state of things before you do."
)


def disown(chronicle: Chronicle, since_id: int) -> None:
    """Give the actions that were sent off, by whichever agent, their results.

    To be called before another sandbox is started: what is sent off after that went
    to the new one, so that no worker, lost or not, can take the one for the other.
    """
    agents: dict[str, OpenReply] = {}

    def follow(event: Event) -> None:
        agents.setdefault(event.payload.agent, OpenReply()).follow(event)

    chronicle.catch_up()
    chronicle.follow(follow, since_id)
    chronicle.leave(follow)
    for agent, reply in agents.items():
        pending = reply.first()
        if pending is not None and isinstance(pending.action, SandboxAction):
            _conclude(chronicle, agent, pending)


def _conclude(chronicle: Chronicle, agent: str, pending: Pending) -> None:
    unknown = ErrorObservation(
        reason="unknown", text=NOT_KNOWN, call_id=pending.call.id, agent=agent
    )
    chronicle.append(Source.ENVIRONMENT, unknown, pending.action_id)
