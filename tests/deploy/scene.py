"""A GitHub and a model on this machine, where containers reach them."""

import ipaddress
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from patchwright.resolver.messages.status import UNFINISHED
from tests.app_manifest import add_our_app
from tests.deploy.docker_cli import docker
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.github.seen import PullRequestSeen
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import TurnLike
from tests.flow.story import (
    APP_ID,
    BOT,
    FILES,
    MODEL_KEY,
    PING,
    REPO,
    WEBHOOK_SECRET,
    fix_turns,
)

REQUEST = "@patchwright please fix the sum, 3 pieces cost 450"


@dataclass
class Model:
    """Fixes the sum in every run; while it is held up, it answers nobody."""

    _open: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._open.set()

    def __call__(self, request: dict[str, Any]) -> TurnLike:
        self._open.wait()
        done = len([one for one in request["messages"] if one["role"] == "assistant"])
        return fix_turns()[done]

    def hold_up(self) -> None:
        self._open.clear()

    def go_on(self) -> None:
        self._open.set()


@dataclass(frozen=True)
class Scene:
    github: FakeGitHub
    model: Model
    settings: dict[str, str]
    secrets: dict[str, str]

    def open_issue(self, title: str) -> int:
        return self.github.open_issue(REPO, "alice", title, REQUEST)

    def pull_requests(self, number: int) -> list[PullRequestSeen]:
        """Return the pull requests that an issue has led to."""
        found = self.github.pull_requests(REPO)
        return [one for one in found if f"#{number}\n" in f"{one.body}\n"]

    def has_ended(self, number: int) -> bool:
        said = self.replies(number)
        return bool(said) and not any(UNFINISHED in reply for reply in said)

    def replies(self, number: int) -> list[str]:
        """Return what the bot has said, but for calling people."""
        comments = self.github.comments(REPO, number)
        said = [one.body for one in comments if one.author == BOT]
        return [one for one in said if PING not in one]


@contextmanager
def scene() -> Iterator[Scene]:
    host, model = _address_for_containers(), Model()
    with (
        FakeGitHub(enterprise=True, host=host) as github,
        FakeProvider(model, api_key=MODEL_KEY, host=host) as provider,
    ):
        key = add_our_app(github, APP_ID, WEBHOOK_SECRET)
        github.add_user("alice")
        github.add_repository(REPO, files=FILES)
        github.grant(REPO, "alice", "write")
        github.install_app(APP_ID, "acme", [REPO])
        settings = {
            "PATCHWRIGHT_GITHUB__API_URL": github.api_url,
            "PATCHWRIGHT_GITHUB__WEB_URL": github.web_url,
            "PATCHWRIGHT_GITHUB__APP_ID": str(APP_ID),
            "LLM_MODEL": "openai/scripted",
            "LLM_BASE_URL": provider.base_url,
        }
        secrets = {
            "github_private_key": key,
            "github_webhook_secret": WEBHOOK_SECRET,
            "llm_api_key": MODEL_KEY,
        }
        try:
            yield Scene(github, model, settings, secrets)
        finally:
            model.go_on()


def _address_for_containers() -> str:
    """Return where the engine's own bridge has this machine.

    An engine that has just made its bridge tells no gateway before it is started again:
    it is the first address of the network.
    """
    template = "{{json (index .IPAM.Config 0)}}"
    told = json.loads(docker("network", "inspect", "bridge", "--format", template))
    network = ipaddress.ip_network(told["Subnet"])
    return str(told.get("Gateway") or network[1])
