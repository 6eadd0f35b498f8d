"""What is asked before work can begin, in the thread where it was asked for."""

from enum import StrEnum

from patchwright.core.channel import Offers
from patchwright.core.types.base import Value


class QuestionReason(StrEnum):
    """Why a run waits before it has begun."""

    NO_REPOSITORY = "no-repository"
    NO_ACCESS = "no-access"
    SEVERAL_REPOSITORIES = "several-repositories"
    NO_CONSENT = "no-consent"


class Question(Value):
    """A question as Markdown, and the answers to press where there are buttons."""

    reason: QuestionReason
    text: str
    offers: Offers = ()
