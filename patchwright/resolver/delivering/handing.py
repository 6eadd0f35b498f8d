"""Hand a change over as a patch where it became no branch."""

from patchwright.core.errors import GitError, ServiceError
from patchwright.core.types.work import Outcome
from patchwright.resolver.delivering.destination import PublisherDependencies
from patchwright.resolver.messages.patches import MAX_SHOWN_BYTES, patch_block
from patchwright.resolver.messages.status import DeliveryResult


def with_patch(outcome: Outcome, dependencies: PublisherDependencies, so_far: DeliveryResult) -> DeliveryResult:
    """Add the change as text if nothing else shows it and a message can hold it."""
    if not outcome.head_sha or so_far.branch or so_far.patch:
        return so_far
    try:
        code = dependencies.fetch_mirror().objects
        # A merge is more than a patch can say.
        if code.parents_of(outcome.head_sha) != (outcome.base_sha,):
            return so_far
        most = MAX_SHOWN_BYTES + 1
        patch = code.format_patch(outcome.base_sha, outcome.head_sha, most)
    except (GitError, ServiceError):
        return so_far
    return so_far.replace(patch=patch_block(patch))
