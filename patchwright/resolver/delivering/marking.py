"""Show how a run ended where people look before they read: checks and labels."""

from patchwright.core.types.work import Outcome
from patchwright.resolver.delivering.destination import Destination, Means
from patchwright.resolver.effects import ReportCheck
from patchwright.resolver.messages.status import Delivered


def report_check(
    effect: ReportCheck,
    outcome: Outcome,
    to: Destination,
    means: Means,
    so_far: Delivered,
) -> Delivered:
    del effect, outcome, to, means
    return so_far


def swap_labels(
    outcome: Outcome, to: Destination, means: Means, so_far: Delivered
) -> Delivered:
    del outcome, to, means
    return so_far
