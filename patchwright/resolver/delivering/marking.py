"""Show how a run ended where people look before they read: checks and labels."""

from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from patchwright.core.errors import (
    AuthenticationError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
)
from patchwright.core.types.work import Outcome
from patchwright.resolver.delivering.destination import Destination, PublisherDependencies
from patchwright.resolver.effects import ReportCheck
from patchwright.resolver.messages.check import check_at_end
from patchwright.resolver.messages.labels import labels_at_end
from patchwright.resolver.messages.status import DeliveryResult

log = structlog.get_logger(__name__)


def report_check(
    effect: ReportCheck,
    outcome: Outcome,
    to: Destination,
    dependencies: PublisherDependencies,
    so_far: DeliveryResult,
) -> DeliveryResult:
    """Report on the commit that was worked on, and on the one that came of it."""
    report = check_at_end(outcome, so_far, to.frame, dependencies.clock.now())
    written = (so_far.head_sha or outcome.head_sha) if so_far.branch else ""
    with _ignoring_refusals("check_not_reported"):
        for sha in dict.fromkeys(filter(None, (effect.sha, written))):
            dependencies.forge.report_check(to.repository.ref, sha, report)
    return so_far


def swap_labels(
    outcome: Outcome, to: Destination, dependencies: PublisherDependencies, so_far: DeliveryResult
) -> DeliveryResult:
    if to.frame.label:
        swap = labels_at_end(to.frame.label, outcome)
        with _ignoring_refusals("labels_not_swapped"):
            dependencies.channel.swap_labels(to.thread, swap.add, swap.remove)
    return so_far


@contextmanager
def _ignoring_refusals(event: str) -> Iterator[None]:
    """Leave it where we have no right to it: it is no part of the result.

    Checks are for Apps alone, and labels for those who may triage.
    """
    try:
        yield
    except (
        AuthenticationError,
        InvalidRequestError,
        NotFoundError,
        PermissionDeniedError,
    ) as error:
        log.info(event, reason=error.reason, error=str(error))
