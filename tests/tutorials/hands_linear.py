"""What people do in Linear, as its tutorial says it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urljoin

from patchwright.integrations.linear.tokens import CALLBACK_PATH, INSTALL_PATH
from tests.adapters.web.browser import forms_on, go_on
from tests.fakes.linear.fake import FakeLinear
from tests.provision.waiting import wait_until
from tests.tutorials.following import Hand, Place
from tests.tutorials.front import plain
from tests.tutorials.hands_github import carry_all, issue_text, pull_requests
from tests.tutorials.hands_talk import link_by, stop_the_service
from tests.tutorials.machine import LONG_S
from tests.tutorials.world import LINEAR_HOST, SERVICE, SHOP, World

OURS = f"https://{SERVICE}"
WEBHOOKS = f"{OURS}/api/integration/linear/events"
TEAM = "ENG"
SECRET = "lin_wh_tutorial"


@dataclass
class LinearWorkspace:
    """A workspace with a team, in which `ann` asks; she is an administrator."""

    fake: FakeLinear
    ann: str
    key: str = ""
    carried: int = 0

    def carry(self, place: Place) -> None:
        self.carried = carry_all(place, self.fake.deliveries, WEBHOOKS, self.carried)

    def said(self, kind: str) -> list[str]:
        """Return the texts of that kind in the session."""
        return [
            str(one.content.get("body", ""))
            for one in self.fake.activities(self.key)
            if one.content["type"] == kind
        ]

    def find_link(self) -> str:
        """Return the address behind the button that ann alone can use, once shown."""

        def addresses() -> list[str]:
            return [
                str((one.signal_metadata or {})["url"])
                for one in self.fake.activities(self.key)
                if one.signal == "auth"
            ]

        wait_until(lambda: bool(addresses()), "a button for ann alone", LONG_S)
        return addresses()[-1]


def linear_hands(workspace: LinearWorkspace) -> dict[str, Hand]:
    return {
        "make the app in Linear": lambda place: _make_the_app(place, workspace),
        "stop the service": stop_the_service,
        "install the app in Linear": _install_the_app,
        "ask in Linear": lambda place: _ask(place, workspace),
        "say who you are": lambda place: link_by(place, workspace.find_link()),
        "see what Linear shows": lambda place: _see(place, workspace),
    }


def _make_the_app(place: Place, workspace: LinearWorkspace) -> None:
    [app] = workspace.fake.world.apps.values()
    workspace.fake.add_webhook(SECRET)
    place.world.values |= {
        "linear.client_id": app.client_id,
        "linear.client_secret": app.client_secret,
        "linear.webhook_secret": SECRET,
        f"linear.teams.{TEAM}": SHOP,
    }


def _install_the_app(place: Place) -> None:
    browser = place.world.browser.client
    asked = go_on(browser, browser.get(OURS + INSTALL_PATH))
    [form] = forms_on(asked)
    agreed = browser.post(urljoin(str(asked.url), form.action), data=form.fields)
    done = go_on(browser, agreed)
    assert done.status_code == 200, done.text


def _ask(place: Place, workspace: LinearWorkspace) -> None:
    fake = workspace.fake
    title, text = issue_text()
    text = text.partition("@patchwright")[0].strip()
    workspace.key = fake.create(TEAM, workspace.ann, title, text)
    words = f"{fake.mention(fake.bot)} please fix this"
    fake.comment(workspace.key, workspace.ann, words)
    workspace.carry(place)


def _see(place: Place, workspace: LinearWorkspace) -> None:
    wait_until(lambda: bool(workspace.said("response")), "the result", LONG_S)
    assert "**Done, proven**" in workspace.said("response")[-1]
    newest = pull_requests(place)[-1]
    links = workspace.fake.attachments
    wait_until(lambda: bool(links(workspace.key)), "the issue's link", LONG_S)
    [link] = links(workspace.key)
    assert link.url.endswith(f"/pull/{newest.number}")


@contextmanager
def linear_in(world: World) -> Iterator[LinearWorkspace]:
    name = f"https://{LINEAR_HOST}"
    with FakeLinear(name=name, redirect_uris=[OURS + CALLBACK_PATH]) as fake:
        for host in (LINEAR_HOST, f"api.{LINEAR_HOST}"):
            world.places[host] = plain(fake.address)
        ann = fake.add_user("ann", "Ann Lee", admin=True)
        fake.world.at_browser = ann
        fake.add_team(TEAM)
        yield LinearWorkspace(fake, ann)
