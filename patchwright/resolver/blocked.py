"""Write down what the commands of a run wanted to reach and could not."""

from collections import Counter

from patchwright.core.events.log import EventLog
from patchwright.core.events.types import RequestBlocked, Source
from patchwright.core.runtime import Runtime
from patchwright.core.types.work import BlockedRequest


def close_and_record_blocked(runtime: Runtime, log: EventLog) -> None:
    """Close a sandbox, and have the log say what was blocked in it."""
    try:
        for blocked in runtime.blocked():
            log.append(Source.SYSTEM, blocked)
    finally:
        runtime.close()


def sum_blocked_requests(log: EventLog, start_id: int) -> tuple[BlockedRequest, ...]:
    """Return what was blocked in all sandboxes of a run, each host and port once."""
    events = log.read(start_id, kinds=frozenset({"request_blocked"}))
    total: Counter[tuple[str, int]] = Counter()
    for event in events:
        if isinstance(event.payload, RequestBlocked):
            blocked = event.payload
            total[blocked.host, blocked.port] += blocked.count
    return tuple(
        BlockedRequest(host=host, port=port, count=count)
        for (host, port), count in total.items()
    )
