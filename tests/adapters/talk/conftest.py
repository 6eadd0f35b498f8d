"""A database, a workspace of Slack and a site of Jira, and who is known there."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import SecretStr

from patchwright.core.channel import ChannelRouter, Tracker
from patchwright.core.settings.model import Settings
from patchwright.core.system.clock import SystemClock
from patchwright.integrations.github.adapter import GitHub, connect_token
from patchwright.integrations.github.connection import Addresses
from patchwright.integrations.github.plugin import describe
from patchwright.integrations.settings import load_settings
from patchwright.integrations.slack.adapter import Slack, connect
from patchwright.integrations.slack.tokens import StaticBotToken
from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.plugins.people import PersonDirectory
from tests.adapters.jira.conftest import Scene as JiraScene
from tests.adapters.jira.conftest import set_up
from tests.adapters.slack.conftest import Office
from tests.adapters.store.linking_world import API, Linking, open_linking
from tests.adapters.store.world import World
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.slack.fake import FakeSlack

ENVIRON = {
    "LLM_MODEL": "openai/x",
    "PATCHWRIGHT_GITHUB__API_URL": API,
    "PATCHWRIGHT_GITHUB__WEB_URL": "https://github.test",
    "PATCHWRIGHT_GITHUB__CLIENT_ID": "Iv1",
    "PATCHWRIGHT_GITHUB__CLIENT_SECRET": "secret",
    "PATCHWRIGHT_SERVER__PUBLIC_URL": "https://bot.test",
}


def settings_of(**more: str) -> Settings:
    named = {f"PATCHWRIGHT_{name}": value for name, value in more.items()}
    return load_settings(ENVIRON | named, flags={}, cwd=Path("/nonexistent"))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with closing(Database(f"sqlite:///{tmp_path}/patchwright.db")) as database:
        upgrade(database)
        yield World(database)


@pytest.fixture
def linking(world: World) -> Linking:
    return open_linking(world)


@pytest.fixture
def people(linking: Linking) -> PersonDirectory:
    return people_of(linking, settings_of())


def people_of(linking: Linking, settings: Settings) -> PersonDirectory:
    return PersonDirectory(
        settings, linking.accounts, linking.links, describe(settings)
    )


@pytest.fixture
def fake() -> Iterator[FakeSlack]:
    with FakeSlack() as fake:
        yield fake


@pytest.fixture
def office(fake: FakeSlack) -> Office:
    team = fake.scene.add_workspace("Acme")
    token = fake.scene.install(team)
    ann = fake.scene.add_user(team, "ann", "Ann")
    bob = fake.scene.add_user(team, "bob", "Bob B.")
    channel = fake.scene.add_channel(team, "dev", (ann, bob))
    return Office(team=team, token=token, channel=channel, ann=ann, bob=bob)


@pytest.fixture
def slack(fake: FakeSlack, office: Office) -> Slack:
    tokens = StaticBotToken(SecretStr(office.token))
    return connect(fake.api_url, tokens=tokens, clock=SystemClock())


@pytest.fixture
def forge() -> Iterator[FakeGitHub]:
    with FakeGitHub() as fake:
        fake.add_repository("acme/shop", default_branch="trunk", files={"a.py": "1\n"})
        yield fake


@pytest.fixture
def github(forge: FakeGitHub) -> Iterator[GitHub]:
    token = SecretStr(forge.add_user("robot"))
    forge.grant("acme/shop", "robot", "write")
    addresses = Addresses(api_url=forge.api_url, web_url=forge.web_url)
    github = connect_token(addresses, token, clock=SystemClock(), pause_s=0)
    yield github
    github.close()


@pytest.fixture
def channel_router(github: GitHub, slack: Slack, jira: JiraScene) -> ChannelRouter:
    trackers: dict[str, Tracker] = {"slack": slack.channel, "jira": jira.channel}
    return ChannelRouter(github.channel, trackers)


@pytest.fixture
def jira() -> Iterator[JiraScene]:
    yield from set_up(cloud=True)
