"""The web application on a real port; as a program, `serving URL PORT`."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field

from patchwright.core.events.log import Notifier
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.base import JobId, RandomIds
from patchwright.core.webhook import WebhookSource, by_header
from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.inbox.inbox import Dispatcher, Inbox
from patchwright.workers.inbox.recorder import Recorder
from patchwright.workers.ops.endpoints import Reporter
from patchwright.workers.ops.health import HealthChecks
from patchwright.workers.ops.process_metrics import ProcessMetrics
from patchwright.workers.store.events import EventStore
from patchwright.workers.web.app import WebServices, create_app
from patchwright.workers.web.server import make_server
from tests.adapters.web.signed import SIGNATURE, SignedReadings
from tests.provision.servers import free_port
from tests.provision.waiting import wait_until

MAX_BODY_BYTES = 100_000


@dataclass(frozen=True)
class Site:
    """A running web process, and what came of what was sent to it."""

    url: str
    database: Database
    inbox: Inbox
    dispatched: list[JobId] = field(default_factory=list)

    def door(self, service: str = "github") -> str:
        return f"{self.url}/api/integration/{service}/events"


@contextmanager
def serving(
    database: Database,
    submit: Callable[[JobId], None] | None = None,
    max_body_bytes: int = MAX_BODY_BYTES,
    monotonic: Callable[[], float] = time.monotonic,
) -> Iterator[Site]:
    """Serve from a thread of this process until the context is left."""
    port = free_port()
    dispatched: list[JobId] = []
    dispatcher = Dispatcher(submit or dispatched.append)
    services = compose(database, dispatcher, max_body_bytes)
    app = create_app(services)
    server = make_server(app, "127.0.0.1", port, monotonic=monotonic)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        wait_until(lambda: server.started, "uvicorn", 10)
        yield Site(f"http://127.0.0.1:{port}", database, services.inbox, dispatched)
    finally:
        server.should_exit = True
        thread.join()


def compose(
    database: Database, dispatcher: Dispatcher, max_body_bytes: int = MAX_BODY_BYTES
) -> WebServices:
    clock = SystemClock()
    events = EventStore(database, lambda tree: tree, clock, Notifier())
    recorder = Recorder(events, RandomIds())
    webhook_source = WebhookSource(
        SignedReadings(),
        by_header("x-github-delivery"),
        max_body_bytes,
        signature_header=SIGNATURE,
        kept_headers=("x-github-",),
    )
    inbox = Inbox(database, recorder, dispatcher.dispatch)
    meters = ProcessMetrics()
    health = HealthChecks(database, clock, sweep_s=20).web(lambda: inbox.is_alive)
    return WebServices(
        reporter=Reporter("web", health, clock, meters.show),
        count_request=meters.count_request,
        inbox=inbox,
        dispatcher=dispatcher,
        webhook_sources={"github": webhook_source},
        clock=clock,
    )


def main(database_url: str, port: str) -> None:
    with closing(Database(database_url)) as database:
        upgrade(database)
        services = compose(database, Dispatcher(lambda _job_id: None))
        make_server(create_app(services), "127.0.0.1", int(port)).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
