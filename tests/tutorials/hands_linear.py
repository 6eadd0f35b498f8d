"""What people do in Linear, as its tutorial says it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.fakes.linear.fake import FakeLinear
from tests.fakes.linear.state import AgentActivity
from tests.provision.waiting import wait_until
from tests.tutorials.following import Hand, Place
from tests.tutorials.front import plain
from tests.tutorials.hands_github import ISSUE, pull_requests
from tests.tutorials.hands_talk import link_by, stop_the_service
from tests.tutorials.machine import LONG_S
from tests.tutorials.world import SERVICE, SHOP, World

LINEAR_HOST = "api.linear.app"
WEBHOOKS = f"https://{SERVICE}/api/integration/linear/events"
SECRET = "lin_wh_0123456789abcdef"
TEAM = "ENG"


@dataclass
class LinearWorkspace:
    """A workspace with a team and our app, in which `ann` asks."""

    fake: FakeLinear
    ann: str
    key: str = ""
    carried: int = 0

    @property
    def hands(self) -> dict[str, Hand]:
        return {
            "make the app in Linear": self._make_the_app,
            "stop the service": stop_the_service,
            "ask in Linear": self._ask,
            "say who you are": self._link,
            "see what Linear shows": self._see,
        }

    def _make_the_app(self, place: Place) -> None:
        self.fake.add_webhook(SECRET)
        place.world.values |= {
            "linear.token": self.fake.token.access,
            "linear.webhook_secret": SECRET,
            f"linear.teams.{TEAM}": SHOP,
        }

    def _ask(self, place: Place) -> None:
        title, _, text = ISSUE.removeprefix("# ").partition("\n")
        self.key = self.fake.create(TEAM, self.ann, title, text.strip())
        mention = self.fake.mention(self.fake.bot)
        self.fake.comment(self.key, self.ann, f"{mention} please fix this")
        self._carry(place)

    def _link(self, place: Place) -> None:
        """Press the button of the session, which only ann can."""
        wait_until(lambda: bool(self._signalled()), "a button to link", LONG_S)
        told = self._signalled()[0].signal_metadata
        assert told is not None
        link_by(place, str(told["url"]))

    def _see(self, place: Place) -> None:
        wait_until(lambda: "**Done, proven**" in self._said(), "the result", LONG_S)
        found = len(self.fake.attachments(self.key))
        assert found, "the issue has no link"
        assert len(pull_requests(place)) == 4

    def _signalled(self) -> list[AgentActivity]:
        return [one for one in self.fake.activities(self.key) if one.signal == "auth"]

    def _said(self) -> str:
        every = self.fake.activities(self.key)
        return "\n".join(str(one.content.get("body", "")) for one in every)

    def _carry(self, place: Place) -> None:
        """Bring to the service what Linear has announced and not brought yet."""
        announced = self.fake.deliveries
        for one in announced[self.carried :]:
            post = place.world.browser.client.post
            answer = post(WEBHOOKS, content=one.body, headers=dict(one.headers))
            assert answer.is_success, answer.text
        self.carried = len(announced)


@contextmanager
def linear_in(world: World) -> Iterator[LinearWorkspace]:
    with FakeLinear(name=f"https://{LINEAR_HOST}") as fake:
        world.places[LINEAR_HOST] = plain(fake.address)
        ann = fake.add_user("ann", "Ann Lee")
        fake.add_team(TEAM)
        yield LinearWorkspace(fake, ann)
