"""Check that the broker carries messages."""

from urllib.parse import urlsplit

from patchwright.workers.doctor.case import Case
from patchwright.workers.doctor.errors import explained
from patchwright.workers.doctor.finding import Finding, ok
from patchwright.workers.queue.errors import BrokerUnavailableError
from patchwright.workers.queue.round_trip import send_round

_FIX = "start it, and check host and password in queue.broker_url"


def check(context: Case) -> Finding:
    queue = context.settings.queue
    if queue.is_in_memory:
        return ok("in memory: for `serve --role all`, one process group")
    url = queue.broker_url.get_secret_value()
    began_at = context.clock.monotonic()
    try:
        send_round(url)
    except BrokerUnavailableError as error:
        return explained(error, _FIX)
    took_ms = (context.clock.monotonic() - began_at) * 1000
    parts = urlsplit(url)
    return ok(f"{parts.scheme} at {parts.hostname}, there and back in {took_ms:.0f} ms")
