"""What can go wrong between us and the broker."""

from patchwright.core.errors import PatchwrightError


class BrokerUnavailableError(PatchwrightError):
    """The broker took nothing; the job is still in the database."""

    reason = "broker-unavailable"
