"""Check that the broker carries messages."""

from urllib.parse import urlsplit

from patchwright.workers.doctor.case import CheckContext
from patchwright.workers.doctor.errors import result_of_error
from patchwright.workers.doctor.finding import CheckResult, ok
from patchwright.workers.queue.errors import BrokerUnavailableError
from patchwright.workers.queue.round_trip import check_round_trip

_FIX_BROKER = "start it, and check host and password in queue.broker_url"


def check_broker(context: CheckContext) -> CheckResult:
    queue = context.settings.queue
    if queue.is_in_memory:
        return ok("in memory: for `serve --role all`, one process group")
    url = queue.broker_url.get_secret_value()
    began_at = context.clock.monotonic()
    try:
        check_round_trip(url)
    except BrokerUnavailableError as error:
        return result_of_error(error, _FIX_BROKER)
    took_ms = (context.clock.monotonic() - began_at) * 1000
    parts = urlsplit(url)
    return ok(f"{parts.scheme} at {parts.hostname}, there and back in {took_ms:.0f} ms")
