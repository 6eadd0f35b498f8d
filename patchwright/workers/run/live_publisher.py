"""Show what a run shows while it works, each thing once, through the outbox."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final, Protocol

import structlog
from sqlalchemy.exc import SQLAlchemyError

from patchwright.core.channel import Channel
from patchwright.core.errors import ServiceError, ServiceUnavailableError
from patchwright.core.types.base import Value
from patchwright.core.types.triggers import Trigger
from patchwright.resolver.effects import Acknowledge, Decline, RunEffect
from patchwright.workers.store.effects import BegunEffect, EffectStore
from patchwright.workers.store.job import Lease


class Receipt(Value):
    """Where an effect of a run at work can be seen."""

    seen_at: str = ""


_NOT_RECORDED: Final = (
    "the database does not answer, so nothing is written: nobody would know of it"
)

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


class OutboxPublisher:
    """A `LivePublisher` that records each effect before and after.

    An effect that an earlier attempt of the job has done is not repeated, and one that
    it may have done is looked for before that.
    """

    def __init__(self, effects: EffectStore, lease: Lease) -> None:
        self._effects, self._lease = effects, lease

    def publish(
        self, effect: RunEffect, carry: Carry, find: Find = find_nothing
    ) -> str:
        begun = self._begin(effect)
        if begun.receipt is not None:
            return Receipt.model_validate_json(begun.receipt).seen_at
        try:
            found = None if begun.is_new else find()
            seen_at = carry() if found is None else found
        except ServiceError as error:
            with suppress(SQLAlchemyError):
                self._effects.mark_refused(self._lease, begun.key, str(error))
            raise
        receipt = Receipt(seen_at=seen_at).model_dump_json()
        try:
            self._effects.mark_done(self._lease, begun.key, receipt)
        except SQLAlchemyError as error:
            # Another attempt looks for it.
            log.warning("effect_not_marked", error=type(error).__name__)
        return seen_at

    def _begin(self, effect: RunEffect) -> BegunEffect:
        try:
            return self._effects.begin(self._lease, effect)
        except SQLAlchemyError as error:
            raise ServiceUnavailableError(_NOT_RECORDED) from error


class ClosedPublisher:
    """A `LivePublisher` where nothing runs, and so nothing is shown."""

    def publish(
        self, effect: RunEffect, carry: Carry, find: Find = find_nothing
    ) -> str:
        del carry, find
        raise RuntimeError(f"{effect.kind} outside of a run")


NO_PUBLISHER: Final = ClosedPublisher()


def acknowledge(publisher: LivePublisher, channel: Channel, trigger: Trigger) -> None:
    """Show that a request was seen; the run does not depend on that."""
    react = partial(channel.acknowledge, trigger)
    _show(publisher, Acknowledge(request=trigger.key), react)


def decline(publisher: LivePublisher, channel: Channel, trigger: Trigger) -> None:
    """Show that a request is not followed."""
    react = partial(channel.decline, trigger)
    _show(publisher, Decline(request=trigger.key), react)


def _show(
    publisher: LivePublisher, effect: Acknowledge | Decline, react: Callable[[], None]
) -> None:
    try:
        publisher.publish(effect, without_trace(react))
    except ServiceError as error:
        log.warning("reaction_not_shown", reason=error.reason)
