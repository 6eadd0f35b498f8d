"""What can go wrong in a model call, as the loop needs to tell it apart."""

from patchwright.core.errors import PatchwrightError
from patchwright.core.types.work import NO_USAGE, Usage


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
