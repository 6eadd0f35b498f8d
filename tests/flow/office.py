"""Tell a story in which people ask in Slack or Jira; the code is on GitHub."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from patchwright.core.webhook import WEBHOOK_ROUTE
from tests.adapters.web.browser import browsing, forms_on, go_on
from tests.fakes.github.acts.sign_ins import sit_down
from tests.fakes.jira.fake import FakeJira
from tests.fakes.jira.state import Body as JiraBody
from tests.fakes.jira.state import Comment as JiraComment
from tests.fakes.jira.state import Mail
from tests.fakes.jira.webhooks import deliver as deliver_jira
from tests.fakes.llm.turns import Script
from tests.fakes.slack.fake import FakeSlack
from tests.fakes.slack.state import Ephemeral, Message
from tests.flow.story import PING, REPO, Story, telling
from tests.provision.servers import free_port

JIRA_SECRET = "jira-hook-secret"
PROJECT = "APP"
OTHER = "OPS"


@dataclass
class Workspace:
    """A workspace of Slack: `jo` and `max` in one channel with the bot."""

    fake: FakeSlack
    token: str
    team: str
    jo: str
    max: str
    channel: str
    _read: dict[tuple[str, str], str] = field(default_factory=dict)

    @property
    def bot(self) -> str:
        return self.fake.bot(self.team)

    @property
    def direct(self) -> str:
        """The channel of the talk between jo and the bot."""
        return self.fake.direct(self.jo)

    def ask(self, text: str, *, thread: str = "", user: str = "") -> str:
        """Mention the bot; return the time stamp of the message."""
        return self.fake.mention(user or self.jo, self.channel, text, thread)

    def answers(self, thread: str, channel: str = "") -> list[Message]:
        """Return what the bot has said in a thread, oldest first."""
        said = self.fake.thread(channel or self.channel, thread)
        found = [one for one in said if one.user == self.bot and one.ts != thread]
        self._note(found)
        return found

    def runs(self, thread: str, channel: str = "") -> list[Message]:
        """Return the one message of each run in a thread, oldest first."""
        return [one for one in self.answers(thread, channel) if state_in(one)]

    def calls(self, thread: str, channel: str = "") -> list[str]:
        """Return how the bot has called people in a thread."""
        found = self.answers(thread, channel)
        return [one.shown for one in found if PING in str(one.metadata)]

    def opened(self, channel: str = "") -> list[Message]:
        """Return what the bot has said in a channel itself, oldest first."""
        said = self.fake.messages(channel or self.channel)
        found = [one for one in said if one.user == self.bot]
        self._note(found)
        return found

    def shown(self, thread: str, channel: str = "") -> list[str]:
        """Return what people see of that."""
        return [one.shown for one in self.answers(thread, channel)]

    def whisper(self, user: str = "") -> Ephemeral:
        """Return what the bot has told somebody alone last."""
        return self.whispers(user)[-1]

    def whispers(self, user: str = "") -> list[Ephemeral]:
        """Return all that the bot has told somebody alone, oldest first."""
        found = self.fake.ephemerals(user or self.jo)
        self._note(found)
        return found

    def nothing_unread(self) -> None:
        """Fail if the bot has said something that the story did not look at."""
        world = self.fake.world
        with world.lock:
            own = (one for one in world.messages.values() if one.user == self.bot)
            said = {(one.channel, one.ts): one.shown for one in own}
            said |= {(one.channel, one.ts): one.shown for one in world.ephemerals}
        assert said.items() <= self._read.items(), said

    def _note(self, found: Iterable[Message | Ephemeral]) -> None:
        self._read.update({(one.channel, one.ts): one.shown for one in found})


@dataclass
class Tracker:
    """A site of Jira, whose webhooks are carried to the service when told.

    `ann` and `zoe` work there.
    """

    fake: FakeJira
    ann: str
    zoe: str
    url: str = ""
    carried: int = 0
    _read: dict[str, JiraBody] = field(default_factory=dict)

    def tell(self) -> list[int]:
        """Deliver what has happened since; return how the service answered."""
        sent = self.fake.deliveries[self.carried :]
        self.carried += len(sent)
        return [deliver_jira(one, self.url).status for one in sent]

    def answers(self, key: str) -> list[JiraComment]:
        """Return what the bot has said on a ticket, oldest first."""
        found = self._said(key)
        self._read.update({one.id: one.body for one in found})
        return found

    def nothing_unread(self) -> None:
        """Fail if the bot has said something that the story did not look at."""
        keys = self.fake.world.issues
        said = {one.id: one.body for key in keys for one in self._said(key)}
        assert said.items() <= self._read.items(), said

    def _said(self, key: str) -> list[JiraComment]:
        return [one for one in self.fake.comments(key) if one.author == self.fake.bot]


@dataclass
class Office:
    """All of it; `browser` is that of whoever sits at the machine."""

    story: Story
    slack: Workspace
    jira: Tracker
    browser: httpx.Client

    def link(
        self, invitation: Ephemeral | Mail, login: str = "alice"
    ) -> httpx.Response:
        """Follow a private link as somebody who is signed in to GitHub."""
        sit_down(self.story.github.world, login)
        page = self.browser.get(link_in(invitation))
        asked = self._press(page)
        back = go_on(self.browser, go_on(self.browser, asked))
        where = httpx.URL(self.story.url).join(back.headers["location"])
        return self._press(self.browser.get(where))

    def _press(self, page: httpx.Response) -> httpx.Response:
        (form,) = forms_on(page)
        return self.browser.post(page.url, data=form.fields)


def state_in(message: Message) -> str:
    """Return the state of a run that a message tells machines of, if it is one's."""
    noted = message.metadata or {"event_type": "", "event_payload": {}}
    if noted["event_type"] != "patchwright_run":
        return ""
    return str(noted["event_payload"].get("state", ""))


def link_in(told: Ephemeral | Mail) -> str:
    """Return the address that a button of a message or the words of a mail lead to."""
    if isinstance(told, Mail):
        address = re.search(r"\]\((http[^)\s]+)\)", told.text)
        assert address is not None
        return address[1]
    found: list[str] = []
    for block in told.blocks:
        found += [one["url"] for one in block.get("elements", []) if one.get("url")]
    return found[0]


@contextmanager
def in_office(
    folder: Path,
    turns: Script,
    *,
    cloud: bool = True,
    private: bool = True,
    mapped: bool = True,
    settings: Mapping[str, str] | None = None,
    files: Mapping[str, str] | None = None,
    slack: FakeSlack | None = None,
) -> Iterator[Office]:
    """Set the scene; `mapped` says that jo and ann are alice by `accounts.map`."""
    with ExitStack() as stack:
        workspace = make_workspace(stack.enter_context(slack or FakeSlack()))
        jira = _tracker(stack.enter_context(FakeJira(cloud=cloud)))
        browser = stack.enter_context(browsing())
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        environment = {
            **slack_settings(workspace),
            **_jira_settings(jira),
            **(_mapped(workspace, jira) if mapped else {}),
            **(settings or {}),
        }
        story = stack.enter_context(
            telling(
                folder,
                turns,
                settings=environment,
                private=private,
                port=port,
                files=files,
                signs_in_at=url,
            )
        )
        workspace.fake.send_to(url + WEBHOOK_ROUTE.format(service="slack"))
        jira.url = url + WEBHOOK_ROUTE.format(service="jira")
        yield Office(story, workspace, jira, browser)
        workspace.nothing_unread()
        jira.nothing_unread()


def make_workspace(fake: FakeSlack) -> Workspace:
    """Let jo and max work in a channel that the bot is in."""
    team = fake.scene.add_workspace()
    token = fake.scene.install(team)
    jo = fake.scene.add_user(team, "jo", "Jo Doe")
    friend = fake.scene.add_user(team, "max", "Max")
    channel = fake.scene.add_channel(team, "shop-dev", (jo, friend))
    return Workspace(fake, token, team, jo, friend, channel)


def _tracker(fake: FakeJira) -> Tracker:
    ann, zoe = fake.add_user("ann", "Ann Lee"), fake.add_user("zoe", "Zoe")
    fake.add_project(PROJECT)
    fake.add_project(OTHER)
    fake.add_webhook(JIRA_SECRET)
    return Tracker(fake, ann, zoe)


def slack_settings(slack: Workspace) -> dict[str, str]:
    return {
        "PATCHWRIGHT_SLACK__API_URL": slack.fake.api_url,
        "PATCHWRIGHT_SLACK__BOT_TOKEN": slack.token,
        "PATCHWRIGHT_SLACK__SIGNING_SECRET": slack.fake.app.signing_secret,
    }


def _jira_settings(jira: Tracker) -> dict[str, str]:
    own = jira.fake.settings()
    return {
        "PATCHWRIGHT_JIRA__TYPE": own.type,
        "PATCHWRIGHT_JIRA__BASE_URL": own.base_url,
        "PATCHWRIGHT_JIRA__USER": own.user,
        "PATCHWRIGHT_JIRA__TOKEN": own.token.get_secret_value() if own.token else "",
        "PATCHWRIGHT_JIRA__WEBHOOK_SECRET": JIRA_SECRET,
        "PATCHWRIGHT_JIRA__PROJECTS": json.dumps({PROJECT: REPO, OTHER: REPO}),
        "PATCHWRIGHT_JIRA__POLL_SECONDS": "0",
    }


def _mapped(slack: Workspace, jira: Tracker) -> dict[str, str]:
    alice = {"slack": slack.jo, "jira": jira.ann, "github": "alice"}
    return {"PATCHWRIGHT_ACCOUNTS__MAP": json.dumps([alice])}
