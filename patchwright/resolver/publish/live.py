"""The way by which a run shows what it shows while it works."""

from collections.abc import Callable
from functools import partial
from typing import Final, Protocol

import structlog

from patchwright.core.channel import Channel
from patchwright.core.types.errors import ServiceError
from patchwright.core.types.triggers import Trigger
from patchwright.resolver.publish.effects import Acknowledge, Decline, RunEffect

log = structlog.get_logger(__name__)

# Writes to a service; returns where that can be seen, empty where nothing says it.
Carry = Callable[[], str]
# Returns where an earlier attempt has written it; None if it has not, or none can say.
Find = Callable[[], str | None]


def find_nothing() -> str | None:
    """Return that it must be done again, which leaves no second trace."""
    return None


def without_trace(write: Callable[[], None]) -> Carry:
    """Return a write of which nothing need be known later."""

    def carry() -> str:
        write()
        return ""

    return carry


class LivePublisher(Protocol):
    """The one way by which a run at work writes to a service."""

    def publish(
        self, effect: RunEffect, carry: Carry, find: Find = find_nothing
    ) -> str:
        """Carry out the effect, unless that was done; return where it can be seen.

        Raises `LeaseLostError`, or a `ServiceError` if a service did not do it: it is
        tried again if an attempt asks for it again.
        """
        ...


class ClosedPublisher:
    """A `LivePublisher` where nothing runs, and so nothing is shown."""

    def publish(
        self, effect: RunEffect, carry: Carry, find: Find = find_nothing
    ) -> str:
        del carry, find
        raise RuntimeError(f"{effect.kind} outside of a run")


class UnseenPublisher:
    """A `LivePublisher` of a run that shows nothing where the request was made."""

    def publish(
        self, effect: RunEffect, carry: Carry, find: Find = find_nothing
    ) -> str:
        del effect, carry, find
        return ""


NO_PUBLISHER: Final = ClosedPublisher()
UNSEEN: Final = UnseenPublisher()


def acknowledge(publisher: LivePublisher, channel: Channel, trigger: Trigger) -> None:
    """Show that a request was seen; the run does not depend on that."""
    if trigger.is_off_thread:
        # A reaction would be to what somebody else has written there.
        return
    react = partial(channel.acknowledge, trigger)
    _show(publisher, Acknowledge(request=trigger.key), react)


def decline(publisher: LivePublisher, channel: Channel, trigger: Trigger) -> None:
    """Show that a request is not followed."""
    if trigger.is_off_thread:
        return
    react = partial(channel.decline, trigger)
    _show(publisher, Decline(request=trigger.key), react)


def _show(
    publisher: LivePublisher, effect: Acknowledge | Decline, react: Callable[[], None]
) -> None:
    try:
        publisher.publish(effect, without_trace(react))
    except ServiceError as error:
        log.warning("reaction_not_shown", reason=error.reason)
