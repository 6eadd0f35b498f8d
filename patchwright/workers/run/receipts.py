"""Read from a job's effects what came of it outside."""

from collections.abc import Sequence

from patchwright.resolver.delivering.deliverer import unwritten
from patchwright.resolver.effects import Writing
from patchwright.resolver.messages.status import Delivered
from patchwright.workers.store.effects import EffectState, StoredEffect


def delivered_by(effects: Sequence[StoredEffect]) -> Delivered:
    """Return what the newest receipt says, and what could not be written at last.

    A label, a check or a call that was given up is no part of the result.
    """
    so_far = Delivered()
    for one in effects:
        if one.receipt:
            so_far = Delivered.model_validate_json(one.receipt)
        elif one.state is EffectState.ABANDONED and isinstance(one.effect, Writing):
            so_far = unwritten(one.effect, one.error or "", so_far)
    return so_far
