"""Read from a job's effects what came of it outside."""

from collections.abc import Sequence

from patchwright.resolver.messages.status import Delivered
from patchwright.workers.store.effects import EffectState, StoredEffect


def delivered_by(effects: Sequence[StoredEffect]) -> Delivered:
    """Return what the newest receipt says, and why the first effect was given up."""
    receipts = [effect.receipt for effect in effects if effect.receipt]
    newest = receipts[-1] if receipts else "{}"
    given_up = [e.error for e in effects if e.state is EffectState.ABANDONED]
    return Delivered.model_validate_json(newest).model_copy(
        update={"refusal": given_up[0]} if given_up else {}
    )
