"""The set of the demo: an emulated GitHub, a repository with a fault, the service."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import NamedTuple

from patchwright.core.events.log import EventLog, Notifier
from patchwright.core.settings.environment import process_environment
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind
from patchwright.workers.db.database import Database
from patchwright.workers.store.events import EventStore
from patchwright.workers.store.threads import ThreadStore
from tests.app_manifest import add_our_app
from tests.fakes.github.fake import FakeGitHub
from tests.provision.engine import engine_answers
from tests.provision.errors import ProvisionError
from tests.provision.image import ensure_image
from tests.provision.servers import free_port, log_tail
from tests.provision.waiting import wait_until

HERE = Path(__file__).parent
REPO = "acme/shop"
BOT = "patchwright[bot]"
APP_ID = 1
# It signs deliveries between two processes of this machine, for as long as they run.
WEBHOOK_SECRET = "the demo's webhook secret"  # noqa: S105 - nothing is behind it
START_S = 60.0


class Sandbox(NamedTuple):
    """Where the agent's commands run, in the service's words and in people's."""

    settings: Mapping[str, str]
    shown: str


class Model(NamedTuple):
    """Which model works, in the service's words and in people's."""

    settings: Mapping[str, str]
    shown: str


def choose_sandbox() -> Sandbox:
    """Take Docker if an engine answers and an image can be had, else bubblewrap."""
    if engine_answers():
        try:
            image = ensure_image()
        except ProvisionError as error:
            reason = f"bubblewrap (Docker answers, but {error})"
            return Sandbox({"PATCHWRIGHT_SANDBOX__KIND": "local"}, reason)
        settings = {
            "PATCHWRIGHT_SANDBOX__KIND": "docker",
            "PATCHWRIGHT_SANDBOX__IMAGE": image,
        }
        return Sandbox(settings, f"Docker, image {image}")
    return Sandbox(
        {"PATCHWRIGHT_SANDBOX__KIND": "local"}, "bubblewrap (no Docker engine answers)"
    )


def choose_model(environment: Mapping[str, str]) -> Model:
    """Take the model of the environment, else replay a recording."""
    wanted = {
        name: value
        for name, value in environment.items()
        if name.startswith(("LLM_", "PATCHWRIGHT_LLM__")) and value
    }
    if "LLM_MODEL" in wanted:
        return Model(wanted, wanted["LLM_MODEL"])
    recording = HERE / "recording.json"
    shown = "a recording, replayed; set LLM_MODEL and LLM_API_KEY to use a real one"
    return Model({"LLM_MODEL": f"recorded:{recording}"}, shown)


def build(github: FakeGitHub) -> str:
    """Put the repository on the emulated GitHub; return the App's private key."""
    key = add_our_app(github, APP_ID, WEBHOOK_SECRET)
    github.add_user("alice")
    github.add_repository(REPO, from_path=HERE / "example")
    github.grant(REPO, "alice", "write")
    github.install_app(APP_ID, "acme", [REPO])
    return key


@dataclass(frozen=True)
class Service:
    """The running service: where it is, and what it writes down."""

    url: str
    sandbox: str
    database: str

    @property
    def webhook(self) -> str:
        return f"{self.url}/api/integration/github/events"

    @contextmanager
    def open_log(self, issue: int) -> Iterator[EventLog]:
        """Open the events of the conversation that began with an issue."""
        thread = ForgeThread(
            repo=RepoRef(forge="github", full_name=REPO),
            kind=ThreadKind.ISSUE,
            number=issue,
        )
        with closing(Database(self.database)) as database:
            conversation = ThreadStore(database).conversation_of(thread)
            if conversation is None:
                raise ProvisionError("the service did not take the mention in")
            store = EventStore(database, lambda tree: tree, SystemClock(), Notifier())
            yield store.open(conversation)


@contextmanager
def serving(settings: Mapping[str, str], folder: Path) -> Iterator[Service]:
    """Run `patchwright serve` as a process of its own."""
    port = free_port()
    environment = {
        name: value
        for name, value in process_environment().items()
        if not name.startswith(("PATCHWRIGHT_", "LLM_"))
    }
    log = folder / "service.log"
    url = f"http://127.0.0.1:{port}"
    command = [str(Path(sys.executable).with_name("patchwright")), "serve"]
    with (
        log.open("wb") as output,
        subprocess.Popen(
            [*command, "--port", str(port)],
            env={**environment, **settings, "PATCHWRIGHT_SERVER__PUBLIC_URL": url},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        ) as process,
    ):
        try:
            wait_until(lambda: _is_ready(process, port, log), "the service", START_S)
            yield Service(
                url=url,
                sandbox=settings["PATCHWRIGHT_SANDBOX__KIND"],
                database=f"sqlite:///{folder / 'state' / 'patchwright.db'}",
            )
        finally:
            process.terminate()


def _is_ready(process: subprocess.Popen[bytes], port: int, log: Path) -> bool:
    if process.poll() is not None:
        raise ProvisionError(f"the service ended at once:\n{log_tail(log)}")
    connection = HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == HTTP_OK
    except OSError:
        return False
    finally:
        connection.close()


HTTP_OK = 200
