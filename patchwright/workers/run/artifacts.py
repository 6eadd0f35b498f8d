"""What is kept of a run: checkpoints, commits, diff, images, delivery results."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from pydantic import TypeAdapter

from patchwright.core.llm.model import Image
from patchwright.core.types.base import JobId
from patchwright.core.types.work import Outcome
from patchwright.integrations.git.objects import ObjectStore
from patchwright.resolver.effects import RepositoryEffect, RunEffect
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.publish.publisher import with_refusal
from patchwright.workers.store.effects import EffectState, StoredEffect
from patchwright.workers.store.job import Lease
from patchwright.workers.store.outcomes import CHECKPOINT, COMMITS, OutcomeStore


class StoredCheckpoints:
    """The `Checkpoints` of a job, for whichever worker has its lease."""

    def __init__(self, outcomes: OutcomeStore, lease: Lease) -> None:
        self._outcomes, self._lease = outcomes, lease

    def save(self, bundle: bytes) -> None:
        self._outcomes.keep_artifact(self._lease, CHECKPOINT, bundle)

    def load(self) -> bytes | None:
        return self._outcomes.load_artifact(self._lease.job_id, CHECKPOINT)


DIFF: Final = "diff"
IMAGES: Final = "images"
# What people read; git has the rest.
_MAX_DIFF_BYTES: Final = 1_000_000

_IMAGES: Final = TypeAdapter(dict[str, Image])


def pack_change(
    code: ObjectStore, outcome: Outcome, redact: Callable[[str], str]
) -> dict[str, bytes]:
    """Return the commits of an outcome, and what people read of them."""
    base, head = outcome.base_sha, outcome.head_sha
    diff = code.diff(base, head, _MAX_DIFF_BYTES)
    return {
        COMMITS: code.partial_bundle(base, head),
        DIFF: redact(diff.decode("utf-8", "replace")).encode("utf-8", "replace"),
    }


def keep_images(
    outcomes: OutcomeStore, lease: Lease, images: Mapping[str, Image]
) -> None:
    if images:
        outcomes.keep_artifact(lease, IMAGES, _IMAGES.dump_json(dict(images)))


def load_images(outcomes: OutcomeStore, job_id: JobId) -> dict[str, Image]:
    kept = outcomes.load_artifact(job_id, IMAGES)
    return _IMAGES.validate_json(kept) if kept else {}


def delivery_results_of(effects: Sequence[StoredEffect]) -> DeliveryResult:
    """Return what the newest receipt says, and what could not be written at last.

    A label, a check or a call that was given up is no part of the result.
    """
    so_far = DeliveryResult()
    for one in effects:
        if isinstance(one.effect, RunEffect):
            continue
        if one.receipt:
            so_far = DeliveryResult.model_validate_json(one.receipt)
        elif one.state is EffectState.ABANDONED and isinstance(
            one.effect, RepositoryEffect
        ):
            so_far = with_refusal(one.effect, one.error or "", so_far)
    return so_far
