"""A web process to load: `python -m bench.web ours|bare PORT FOLDER`."""

import hashlib
import hmac
import sys
from contextlib import closing

from fastapi import FastAPI, Request, Response
from pydantic import SecretStr

from patchwright.core.events.log import Notifier
from patchwright.core.system.clock import SystemClock
from patchwright.core.system.logs import set_up_logging
from patchwright.core.text.redaction import Redactor
from patchwright.core.types.base import RandomIds
from patchwright.core.webhook import WebhookSource, by_header
from patchwright.integrations.github.webhooks.reader import GitHubReceiver
from patchwright.integrations.github.webhooks.triggers import GitHubTriggerRules
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

SECRET = "a secret of the webhook"  # noqa: S105 - made up for this bench
HOST = "127.0.0.1"
MENTION = "@patchwright"


def serve_ours(port: int, folder: str) -> None:
    """Serve the web side as `patchwright serve` composes it; jobs go nowhere."""
    clock, redactor = SystemClock(), Redactor([SECRET])
    set_up_logging(redactor.redact_json, as_json=True)
    with closing(Database(f"sqlite:///{folder}/bench.db")) as database:
        upgrade(database)
        events = EventStore(database, redactor.redact_json, clock, Notifier())
        dispatcher = Dispatcher(lambda _job_id: None)
        inbox = Inbox(database, Recorder(events, RandomIds()), dispatcher.dispatch)
        listening = GitHubTriggerRules(
            mention=MENTION, label="fix", own_login="bot", allow_bots=frozenset()
        )
        receiver = GitHubReceiver([SecretStr(SECRET)], listening)
        meters = ProcessMetrics()
        health = HealthChecks(database, clock, sweep_s=20).web(lambda: inbox.is_alive)
        services = WebServices(
            reporter=Reporter("web", health, clock, meters.show),
            count_request=meters.count_request,
            inbox=inbox,
            dispatcher=dispatcher,
            webhook_sources={"github": _entrance(receiver)},
            clock=clock,
        )
        make_server(create_app(services), HOST, port).run()


def _entrance(receiver: GitHubReceiver) -> WebhookSource:
    return WebhookSource(
        receiver,
        by_header("x-github-delivery"),
        signature_header="x-hub-signature-256",
    )


def serve_bare(port: int) -> None:
    """Serve the least that a FastAPI application must do: check the signature."""
    app = FastAPI()

    @app.post("/api/integration/github/events")
    async def receive(request: Request) -> Response:
        digest = hmac.new(SECRET.encode(), await request.body(), hashlib.sha256)
        sent = request.headers.get("x-hub-signature-256", "")
        ok = hmac.compare_digest(sent, f"sha256={digest.hexdigest()}")
        return Response(status_code=202 if ok else 401)

    make_server(app, HOST, port).run()


if __name__ == "__main__":
    kind, number, path = sys.argv[1:]
    if kind == "ours":
        serve_ours(int(number), path)
    else:
        serve_bare(int(number))
