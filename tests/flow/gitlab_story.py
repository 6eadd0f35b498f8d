"""Tell a story on GitLab: its webhooks, a service, a model and a sandbox, for real."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from patchwright.core.types.work import Outcome
from patchwright.core.webhook import WEBHOOK_ROUTE
from patchwright.resolver.job import Job
from patchwright.workers.compose import ServiceParts, make_worker
from patchwright.workers.jobs.worker import JobWorker
from tests.fakes.github.bare import File, find_commit, git
from tests.fakes.gitlab import (
    ISSUE,
    MERGE_REQUEST,
    Delivery,
    FakeGitLab,
    Level,
    MergeRequestSeen,
    Note,
    Place,
    Proposal,
    ThreadKind,
    Visibility,
    deliver,
)
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import Script
from tests.flow.clock import MovableClock
from tests.flow.runs import all_runs, work
from tests.flow.serving import serving
from tests.flow.story import FILES, MODEL_KEY, PING
from tests.provision.servers import free_port
from tests.schema import add_sqlite_file

SHOP = "acme/tools/shop"
SECRET = "correct horse of the fox"
BOT = "patchwright"
TITLE = "Wrong sum"
BRANCH = "patchwright/1-wrong-sum"


@dataclass
class GitLabStory:
    """One service and the people around it; `alice` is a developer, `eve` is nobody.

    `carried` counts the webhooks that were delivered. Whatever the bot has said must
    have been read when the story ends.
    """

    gitlab: FakeGitLab
    provider: FakeProvider
    base: ServiceParts
    runner: JobWorker
    url: str
    clock: MovableClock
    environment: Mapping[str, str]
    carried: int = 0
    _read: dict[int, str] = field(default_factory=dict)

    @property
    def hook_url(self) -> str:
        return self.url + WEBHOOK_ROUTE.format(service="gitlab")

    def deliver(self, delivery: Delivery) -> int:
        """Carry one webhook; return how the service answered."""
        return deliver(delivery, self.hook_url).status

    def tell(self) -> None:
        """Carry all webhooks to the service, which must take them."""
        sent = self.gitlab.deliveries[self.carried :]
        self.carried += len(sent)
        assert {self.deliver(one) for one in sent} <= {200, 202}

    def lose(self) -> None:
        """Let no webhook arrive of what has happened."""
        self.carried = len(self.gitlab.deliveries)

    def work(self) -> None:
        """Carry all webhooks, and run the jobs that wait, until nothing is left."""
        while True:
            self.tell()
            work(self.base, self.runner)
            if self.carried == len(self.gitlab.deliveries):
                return

    def work_later(self, seconds: float) -> None:
        """Let the time pass that the service waits before it goes on, and work."""
        self.clock.advance(seconds)
        self.work()

    def ask(self, body: str, *, author: str = "alice", title: str = TITLE) -> int:
        """Open an issue with this text, let the service work; return its number."""
        number = self.gitlab.open_issue(SHOP, author, title, body)
        self.work()
        return number

    def say(
        self, number: int, body: str, *, author: str = "alice", kind: ThreadKind = ISSUE
    ) -> int:
        """Write a note, and let the service work; return the note's number."""
        note = self.gitlab.comment(SHOP, number, author, body, kind=kind)
        self.work()
        return note

    def propose(
        self,
        description: str = "My own words.",
        *,
        author: str = "alice",
        files: Mapping[str, str | bytes | File | None] | None = None,
    ) -> int:
        """Open a merge request of alice's own branch `work`; return its number."""
        content = files or {"x.py": "x = 1\n"}
        self.gitlab.commit_files(SHOP, "work", content, author=author)
        wish = Proposal(
            title="Try x", source="work", target="main", description=description
        )
        return self.gitlab.open_merge_request(SHOP, author, wish)

    def notes(
        self, number: int, kind: ThreadKind = ISSUE, path: str = SHOP
    ) -> list[Note]:
        """Return what the bot has written in a thread, oldest first."""
        everything = self.gitlab.comments(path, number, kind)
        found = [one for one in everything if self.gitlab.author_of(one) == BOT]
        self._read.update({one.id: one.body for one in found})
        return found

    def replies(
        self, number: int, kind: ThreadKind = ISSUE, path: str = SHOP
    ) -> list[str]:
        """Return its texts, but for calling people, and for those at a line."""
        said = [one for one in self.notes(number, kind, path) if one.position is None]
        return [one.body for one in said if PING not in one.body]

    def at_lines(self, number: int) -> list[str]:
        """Return its texts in the discussions of lines."""
        said = self.notes(number, MERGE_REQUEST)
        return [one.body for one in said if one.position is not None]

    def pings(self, number: int, kind: ThreadKind = ISSUE) -> list[str]:
        """Return how the bot has called people in the thread."""
        return [one.body for one in self.notes(number, kind) if PING in one.body]

    def reply(self, number: int, kind: ThreadKind = ISSUE, path: str = SHOP) -> str:
        """Return the one thing that the bot has said in the thread."""
        [only] = self.replies(number, kind, path)
        return only

    def awards(
        self, number: int, note: int | None = None, kind: ThreadKind = ISSUE
    ) -> list[str]:
        """Return the emoji of the bot on a thread's text or on a note."""
        found = self.gitlab.reactions(SHOP, number, note, kind)
        bot = self.gitlab.world.user(BOT).id
        return [one.name for one in found if one.user == bot]

    def merge_request(self) -> MergeRequestSeen:
        """Return the only one."""
        [only] = self.gitlab.merge_requests(SHOP)
        return only

    def branches(self) -> list[str]:
        """Return the branches of the project besides `main`."""
        folder = self.gitlab.git_folder(SHOP)
        told = git(folder, "for-each-ref", "--format=%(refname)", "refs/heads")
        names = told.decode().split()
        return [
            name.removeprefix("refs/heads/") for name in names if "main" not in name
        ]

    def tip(self, branch: str, path: str = SHOP) -> str | None:
        """Return the commit that a branch stands at."""
        return find_commit(self.gitlab.git_folder(path), f"refs/heads/{branch}")

    def file(self, branch: str, name: str) -> str:
        """Return the text of a file on a branch."""
        folder = self.gitlab.git_folder(SHOP)
        return git(folder, "show", f"refs/heads/{branch}:{name}").decode()

    def commit_message(self, branch: str) -> str:
        """Return what the newest commit of a branch says."""
        folder = self.gitlab.git_folder(SHOP)
        return git(folder, "log", "-1", "--format=%B", branch).decode().strip()

    def jobs(self) -> list[Job]:
        """Return every run, oldest first."""
        return all_runs(self.base)

    def worked(self) -> list[Job]:
        """Return every run in which a model was asked, oldest first."""
        return [one for one in self.jobs() if one.outcome and one.outcome.iterations]

    def outcome(self) -> Outcome:
        """Return how the newest run ended."""
        outcome = self.jobs()[-1].outcome
        assert outcome is not None
        return outcome

    def nothing_unread(self) -> None:
        """Fail if the bot has said something that the story did not look at."""
        bot = self.gitlab.world.user(BOT).id
        everything = self.gitlab.world.notes.values()
        said = {
            one.id: one.body
            for one in everything
            if one.author == bot and not one.system
        }
        assert said.items() <= self._read.items(), said


@contextmanager
def telling_gitlab(
    folder: Path,
    turns: Script,
    *,
    place: Place | None = None,
    settings: Mapping[str, str] | None = None,
    files: Mapping[str, str | bytes | File] | None = None,
    visibility: Visibility = Visibility.PUBLIC,
    port: int | None = None,
) -> Iterator[GitLabStory]:
    """Set the scene: a project in a sub-group, whose group alice develops for.

    The bot is a user with a token, and a developer of the project.
    """
    with (
        FakeGitLab(place or Place()) as gitlab,
        FakeProvider(turns, api_key=MODEL_KEY) as provider,
    ):
        token = _add_shop(gitlab, {**FILES, **(files or {})}, visibility)
        port = port or free_port()
        environment = {
            "PATCHWRIGHT_STATE_DIR": str(folder / "state"),
            "PATCHWRIGHT_SANDBOX__KIND": "local",
            "PATCHWRIGHT_GITLAB__BASE_URL": gitlab.base_url,
            "PATCHWRIGHT_GITLAB__TOKEN": token,
            "PATCHWRIGHT_GITLAB__WEBHOOK_SECRET": SECRET,
            "PATCHWRIGHT_GITLAB__POLL_SECONDS": "0",
            "LLM_MODEL": "openai/scripted",
            "LLM_BASE_URL": provider.base_url,
            "LLM_API_KEY": MODEL_KEY,
            **(settings or {}),
        }
        add_sqlite_file(folder / "state" / "patchwright.db")
        clock = MovableClock()
        with serving(environment, folder, clock, port) as (base, url):
            runner = make_worker(base)
            story = GitLabStory(gitlab, provider, base, runner, url, clock, environment)
            yield story
            story.nothing_unread()


def _add_shop(
    gitlab: FakeGitLab,
    files: Mapping[str, str | bytes | File],
    visibility: Visibility,
) -> str:
    """Return the token of the bot's user."""
    for name in ("alice", "eve"):
        gitlab.add_user(name)
    token = gitlab.add_user(BOT)
    gitlab.add_project(SHOP, files=files, visibility=visibility)
    gitlab.grant("acme", "alice", Level.DEVELOPER)
    gitlab.grant(SHOP, BOT, Level.DEVELOPER)
    gitlab.add_hook(SHOP, SECRET)
    return token
