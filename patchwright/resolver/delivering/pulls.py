"""Open a run's pull request, or describe the one that is there."""

from patchwright.core.types.work import Outcome
from patchwright.resolver.delivering.destination import Destination, Means
from patchwright.resolver.effects import OpenPullRequest, UpdatePullRequest
from patchwright.resolver.messages.pull_request import pull_request_text
from patchwright.resolver.messages.status import Delivered


def open_pull_request(
    effect: OpenPullRequest,
    outcome: Outcome,
    to: Destination,
    means: Means,
    so_far: Delivered,
) -> Delivered:
    text = pull_request_text(outcome, to.origin, draft=effect.draft)
    pull = means.forge.open_pull_request(
        to.repository.ref, so_far.branch, effect.base_branch, text
    )
    found = {"pull_request": pull.number, "pull_request_url": pull.url}
    return so_far.model_copy(update={**found, "draft": pull.draft})


def update_pull_request(
    effect: UpdatePullRequest,
    outcome: Outcome,
    to: Destination,
    means: Means,
    so_far: Delivered,
) -> Delivered:
    text = pull_request_text(outcome, to.origin, draft=effect.draft)
    pull = means.forge.update_pull_request(to.repository.ref, effect.number, text)
    found = {"pull_request": pull.number, "pull_request_url": pull.url}
    return so_far.model_copy(update={**found, "draft": pull.draft})


def adorn_pull_request(to: Destination, means: Means, so_far: Delivered) -> Delivered:
    del to, means
    return so_far
