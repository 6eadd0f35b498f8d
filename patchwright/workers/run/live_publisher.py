"""Show what a run shows while it works, each thing once: the outbox records it."""

from contextlib import suppress
from typing import Final

import structlog
from sqlalchemy.exc import SQLAlchemyError

from patchwright.core.errors import ServiceError, ServiceUnavailableError
from patchwright.core.types.base import Value
from patchwright.resolver.effects import RunEffect
from patchwright.resolver.publish.live import Carry, Find, find_nothing
from patchwright.workers.store.effects import BegunEffect, EffectStore
from patchwright.workers.store.job import Lease


class Receipt(Value):
    """Where an effect of a run at work can be seen."""

    seen_at: str = ""


_NOT_RECORDED: Final = (
    "the database does not answer, so nothing is written: nobody would know of it"
)

log = structlog.get_logger(__name__)


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
