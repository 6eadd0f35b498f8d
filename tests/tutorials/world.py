"""The world of who follows a tutorial: GitHub and a model, under their own names."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from patchwright.core.types.base import RandomIds
from tests.architecture.tree import ROOT, project_files
from tests.deploy.docker_cli import docker
from tests.fakes.github import bare
from tests.fakes.github.bare import Content, File
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.github.site import Names
from tests.fakes.llm.anthropic import FakeAnthropic
from tests.fakes.tls import Authority, make_authority
from tests.flow.story import MODEL_KEY
from tests.tutorials.browser import Browser
from tests.tutorials.front import TLS_PORT, Address, Way, door, plain
from tests.tutorials.model import mend
from tests.tutorials.raw import raw_files

OURS = "patchwright/patchwright"
RELEASE = "v0.1.0"
SHOP = "acme/shop"
READER = "alice"
# No App is offered at a name that is kept for examples.
SERVICE = "patchwright.acme.dev"
GITLAB_HOST = "git.acme.dev"
LINEAR_HOST = "linear.app"
GITHUB = Names(api_url="https://api.github.com", web_url="https://github.com")
HOSTS = (
    "github.com",
    "api.github.com",
    "raw.githubusercontent.com",
    "api.anthropic.com",
    "slack.com",
    "wss-primary.slack.com",
    "acme.atlassian.net",
    GITLAB_HOST,
    LINEAR_HOST,
    f"api.{LINEAR_HOST}",
    SERVICE,
)


@dataclass
class World:
    """What is outside of the reader's machine.

    `places` says where each name leads to, `values` what the reader has been given, by
    the names of settings. `gateway` is where containers find the door to all of it.
    """

    github: FakeGitHub
    model: FakeAnthropic
    browser: Browser
    places: dict[str, Way]
    authority: Authority
    network: str
    gateway: str
    values: dict[str, str] = field(default_factory=dict)
    carried: int = 0

    @property
    def bundle(self) -> Path:
        return self.authority.bundle

    @property
    def hosts(self) -> dict[str, str]:
        """Return the address of each name, for containers."""
        return dict.fromkeys(HOSTS, self.gateway)


@contextmanager
def world(folder: Path, names: Names | None = GITHUB) -> Iterator[World]:
    """Set it up; `names` is None where GitHub shall call itself by an address."""
    authority = make_authority(folder, "world", *HOSTS)
    with (
        ExitStack() as stack,
        FakeGitHub(names=names) as github,
        FakeAnthropic(mend, api_key=MODEL_KEY) as model,
    ):
        token = _fill(github)
        places = {
            "github.com": plain(github.address),
            "api.github.com": plain(github.address),
            "raw.githubusercontent.com": plain(stack.enter_context(raw_files(github))),
            "api.anthropic.com": plain(_address(model.base_url)),
        }
        network, gateway = stack.enter_context(_network())
        stack.enter_context(door(places, authority, (gateway, TLS_PORT)))
        near = stack.enter_context(door(places, authority, ("127.0.0.1", 0)))
        browser = stack.enter_context(Browser(near, authority.bundle))
        ready = World(github, model, browser, places, authority, network, gateway)
        ready.values |= {
            "llm.api_key": MODEL_KEY,
            "github.token": token,
            "server.public_url": f"https://{SERVICE}",
            "PUBLIC_HOST": SERVICE,
            "PATCHWRIGHT_SERVER__PUBLIC_URL": f"https://{SERVICE}",
            "ACME_EMAIL": "admin@example.com",
            "deploy/secrets/llm_api_key": MODEL_KEY,
        }
        yield ready


def _fill(github: FakeGitHub) -> str:
    """Put this project there as it is here, and a shop that the reader may change.

    Returns what the reader's git shows there.
    """
    github.add_repository(OURS, files={name: _file(name) for name in project_files()})
    bare.git(github.git_folder(OURS), "tag", RELEASE, "HEAD")
    token = github.add_user(READER)
    shop = ROOT / "demo" / "example"
    github.add_repository(SHOP, private=True, from_path=shop)
    github.grant(SHOP, READER, "admin")
    return token


def _file(name: str) -> Content:
    file = ROOT / name
    mode = "100755" if file.stat().st_mode & 0o100 else "100644"
    return File(file.read_bytes(), mode)


@contextmanager
def _network() -> Iterator[tuple[str, str]]:
    """Make a network; yield its name, and where it has this machine."""
    name = f"patchwright-world-{RandomIds().new()[:8]}"
    docker("network", "create", name)
    try:
        template = "{{(index .IPAM.Config 0).Gateway}}"
        yield name, docker("network", "inspect", name, "--format", template)
    finally:
        docker("network", "rm", name)


def _address(url: str) -> Address:
    parts = urlsplit(url)
    return str(parts.hostname), int(parts.port or 0)
