"""A GitHub, a model, and the processes of a service between them."""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

from patchwright.core.settings.environment import process_environment
from patchwright.resolver.messages.status import UNFINISHED
from tests.app_manifest import add_our_app
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.github.seen import PullRequestSeen
from tests.fakes.github.webhooks.sending import deliver
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import Script
from tests.flow.story import (
    APP_ID,
    BOT,
    FILES,
    MODEL_KEY,
    PING,
    REPO,
    WEBHOOK_SECRET,
)
from tests.provision.errors import ProvisionError
from tests.provision.servers import free_port, log_tail
from tests.provision.waiting import wait_until
from tests.service.processes import ServiceProcess, serving

FINISH_S = 90.0
# Where a worker is killed, so that its lease does not run for half a minute more. Much
# less would be taken from the living on a machine that is busy.
SHORT_LEASE = {"PATCHWRIGHT_QUEUE__LEASE_SECONDS": "5"}
REQUEST = "@patchwright please fix the sum, 3 pieces cost 450"


@dataclass(frozen=True)
class Stage:
    """What the processes share; `temporary` is where they put what is to go again."""

    github: FakeGitHub
    provider: FakeProvider
    environment: Mapping[str, str]
    folder: Path
    temporary: Path
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    @contextmanager
    def serving(self, role: str, **more: str) -> Iterator[ServiceProcess]:
        """Run a process of that role; `more` are variables for it alone."""
        with serving(role, {**self.environment, **more}, self._log(role)) as process:
            yield process

    @contextmanager
    def serving_cold(self, role: str) -> Iterator[ServiceProcess]:
        """Run a process that has imported nothing yet, as when users start it."""
        log = self._log(role)
        with serving(role, self.environment, log, is_cold=True) as process:
            yield process

    def _log(self, role: str) -> Path:
        return self.folder / f"{next(self._numbers)}-{role}.log"

    def ask(self, web: ServiceProcess, *, title: str = "Wrong sum") -> int:
        """Let alice open an issue that asks, tell the service; return its number."""
        number = self.github.open_issue(REPO, "alice", title, REQUEST)
        url = f"{web.url}/api/integration/github/events"
        receipt = deliver(self.github.deliveries[-1], url)
        assert receipt.status == 202, receipt
        return number

    def wait(self, is_true: Callable[[], bool], what: str) -> None:
        """Wait with a bound; what the processes said goes into the failure."""
        try:
            wait_until(is_true, what, FINISH_S)
        except ProvisionError as error:
            logs = sorted(self.folder.glob("*.log"))
            tails = "".join(f"\n{log.name}:\n{log_tail(log)}" for log in logs)
            raise ProvisionError(f"{error}{tails}") from None

    def finish(self, number: int) -> PullRequestSeen:
        """Wait for the end of the only run; it has left one of everything.

        The last that it does is to call the requester, once.
        """
        self.wait_for_end(number)
        self.wait(lambda: bool(self.pings(number)), f"the call in #{number}")
        assert len(self.pings(number)) == 1
        said, pulls = self.replies(number), self.github.pull_requests(REPO)
        assert (len(said), len(pulls)) == (1, 1), said
        return pulls[0]

    def wait_for_end(self, number: int) -> None:
        self.wait(lambda: self._has_ended(number), f"the end of #{number}")

    def replies(self, number: int) -> list[str]:
        """Return what the bot has said, but for calling people."""
        return [one for one in self._said(number) if PING not in one]

    def pings(self, number: int) -> list[str]:
        return [one for one in self._said(number) if PING in one]

    def _said(self, number: int) -> list[str]:
        comments = self.github.comments(REPO, number)
        return [one.body for one in comments if one.author == BOT]

    def models_turn(self, number: int) -> None:
        """Wait until the model has been asked that many times."""
        turn = f"request {number} to the model"
        self.wait(lambda: len(self.provider.requests) >= number, turn)

    def nothing_is_left(self) -> bool:
        return not list(self.temporary.iterdir())

    def _has_ended(self, number: int) -> bool:
        said = self.replies(number)
        return bool(said) and not any(UNFINISHED in reply for reply in said)


@contextmanager
def staged(
    folder: Path,
    turns: Script,
    settings: Mapping[str, str] | None = None,
    *,
    private: bool = False,
) -> Iterator[Stage]:
    """Set the scene of `tests.flow.story` for processes, none of which runs yet."""
    with (
        FakeGitHub(enterprise=True) as github,
        FakeProvider(turns, api_key=MODEL_KEY) as provider,
        _temporary_folder() as temporary,
    ):
        key = add_our_app(github, APP_ID, WEBHOOK_SECRET)
        github.add_user("alice")
        github.add_repository(REPO, files=FILES, private=private)
        github.grant(REPO, "alice", "write")
        github.install_app(APP_ID, "acme", [REPO])
        environment = {
            "PATH": process_environment()["PATH"],
            "HOME": str(folder),
            "TMPDIR": str(temporary),
            "LOG_JSON": "1",
            "PATCHWRIGHT_STATE_DIR": str(folder / "state"),
            "PATCHWRIGHT_SERVER__PORT": "0",
            "PATCHWRIGHT_SANDBOX__KIND": "local",
            "PATCHWRIGHT_QUEUE__SWEEP_SECONDS": "1",
            "PATCHWRIGHT_GITHUB__API_URL": github.api_url,
            "PATCHWRIGHT_GITHUB__WEB_URL": github.web_url,
            "PATCHWRIGHT_GITHUB__APP_ID": str(APP_ID),
            "PATCHWRIGHT_GITHUB__PRIVATE_KEY": key,
            "PATCHWRIGHT_GITHUB__WEBHOOK_SECRET": WEBHOOK_SECRET,
            "LLM_MODEL": "openai/scripted",
            "LLM_BASE_URL": provider.base_url,
            "LLM_API_KEY": MODEL_KEY,
            **(settings or {}),
        }
        yield Stage(github, provider, environment, folder, temporary)


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    """Make a folder whose path a sandbox's own user may walk, unlike pytest's."""
    path = Path(tempfile.mkdtemp(prefix="patchwright-service-"))
    path.chmod(0o711)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


# What tells a service of its App.
_OF_APP = (
    "PATCHWRIGHT_GITHUB__APP_ID",
    "PATCHWRIGHT_GITHUB__PRIVATE_KEY",
    "PATCHWRIGHT_GITHUB__WEBHOOK_SECRET",
)


@contextmanager
def unset_stage(folder: Path, turns: Script) -> Iterator[Stage]:
    """Set the scene for a service to which nobody told anything of an App."""
    with staged(folder, turns) as configured:
        # What the App of the scene was called is free for the one that is made.
        configured.github.world.apps.clear()
        configured.github.world.installations.clear()
        port = str(free_port())
        told = {
            name: value
            for name, value in configured.environment.items()
            if name not in _OF_APP
        }
        told["PATCHWRIGHT_SERVER__PORT"] = port
        told["PATCHWRIGHT_SERVER__PUBLIC_URL"] = f"http://127.0.0.1:{port}"
        yield replace(configured, environment=told)
