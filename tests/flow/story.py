"""Tell a story: a service, a GitHub, a model and a sandbox, all speaking for real."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from patchwright.core.settings.load import load
from patchwright.core.settings.secret_values import secret_values
from patchwright.core.text.redaction import Redactor
from patchwright.workers.run.runner import Runner
from patchwright.workers.serve import Base, make_app, make_runner, open_base
from patchwright.workers.web.server import make_server
from tests.fakes.github import Delivery, FakeGitHub, File, Receipt, deliver
from tests.fakes.llm import FakeProvider, call
from tests.fakes.llm.turns import Script, TurnLike
from tests.provision.servers import free_port
from tests.provision.waiting import wait_until

WEBHOOK_SECRET = "correct horse battery staple"
APP_ID = 4711
MODEL_KEY = "sk-story-0123456789abcdef"
REPO = "acme/shop"

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
    """One service and the people and services around it."""

    github: FakeGitHub
    provider: FakeProvider
    base: Base
    runner: Runner
    url: str

    def deliver(self, delivery: Delivery | None = None) -> Receipt:
        """Send a delivery, or the newest one, to the service."""
        chosen = delivery or self.github.deliveries[-1]
        return deliver(chosen, f"{self.url}/api/integration/github/events")

    def ask(self, body: str, *, author: str = "alice", title: str = "Wrong sum") -> int:
        """Open an issue with this text, tell the service, and return its number."""
        number = self.github.open_issue(REPO, author, title, body)
        receipt = self.deliver()
        assert receipt.status in {200, 202}, receipt
        return number

    def say(self, number: int, body: str, *, author: str = "alice") -> int:
        """Comment on an issue, tell the service, and return the comment's id."""
        comment = self.github.comment(REPO, number, author, body)
        assert self.deliver().status in {200, 202}
        return comment

    def work(self) -> None:
        """Run the jobs that wait, as a worker would, and those that come of them."""
        while jobs := self.base.stores.jobs.take_unfinished(self.base.clock.now(), 0.0):
            for job_id in jobs:
                self.runner.run(job_id)

    def replies(self, number: int) -> list[str]:
        """Return what the bot has said in the thread."""
        return [
            comment.body
            for comment in self.github.comments(REPO, number)
            if comment.author == BOT
        ]

    def reply(self, number: int) -> str:
        """Return the one thing that the bot has said in the thread."""
        [only] = self.replies(number)
        return only


BOT = "patchwright[bot]"


@contextmanager
def telling(
    folder: Path,
    turns: Script,
    *,
    settings: Mapping[str, str] | None = None,
    enterprise: bool = True,
    default_branch: str = "main",
    files: Mapping[str, str | bytes | File] | None = None,
) -> Iterator[Story]:
    """Set the scene: `acme/shop`, which alice may write, eve may not, with our App."""
    with (
        FakeGitHub(enterprise=enterprise) as github,
        FakeProvider(turns, api_key=MODEL_KEY) as provider,
    ):
        key = github.add_app(APP_ID, "patchwright", WEBHOOK_SECRET)
        for login in ("alice", "eve"):
            github.add_user(login)
        github.add_repository(
            REPO, default_branch=default_branch, files={**FILES, **(files or {})}
        )
        github.grant(REPO, "alice", "write")
        github.install_app(APP_ID, "acme", [REPO])
        environment = {
            "PATCHWRIGHT_STATE_DIR": str(folder / "state"),
            "PATCHWRIGHT_SANDBOX__KIND": "local",
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
        with _serving(environment, folder) as (base, url):
            yield Story(github, provider, base, make_runner(base), url)


@contextmanager
def _serving(
    environment: Mapping[str, str], folder: Path
) -> Iterator[tuple[Base, str]]:
    """Run the web side in this process; jobs wait until the story runs them."""
    settings = load(environment, flags={}, cwd=folder)
    redactor = Redactor(secret_values(settings))
    with open_base(settings, redactor, lambda _job: None) as base:
        port = free_port()
        server = make_server(make_app(base), "127.0.0.1", port)
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            wait_until(lambda: server.started, "the web side", 10)
            yield base, f"http://127.0.0.1:{port}"
        finally:
            server.should_exit = True
            thread.join()


def fix_turns() -> list[TurnLike]:
    """What a good model does about `CART`: test, fix, finish."""
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
