"""Slack and Jira under their own names, with one person in each."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.jira.fake import FakeJira
from tests.fakes.jira.state import Mail
from tests.fakes.slack.fake import FakeSlack
from tests.fakes.slack.state import Ephemeral
from tests.fakes.slack_socket import FakeSocketMode, Line
from tests.flow.office import PROJECT
from tests.provision.waiting import wait_until
from tests.tutorials.front import plain
from tests.tutorials.machine import LONG_S
from tests.tutorials.world import World

SLACK_HOST = "slack.com"
LINE_HOST = "wss-primary.slack.com"
JIRA_HOST = "acme.atlassian.net"
APP_TOKEN = "xapp-1-A1-tutorial"


@dataclass
class SlackTeam:
    """A workspace with a channel, in which `jo` talks to the bot."""

    fake: FakeSlack
    socket: FakeSocketMode
    token: str
    jo: str
    channel: str
    thread: str = ""
    _lines: list[Line] = field(default_factory=list)

    def ask(self, text: str) -> None:
        """Mention the bot, and send it down the newest connection of the app."""
        self.thread = self.fake.mention(self.jo, self.channel, text)
        payload = json.loads(self.fake.deliveries[-1].body)
        if not self._lines:
            self._lines.append(self.socket.next_line())
        while not self.socket.connected.empty():
            self._lines.append(self.socket.next_line())
        self._lines[-1].deliver("events_api", payload)
        self.socket.next_answer()

    def whisper(self) -> Ephemeral:
        """Return what the bot has told jo alone, once it has."""
        told = self.fake.ephemerals
        wait_until(lambda: bool(told(self.jo)), "a word to jo alone", LONG_S)
        return told(self.jo)[-1]

    def shown(self) -> list[str]:
        return [one.shown for one in self.fake.thread(self.channel, self.thread)]

    def notes(self) -> list[str]:
        """Return what machines read in the thread's messages."""
        said = self.fake.thread(self.channel, self.thread)
        return [str(one.metadata) for one in said]


@dataclass
class JiraSite:
    """A site with a project, in which `ann` asks."""

    fake: FakeJira
    ann: str
    key: str = ""

    def ask(self, issue: str) -> None:
        title, _, text = issue.removeprefix("# ").partition("\n")
        self.key = self.fake.create(PROJECT, self.ann, title, text.strip())
        mention = self.fake.mention(self.fake.bot)
        self.fake.comment(self.key, self.ann, f"{mention} please fix this")

    def mail(self) -> Mail:
        """Return what the site has sent, once it has."""
        wait_until(lambda: bool(self.fake.mails), "an e-mail", LONG_S)
        return self.fake.mails[-1]

    def shown(self) -> list[str]:
        return [one.body.wiki for one in self.fake.comments(self.key)]

    def links(self) -> list[Any]:
        return list(self.fake.remote_links(self.key))


@contextmanager
def slack_in(world: World) -> Iterator[SlackTeam]:
    with (
        FakeSocketMode(APP_TOKEN, f"wss://{LINE_HOST}") as socket,
        FakeSlack(name=f"https://{SLACK_HOST}") as fake,
    ):
        fake.connect_by(socket.open)
        world.places |= {
            SLACK_HOST: plain(fake.address),
            LINE_HOST: plain(socket.address),
        }
        team = fake.scene.add_workspace()
        token = fake.scene.install(team)
        jo = fake.scene.add_user(team, "jo", "Jo Doe")
        channel = fake.scene.add_channel(team, "shop-dev", (jo,))
        yield SlackTeam(fake, socket, token, jo, channel)


@contextmanager
def jira_in(world: World) -> Iterator[JiraSite]:
    with FakeJira(name=f"https://{JIRA_HOST}") as fake:
        world.places[JIRA_HOST] = plain(fake.address)
        ann = fake.add_user("ann", "Ann Lee")
        fake.add_project(PROJECT)
        yield JiraSite(fake, ann)
