"""A site with the API, runs to look at, and people with different rights."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import httpx
from starlette.requests import HTTPConnection

from patchwright.client import Client
from patchwright.core.plugin import ServiceProfile
from patchwright.core.text.redaction import Redactor
from patchwright.core.types.base import ConversationId, JobId, RandomIds
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import RepoRef, TalkThread
from patchwright.integrations.settings import load_settings
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.workers.accounts.principal import Principal, Role, SignedInBy
from patchwright.workers.api.composition import Api
from patchwright.workers.compose import make_stores
from patchwright.workers.db.database import Database
from patchwright.workers.inbox.inbox import Dispatcher, Inbox
from patchwright.workers.web.app import create_app
from patchwright.workers.web.forms import FormTokens
from patchwright.workers.web.frame import Site
from patchwright.workers.web.rate_limit import AttemptLimit
from patchwright.workers.web.run_access import RunAccess
from patchwright.workers.web.server import make_server
from patchwright.workers.web.visitors import (
    MAX_WRONG_TOKENS,
    WRONG_TOKENS_PERIOD,
    Visitors,
)
from tests.adapters.store.world import World
from tests.adapters.web.serving import compose
from tests.adapters.web.watching import begin_run, end_run, make_links
from tests.fakes.clock import FakeClock
from tests.provision.servers import free_port
from tests.provision.waiting import wait_until
from tests.unit.resolver.endings import proven

SECRET: Final = b"correct horse battery staple"
PULL: Final = DeliveryResult(
    branch="fix", pull_request=12, pull_request_url="https://github.test/pull/12"
)
# A token of each kind of person: `ROLE LOGIN`, or `ROLE` for one with no identity.
ADMIN: Final = "admin"
WRITER: Final = "member-writer"
READER: Final = "member-reader"
VIEWER: Final = "viewer-writer"
STRANGER: Final = "member-stranger"
FORGE: Final = ServiceProfile(
    name="github",
    title="GitHub",
    is_configured=True,
    web_url="https://github.test",
    mention="@patchwright",
)


@dataclass(frozen=True)
class ApiSite:
    """A running API, and the stores behind it."""

    url: str
    world: World
    api: Api
    http: httpx.Client
    dispatched: list[JobId] = field(default_factory=list)

    def client(self, token: str = ADMIN) -> Client:
        return Client(self.url, token)

    def ask(
        self,
        method: str,
        path: str,
        *,
        token: str = ADMIN,
        headers: Mapping[str, str] = MappingProxyType({}),
        **sent: Any,
    ) -> httpx.Response:
        """Send a request with a token, or without one where it is empty."""
        bearer = {"Authorization": f"Bearer {token}"} if token else {}
        return self.http.request(
            method, f"{self.url}{path}", headers={**bearer, **headers}, **sent
        )

    def end_one(self, key: str = "k1") -> JobId:
        """Have a run ended with a pull request."""
        job_id, lease = begin_run(self.world, key)
        end_run(self.world, lease, proven(), PULL)
        return job_id

    def conversation(self, job_id: JobId) -> ConversationId:
        return self.world.conversation(job_id)


@contextmanager
def serving_api(
    database: Database,
    folder: Path,
    clock: FakeClock | None = None,
    *,
    requests_per_minute: int = 600,
) -> Iterator[ApiSite]:
    """Serve from a thread of this process until the context is left.

    A bearer token says who somebody is, and `x-session` does so for a browser's cookie.
    """
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    world = World(database, clock)
    dispatched: list[JobId] = []
    dispatcher = Dispatcher(dispatched.append)
    inbox = Inbox(database, world.recorder, dispatcher.dispatch)
    api = _api(
        world, url, folder, inbox, dispatcher, requests_per_minute=requests_per_minute
    )
    api.feed.look_again_s = 0.05
    services = replace(compose(database, dispatcher), inbox=inbox, pages=(api.add_to,))
    server = make_server(create_app(services), "127.0.0.1", port)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        wait_until(lambda: server.started, "uvicorn", 10)
        # Loopback has no certificates, and to read them takes a while each time.
        with httpx.Client(verify=False) as http:
            yield ApiSite(url, world, api, http, dispatched)
    finally:
        server.should_exit = True
        thread.join()


def _api(
    world: World,
    url: str,
    folder: Path,
    inbox: Inbox,
    dispatcher: Dispatcher,
    *,
    requests_per_minute: int,
) -> Api:
    environ = {
        "PATCHWRIGHT_STATE_DIR": str(folder),
        "PATCHWRIGHT_SERVER__PUBLIC_URL": url,
        "PATCHWRIGHT_SERVER__API_REQUESTS_PER_MINUTE": str(requests_per_minute),
        "PATCHWRIGHT_SECURITY__ADMIN_TOKEN": HIDDEN,
        "PATCHWRIGHT_GITHUB__TOKEN": HIDDEN,
        "PATCHWRIGHT_GITHUB__WEBHOOK_SECRET": HIDDEN,
    }
    redactor = Redactor((HIDDEN,))
    stores = make_stores(
        world.database, redactor.redact_json, world.clock, RandomIds(), world.notifier
    )
    wrong_tokens = AttemptLimit(world.clock, MAX_WRONG_TOKENS, WRONG_TOKENS_PERIOD)
    visitors = Visitors(_by_session, "", _by_token, wrong_tokens)
    return Api(
        settings=load_settings(environ, flags={}, cwd=folder),
        database=world.database,
        stores=stores,
        redactor=redactor,
        forge=FORGE,
        clock=world.clock,
        access=_access(world, url, visitors),
        site=Site("", "/auth/github/login", FormTokens(SECRET)),
        submit=inbox.submit,
        dispatch=dispatcher.dispatch,
        wrong_tokens=wrong_tokens,
    )


HIDDEN: Final = "a-secret-of-the-settings"


def _access(world: World, url: str, visitors: Visitors) -> RunAccess:
    return RunAccess(
        links=make_links(world, url),
        find_principal=visitors.find,
        may_read=_may_read,
        may_write=_may_write,
        is_private=lambda job: isinstance(job.trigger.thread, TalkThread),
    )


def _by_session(request: HTTPConnection) -> Principal | None:
    return _principal(request.headers.get("x-session", ""), SignedInBy.SESSION)


def _by_token(word: str) -> Principal | None:
    return _principal(word, SignedInBy.API_TOKEN)


def _principal(word: str, by: SignedInBy) -> Principal | None:
    role, _, login = word.partition("-")
    if role not in set(Role):
        return None
    identity = Actor(service="github", login=login) if login else None
    return Principal(name=login, role=Role(role), signed_in_by=by, identity=identity)


def _may_read(repo: RepoRef, actor: Actor) -> bool:
    return repo.full_name == "acme/shop" and actor.login in {"reader", "writer"}


def _may_write(repo: RepoRef, actor: Actor) -> bool:
    return (repo.full_name, actor.login) == ("acme/shop", "writer")
