"""The errors of a model call, and the budget that is reserved before it."""

from collections.abc import Callable
from typing import Final, Protocol

from patchwright.core.events.observations import ProviderWait
from patchwright.core.types.errors import PatchwrightError
from patchwright.core.types.work import NO_USAGE, Usage

# Replaces what was reserved for a try by what the try took.
Settle = Callable[[Usage], None]
# What a token counts where nobody knows its price, in USD, unless it is set.
UNKNOWN_COST_PER_TOKEN: Final = 0.000003


class LimitError(PatchwrightError):
    """No further try is allowed; `usage` is what the tries before it took."""

    def __init__(self, message: str, usage: Usage = NO_USAGE) -> None:
        super().__init__(message)
        self.usage = usage


class OverBudgetError(LimitError):
    """The next try could pass a ceiling of money; the message names it.

    `reason` tells which: it is `budget` for that of the run.
    """

    def __init__(
        self, message: str, usage: Usage = NO_USAGE, *, reason: str = "budget"
    ) -> None:
        super().__init__(message, usage)
        self.reason = reason


class TokenLimitError(LimitError):
    """The next try could pass the run's ceiling of tokens."""

    reason = "tokens"


class CallWatch(Protocol):
    """Follows a call while it is under way, in the caller's thread or not."""

    def waits(self, wait: ProviderWait) -> None:
        """Take note that the call is repeated after a while, and why."""
        ...

    def reserve(self, most: Usage) -> Settle:
        """Set aside the most that one try can take; without a cost it is unknown.

        Raises `OverBudgetError` where that could pass a ceiling.
        """
        ...


def settle_nothing(usage: Usage) -> None:
    """Settle a try that nobody had to reserve anything for."""
    del usage


def reserve(watch: CallWatch | None, most: Usage) -> Settle:
    """Reserve with the observer of the call, if there is one."""
    return settle_nothing if watch is None else watch.reserve(most)


def assumed_usd(usage: Usage, cost_per_token: float) -> float:
    """Return what a usage counts where nobody knows its price."""
    return (usage.tokens_in + usage.tokens_out) * cost_per_token


class ModelError(PatchwrightError):
    """A model call failed for good; `usage` is what it cost all the same."""

    reason = "model"

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage or NO_USAGE


class ModelCredentialError(ModelError):
    """The provider does not accept the key; asking again cannot help."""

    reason = "model-credential"


class ModelRequestError(ModelError):
    """The provider calls the request invalid: a wrong model name, mostly."""

    reason = "model-request"


class ModelRateLimitError(ModelError):
    """The provider still asked us to wait when the deadline had passed."""

    reason = "model-rate-limit"


class ModelUnavailableError(ModelError):
    """No answer, or only server errors, until the deadline had passed."""

    reason = "model-unavailable"


class ModelDeclinedError(ModelError):
    """The provider's filter or the model itself declined to answer."""

    reason = "model-declined"


class ContextWindowError(ModelError):
    """The conversation no longer fits the model's context window."""

    reason = "context-window"


class EmptyReplyError(ModelError):
    """The model answered with nothing, several times over."""

    reason = "model-empty-reply"
