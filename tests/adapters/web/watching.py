"""A site with the pages of runs, and runs to look at."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Final

from starlette.requests import HTTPConnection

from patchwright.core.events.actions import EditFile, RunCommand, WriteTodos
from patchwright.core.events.observations import (
    AttemptStart,
    CommandOutput,
    FileEdited,
    ModelReply,
    OutcomeReached,
    RunStarted,
    StateChanged,
)
from patchwright.core.events.payload import AgentState, Source, Todo, ToolCall
from patchwright.core.events.types import Known
from patchwright.core.plugin import ServiceDirectory, ServiceProfile
from patchwright.core.text.redaction import Redactor
from patchwright.core.types.base import JobId, RandomIds
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import RepoRef, TalkThread
from patchwright.core.types.work import Limits, Outcome, Task, Usage
from patchwright.resolver.job import JobState, Lease
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.publish.effects import FinalMessage
from patchwright.workers.accounts.principal import Principal, Role, SignedInBy
from patchwright.workers.db.database import Database
from patchwright.workers.inbox.inbox import Dispatcher, Inbox
from patchwright.workers.runs.commands import CommandOrigin, RunCommands
from patchwright.workers.runs.listing import RunListing
from patchwright.workers.runs.reader import RunReader
from patchwright.workers.store.run_links import RunLinkStore
from patchwright.workers.web.app import create_app
from patchwright.workers.web.forms import FormTokens
from patchwright.workers.web.frame import NavigationItem, Site, add_assets
from patchwright.workers.web.run_access import RunAccess
from patchwright.workers.web.run_page.actions import RunActions
from patchwright.workers.web.run_page.live import LiveUpdates
from patchwright.workers.web.run_page.routes import RunPages
from patchwright.workers.web.server import make_server
from patchwright.workers.web.site.runs_live import LiveRows
from patchwright.workers.web.site.runs_page import RunsPages, add_runs_page
from patchwright.workers.web.visitors import Visitors
from patchwright.workers.website_pages import run_page_routes
from tests.adapters.store.world import World
from tests.adapters.web.serving import compose
from tests.provision.servers import free_port
from tests.provision.waiting import wait_until

SECRET: Final = b"correct horse battery staple"
_NAVIGATION: Final = (NavigationItem(title="Runs", path="/runs"),)
ADMIN_TOKEN: Final = "admin-token"
A_SECRET: Final = "hunter2-hunter2"
DIRECTORY: Final = ServiceDirectory(
    forge=ServiceProfile(
        name="github",
        title="GitHub",
        is_configured=True,
        web_url="https://github.test",
    ),
    chats={
        "jira": ServiceProfile(
            name="jira",
            title="Jira",
            is_configured=True,
            ticket_url="https://jira.test/browse/{id}",
        )
    },
)
DIFF: Final = """\
diff --git a/cart.py b/cart.py
index 1111111..2222222 100644
--- a/cart.py
+++ b/cart.py
@@ -1,4 +1,4 @@
 def total(prices, pieces):
-    return sum(prices)
+    return sum(p * n for p, n in zip(prices, pieces))
"""


@dataclass(frozen=True)
class Watched:
    """A running site, and the stores behind it."""

    url: str
    world: World
    pages: RunPages
    runs: RunsPages

    def page(self, job_id: JobId) -> str:
        return f"{self.url}/runs/{job_id}"

    def link(self, job_id: JobId) -> str:
        """Return the link that the service's own messages have."""
        made = self.world.job(job_id).created_at
        return self.pages.access.links.own_url(job_id, made)

    @property
    def as_admin(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {ADMIN_TOKEN}"}


@contextmanager
def watching(database: Database) -> Iterator[Watched]:
    """Serve from a thread of this process until the context is left.

    Whoever names themselves in the header `x-viewer` is signed in, with the role of
    the header `x-role`; reader may read, and writer may write as well.
    """
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    world = World(database)
    composed = compose(database, Dispatcher(lambda _: None))
    pages = make_pages(world, url, composed.inbox)
    runs = make_list(world, pages)
    services = replace(
        composed,
        pages=(
            add_assets,
            partial(add_runs_page, pages=runs),
            *run_page_routes(pages),
        ),
    )
    server = make_server(create_app(services), "127.0.0.1", port)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        wait_until(lambda: server.started, "uvicorn", 10)
        yield Watched(url, world, pages, runs)
    finally:
        server.should_exit = True
        thread.join()


def make_links(world: World, url: str) -> RunLinkStore:
    return RunLinkStore(
        database=world.database,
        ids=RandomIds(),
        clock=world.clock,
        secret=SECRET,
        public_url=url,
        notify=world.notifier.notify,
    )


def make_pages(world: World, url: str, inbox: Inbox) -> RunPages:
    reader = RunReader(world.jobs, world.events, world.outcomes, world.effects)
    access = RunAccess(
        links=make_links(world, url),
        find_principal=_principal,
        may_read=_may_read,
        may_write=_may_write,
        is_private=lambda job: isinstance(job.trigger.thread, TalkThread),
    )
    site = Site("", "/auth/github/login", FormTokens(SECRET), _NAVIGATION)
    commands = RunCommands(
        CommandOrigin.WEB,
        world.database,
        world.events,
        world.clock,
        inbox.submit,
        world.dispatched.append,
    )
    return RunPages(
        reader=reader,
        access=access,
        live=LiveUpdates(
            reader,
            world.notifier,
            world.clock,
            access.links.still_open,
            look_again_s=0.05,
        ),
        clock=world.clock,
        site=site,
        directory=DIRECTORY,
        threads_of=lambda job: [
            one.ref for one in world.threads.threads_of(job.conversation_id)
        ],
        redactor=Redactor([A_SECRET]),
        actions=RunActions(access, commands, reader, site, "GitHub", 3.0),
    )


def make_list(world: World, run_pages: RunPages) -> RunsPages:
    listing = RunListing(world.database, run_pages.reader)
    live = LiveRows(
        listing, world.notifier, world.clock, look_again_s=0.05, pause_s=0.01
    )
    return RunsPages(
        site=run_pages.site,
        listing=listing,
        access=run_pages.access,
        live=live,
        clock=world.clock,
        forge=run_pages.forge,
        sources={"github": "GitHub", "slack": "Slack"},
        form_path="/requests/new",
    )


def _principal(request: HTTPConnection) -> Principal | None:
    found = Visitors(_viewer, ADMIN_TOKEN).find(request)
    role = request.headers.get("x-role", "")
    return found.replace(role=Role(role)) if found and role else found


def _viewer(request: HTTPConnection) -> Principal | None:
    login = request.headers.get("x-viewer", "")
    service, _, name = login.rpartition(":")
    if not name:
        return None
    return Principal(
        name=name,
        role=Role.MEMBER,
        signed_in_by=SignedInBy.SESSION,
        identity=Actor(service=service or "github", login=name),
    )


def _may_read(repo: RepoRef, actor: Actor) -> bool:
    return repo.full_name == "acme/shop" and actor.login in {"reader", "writer"}


def _may_write(repo: RepoRef, actor: Actor) -> bool:
    return (repo.full_name, actor.login) == ("acme/shop", "writer")


def begin_run(world: World, key: str = "k1") -> tuple[JobId, Lease]:
    """Have a run asked for and begun, with a few steps behind it."""
    job_id = world.ask(key)
    lease = world.claim(job_id)
    for source, payload in _FIRST_STEPS:
        append(world, job_id, payload, source=source)
        world.clock.advance(3)
    return job_id, lease


def append(
    world: World, job_id: JobId, payload: Known, *, source: Source = Source.AGENT
) -> int:
    if isinstance(payload, StateChanged) and payload.state is AgentState.LOADING:
        payload = payload.replace(
            reason=f"run {job_id}, attempt 1",
            attempt=AttemptStart(run_id=job_id, number=1),
        )
    return world.events.open(world.conversation(job_id)).append(source, payload).id


def end_run(
    world: World,
    lease: Lease,
    outcome: Outcome,
    delivered: DeliveryResult,
    diff: str = DIFF,
) -> None:
    """Store how it ended and deliver it, as a worker would."""
    reached = OutcomeReached(outcome=outcome)
    read_up_to = append(world, lease.job_id, reached, source=Source.SYSTEM)
    lease = world.outcomes.store(
        lease,
        outcome,
        (FinalMessage(),),
        read_up_to=read_up_to,
        now=world.clock.now(),
        artifacts={"diff": diff.encode()},
    )
    [effect] = world.effects.of_job(lease.job_id)
    world.effects.mark_done(lease, effect.key, delivered.model_dump_json())
    done = JobState.FAILED if outcome.kind == "failed" else JobState.DONE
    world.outcomes.finish(lease, done, world.clock.now() + timedelta(seconds=1))


def _reply(text: str, tool: str, cost_usd: float) -> ModelReply:
    return ModelReply(
        model="openai/x",
        text=text,
        tool_calls=(ToolCall(id="c", name=tool, arguments="{}"),),
        usage=Usage(cost_usd=cost_usd, tokens_in=9_000, tokens_out=800),
        latency_ms=2_300,
    )


_TASK: Final = Task(
    text="Fix the total.\n\nIt is <b>wrong</b> for several pieces.",
    base_sha="a" * 40,
    title="Wrong sum",
    notes=("1 HTML comment was removed from the issue.",),
)
_PLAN: Final = WriteTodos(
    todos=(
        Todo(text="Write a test that fails", state="done"),
        Todo(text="Fix <total>", state="doing"),
        Todo(text="Run all tests"),
    )
)
_TEST: Final = "python3 -m pytest -q"
_FIRST_STEPS: Final[tuple[tuple[Source, Known], ...]] = (
    (Source.SYSTEM, StateChanged(state=AgentState.LOADING)),
    (
        Source.SYSTEM,
        RunStarted(run_id="r", task=_TASK, limits=Limits(), model="openai/x"),
    ),
    (Source.SYSTEM, StateChanged(state=AgentState.RUNNING)),
    (Source.AGENT, _reply("I begin with a plan.", "todos", 0.11)),
    (Source.AGENT, _PLAN),
    (Source.AGENT, _reply("", "shell", 0.12)),
    (Source.AGENT, RunCommand(command=_TEST)),
    (
        Source.ENVIRONMENT,
        CommandOutput(exit_code=1, output="F.\n<script>alert(1)</script>\n1 failed"),
    ),
    (Source.AGENT, _reply("The pieces are ignored.", "edit", 0.18)),
    (Source.AGENT, EditFile(path="cart.py", edits=())),
    (
        Source.ENVIRONMENT,
        FileEdited(path="cart.py", diff=DIFF.partition("\n")[2]),
    ),
)
