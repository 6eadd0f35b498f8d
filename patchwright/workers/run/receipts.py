"""Read from a job's effects what came of it outside."""

from collections.abc import Sequence

from patchwright.resolver.effects import Writing
from patchwright.resolver.messages.status import Delivered
from patchwright.workers.store.effects import EffectState, StoredEffect


def delivered_by(effects: Sequence[StoredEffect]) -> Delivered:
    """Return what the newest receipt says, and what could not be written at last.

    A label, a check or a call that was given up is no part of the result.
    """
    receipts = [effect.receipt for effect in effects if effect.receipt]
    newest = receipts[-1] if receipts else "{}"
    given_up = [
        one.error
        for one in effects
        if one.state is EffectState.ABANDONED and isinstance(one.effect, Writing)
    ]
    return Delivered.model_validate_json(newest).model_copy(
        update={"refusal": given_up[0]} if given_up else {}
    )
