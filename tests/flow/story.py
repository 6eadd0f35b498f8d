"""Tell a story: a service, a GitHub, a model and a sandbox, all speaking for real."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from patchwright.core.events.types import Event
from patchwright.core.types.work import Outcome
from patchwright.integrations.github.app import CALLBACK_PATH
from patchwright.resolver.job import Job
from patchwright.resolver.services import RunOverrides
from patchwright.workers.compose import ServiceParts, make_worker
from patchwright.workers.jobs.worker import JobWorker
from tests.app_manifest import add_our_app
from tests.fakes.github.acts.registrations import add_client
from tests.fakes.github.bare import File
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.github.state import Comment, Delivery
from tests.fakes.github.webhooks.sending import Receipt, deliver
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import Script, TurnLike, call
from tests.flow.clock import MovableClock
from tests.flow.runs import all_runs, work
from tests.flow.serving import serving
from tests.schema import add_sqlite_file

WEBHOOK_SECRET = "correct horse battery staple"
APP_ID = 4711
MODEL_KEY = "sk-story-0123456789abcdef"
REPO = "acme/shop"
BOT = "patchwright[bot]"
NO_ORDERS = RunOverrides()
PING = "<!-- patchwright:ping run="

CART = '''"""What a customer is about to buy."""


def total(prices, pieces):
    return sum(prices)
'''
TEST_CART = """import unittest

from cart import total


class TotalTest(unittest.TestCase):
    def test_nothing(self):
        self.assertEqual(total([], []), 0)
"""
NEW_TEST = """import unittest

from cart import total


class PiecesTest(unittest.TestCase):
    def test_every_piece_counts(self):
        self.assertEqual(total([450], [3]), 1350)
"""
FILES: dict[str, str | bytes] = {"cart.py": CART, "test_cart.py": TEST_CART}


@dataclass(frozen=True)
class Story:
    """One service and the people and services around it.

    `environment` is what the service's settings are read from, and `bot` who it is on
    GitHub. Whatever it has said must have been read
    when the story ends.
    """

    github: FakeGitHub
    provider: FakeProvider
    base: ServiceParts
    runner: JobWorker
    url: str
    clock: MovableClock
    environment: Mapping[str, str]
    bot: str = BOT
    _read: dict[int, str] = field(default_factory=dict)

    def deliver(self, delivery: Delivery | None = None) -> Receipt:
        """Send a delivery, or the newest one, to the service."""
        chosen = delivery or self.github.deliveries[-1]
        return deliver(chosen, f"{self.url}/api/integration/github/events")

    def tell(self) -> None:
        """Send the newest delivery, which the service must take."""
        receipt = self.deliver()
        assert receipt.status in {200, 202}, receipt

    def ask(self, body: str, *, author: str = "alice", title: str = "Wrong sum") -> int:
        """Open an issue with this text, tell the service, and return its number."""
        number = self.github.open_issue(REPO, author, title, body)
        self.tell()
        return number

    def say(self, number: int, body: str, *, author: str = "alice") -> int:
        """Comment on an issue, tell the service, and return the comment's id."""
        comment = self.github.comment(REPO, number, author, body)
        self.tell()
        return comment

    def work(self) -> None:
        """Run the jobs that wait, as a worker would, and those that come of them."""
        work(self.base, self.runner)

    def work_later(self, seconds: float) -> None:
        """Let the time pass that the service waits before it tries again, and work."""
        self.clock.advance(seconds)
        self.work()

    def replies(self, number: int) -> list[str]:
        """Return what the bot has said in the thread, but for calling people."""
        return [one for one in self._said(number) if PING not in one]

    def pings(self, number: int) -> list[str]:
        """Return how the bot has called people in the thread."""
        return [one for one in self._said(number) if PING in one]

    def _said(self, number: int) -> list[str]:
        found = [one for one in self._all_comments(number) if one.author == self.bot]
        self._read.update({one.id: one.body for one in found})
        return [one.body for one in found]

    def reply(self, number: int) -> str:
        """Return the one thing that the bot has said in the thread."""
        [only] = self.replies(number)
        return only

    def reactions(self, number: int, comment: int | None = None) -> list[str]:
        """Return how the bot has reacted to the opening text or to a comment."""
        found = self.github.reactions(REPO, number, comment)
        return [one.content for one in found if one.author == self.bot]

    def branches(self) -> list[str]:
        """Return the branches of the repository besides its default one."""
        heads = self.github.git_folder(REPO) / "refs" / "heads"
        files = (one for one in heads.rglob("*") if one.is_file())
        names = sorted(str(one.relative_to(heads)) for one in files)
        default = self.github.world.repo(REPO).default_branch
        return [name for name in names if name != default]

    def jobs(self) -> list[Job]:
        """Return every run, oldest first."""
        return all_runs(self.base)

    def outcome(self) -> Outcome:
        """Return how the only run ended."""
        [job] = self.jobs()
        assert job.outcome is not None
        return job.outcome

    def events(self) -> list[Event]:
        """Return the log of the only run's conversation."""
        [job] = self.jobs()
        return list(self.base.stores.events.open(job.conversation_id).read())

    def nothing_unread(self) -> None:
        """Fail if the bot has said something that the story did not look at."""
        said = {
            comment.id: comment.body
            for issue in self.github.world.issues_of(REPO)
            for comment in self._all_comments(issue.number)
            if comment.author == self.bot
        }
        assert said.items() <= self._read.items(), said

    def _all_comments(self, number: int) -> list[Comment]:
        return self.github.comments(REPO, number)


@contextmanager
def telling(
    folder: Path,
    turns: Script,
    *,
    settings: Mapping[str, str] | None = None,
    enterprise: bool = True,
    default_branch: str = "main",
    files: Mapping[str, str | bytes | File] | None = None,
    as_app: bool = True,
    private: bool = False,
    port: int | None = None,
    signs_in_at: str = "",
    overrides: RunOverrides = NO_ORDERS,
) -> Iterator[Story]:
    """Set the scene: `acme/shop`, which alice may write, eve may not.

    The bot is there as our App, or else as a user with a token. The web side listens on
    `port`, and people sign in to it at `signs_in_at`. The runs are under `overrides`.
    """
    with (
        FakeGitHub(enterprise=enterprise) as github,
        FakeProvider(turns, api_key=MODEL_KEY) as provider,
    ):
        content = {**FILES, **(files or {})}
        _add_shop(github, default_branch, content, private=private)
        environment = {
            "PATCHWRIGHT_STATE_DIR": str(folder / "state"),
            **_environment(github, provider),
            **(_join_as_app(github) if as_app else _join_as_user(github)),
            **(let_sign_in(github, signs_in_at) if signs_in_at else {}),
            **(settings or {}),
        }
        add_sqlite_file(folder / "state" / "patchwright.db")
        clock = MovableClock()
        with serving(environment, folder, clock, port) as (base, url):
            bot = BOT if as_app else "patchwright"
            runner = make_worker(base, overrides)
            story = Story(github, provider, base, runner, url, clock, environment, bot)
            yield story
            story.nothing_unread()


def _add_shop(
    github: FakeGitHub,
    default_branch: str,
    files: Mapping[str, str | bytes | File],
    *,
    private: bool,
) -> None:
    for login in ("alice", "eve"):
        github.add_user(login)
    github.add_repository(
        REPO, default_branch=default_branch, files=files, private=private
    )
    github.grant(REPO, "alice", "write")


def _environment(github: FakeGitHub, provider: FakeProvider) -> dict[str, str]:
    return {
        "PATCHWRIGHT_SANDBOX__KIND": "local",
        "PATCHWRIGHT_GITHUB__API_URL": github.api_url,
        "PATCHWRIGHT_GITHUB__WEB_URL": github.web_url,
        "PATCHWRIGHT_GITHUB__WEBHOOK_SECRET": WEBHOOK_SECRET,
        "LLM_MODEL": "openai/scripted",
        "LLM_BASE_URL": provider.base_url,
        "LLM_API_KEY": MODEL_KEY,
    }


def _join_as_app(github: FakeGitHub) -> dict[str, str]:
    key = add_our_app(github, APP_ID, WEBHOOK_SECRET)
    github.install_app(APP_ID, "acme", [REPO])
    return {
        "PATCHWRIGHT_GITHUB__APP_ID": str(APP_ID),
        "PATCHWRIGHT_GITHUB__PRIVATE_KEY": key,
    }


def let_sign_in(github: FakeGitHub, url: str) -> dict[str, str]:
    """Let people sign in with our App at a service there; return its settings."""
    client = add_client(github.world, APP_ID, [url + CALLBACK_PATH])
    return {
        "PATCHWRIGHT_SERVER__PUBLIC_URL": url,
        "PATCHWRIGHT_GITHUB__CLIENT_ID": client.client_id,
        "PATCHWRIGHT_GITHUB__CLIENT_SECRET": client.client_secret,
    }


def _join_as_user(github: FakeGitHub) -> dict[str, str]:
    token = github.add_user("patchwright")
    github.grant(REPO, "patchwright", "write")
    github.add_hook(REPO, WEBHOOK_SECRET)
    return {"PATCHWRIGHT_GITHUB__TOKEN": token}


def fix_turns() -> list[TurnLike]:
    """Return what a good model does about `CART`: test, fix, finish."""
    return [
        call("write", path="test_pieces.py", content=NEW_TEST),
        call("shell", command="python3 -m unittest test_pieces"),
        call(
            "edit",
            path="cart.py",
            edits=[
                {
                    "old": "sum(prices)",
                    "new": "sum(p * n for p, n in zip(prices, pieces))",
                }
            ],
        ),
        call(
            "finish",
            title="Count every piece",
            summary="The total ignored the pieces.",
            test_commands=["python3 -m unittest test_pieces"],
        ),
    ]
