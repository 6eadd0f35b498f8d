"""Answer the reviewers of a pull request, thread by thread."""

from patchwright.core.types.work import Outcome
from patchwright.resolver.delivering.destination import Destination, Means
from patchwright.resolver.effects import AnswerReviews
from patchwright.resolver.messages.status import Delivered


def answer_reviews(
    effect: AnswerReviews,
    outcome: Outcome,
    to: Destination,
    means: Means,
    so_far: Delivered,
) -> Delivered:
    del effect, outcome, to, means
    return so_far
