"""Tell a story that happens on GitLab, as `story` does for GitHub."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from patchwright.workers.compose import ServiceParts, make_worker
from patchwright.workers.jobs.worker import JobWorker
from tests.fakes.github.webhooks.sending import deliver
from tests.fakes.gitlab.fake import ISSUE, FakeGitLab
from tests.fakes.gitlab.seen import MergeRequestSeen
from tests.fakes.gitlab.site import Place
from tests.fakes.gitlab.state import Level
from tests.fakes.gitlab.thread_state import ThreadKind
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import Script
from tests.flow.clock import MovableClock
from tests.flow.serving import serving
from tests.flow.story import FILES, MODEL_KEY, NO_ORDERS, PING, WEBHOOK_SECRET
from tests.schema import add_sqlite_file

PROJECT = "acme/tools/shop"
BOT = "patchwright"


@dataclass
class GitLabStory:
    """One service and the people around it; `told` deliveries have been brought."""

    gitlab: FakeGitLab
    provider: FakeProvider
    base: ServiceParts
    runner: JobWorker
    url: str
    told: int = field(default=0)

    def tell(self) -> None:
        """Bring what has happened since, which the service must take."""
        fresh = self.gitlab.deliveries[self.told :]
        self.told += len(fresh)
        for delivery in fresh:
            receipt = deliver(delivery, f"{self.url}/api/integration/gitlab/events")
            assert receipt.status in {200, 202}, receipt

    def ask(self, body: str, *, author: str = "alice") -> int:
        """Open an issue with this text, tell the service, and return its number."""
        number = self.gitlab.open_issue(PROJECT, author, "Wrong sum", body)
        self.tell()
        return number

    def work(self) -> None:
        """Run the jobs that wait, as a worker would, and those that come of them."""
        while waiting := self.base.stores.jobs.take_unfinished(0.0):
            for job_id in waiting:
                self.runner.run(job_id)

    def replies(self, number: int, kind: ThreadKind = ISSUE) -> list[str]:
        """Return what the bot has said in a thread, but for calling people."""
        return [
            one.body
            for one in self.gitlab.comments(PROJECT, number, kind)
            if self.gitlab.author_of(one) == BOT and PING not in one.body
        ]

    def reply(self, number: int, kind: ThreadKind = ISSUE) -> str:
        """Return the one thing that the bot has said in a thread."""
        [only] = self.replies(number, kind)
        return only

    def merge_request(self) -> MergeRequestSeen:
        [only] = self.gitlab.merge_requests(PROJECT)
        return only


@contextmanager
def telling(
    folder: Path,
    turns: Script,
    *,
    settings: Mapping[str, str] | None = None,
    files: Mapping[str, str | bytes] | None = None,
) -> Iterator[GitLabStory]:
    """Set the scene: a project in a sub-group, which alice may write, eve may not."""
    with (
        FakeGitLab(Place(prefix="/gitlab")) as gitlab,
        FakeProvider(turns, api_key=MODEL_KEY) as provider,
    ):
        token = _add_shop(gitlab, {**FILES, **(files or {})})
        environment = {
            "PATCHWRIGHT_STATE_DIR": str(folder / "state"),
            "PATCHWRIGHT_SANDBOX__KIND": "local",
            "PATCHWRIGHT_GITLAB__BASE_URL": gitlab.base_url,
            "PATCHWRIGHT_GITLAB__TOKEN": token,
            "PATCHWRIGHT_GITLAB__WEBHOOK_SECRET": WEBHOOK_SECRET,
            "PATCHWRIGHT_GITLAB__POLL_SECONDS": "0",
            "LLM_MODEL": "openai/scripted",
            "LLM_BASE_URL": provider.base_url,
            "LLM_API_KEY": MODEL_KEY,
            **(settings or {}),
        }
        add_sqlite_file(folder / "state" / "patchwright.db")
        with serving(environment, folder, MovableClock(), None) as (base, url):
            runner = make_worker(base, NO_ORDERS)
            yield GitLabStory(gitlab, provider, base, runner, url)


def _add_shop(gitlab: FakeGitLab, files: Mapping[str, str | bytes]) -> str:
    for login in ("alice", "eve"):
        gitlab.add_user(login)
    gitlab.add_project(PROJECT, default_branch="trunk", files=files)
    gitlab.grant(PROJECT, "alice", Level.DEVELOPER)
    token = gitlab.add_user(BOT, bot=True)
    gitlab.grant("acme", BOT, Level.DEVELOPER)
    gitlab.add_hook(PROJECT, WEBHOOK_SECRET)
    return token
