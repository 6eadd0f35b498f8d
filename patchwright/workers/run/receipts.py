"""Read from a job's effects what came of it outside."""

from collections.abc import Sequence

from patchwright.resolver.delivering.deliverer import with_refusal
from patchwright.resolver.effects import RepositoryEffect
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.workers.store.effects import EffectState, StoredEffect


def delivery_results_of(effects: Sequence[StoredEffect]) -> DeliveryResult:
    """Return what the newest receipt says, and what could not be written at last.

    A label, a check or a call that was given up is no part of the result.
    """
    so_far = DeliveryResult()
    for one in effects:
        if one.receipt:
            so_far = DeliveryResult.model_validate_json(one.receipt)
        elif one.state is EffectState.ABANDONED and isinstance(one.effect, RepositoryEffect):
            so_far = with_refusal(one.effect, one.error or "", so_far)
    return so_far
