"""Why a delivery cannot be taken in right now."""

from patchwright.core.errors import PatchwrightError


class InboxUnavailableError(PatchwrightError):
    """The delivery was not stored: too many are waiting, or the database is away."""

    reason = "intake-unavailable"
