"""Tell a story in which people ask in Linear; the code is on GitHub."""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from patchwright.core.webhook import WEBHOOK_ROUTE
from patchwright.integrations.linear.tokens import CALLBACK_PATH
from tests.fakes.linear.fake import FakeLinear
from tests.fakes.linear.state import AgentActivity, Comment
from tests.fakes.linear.webhooks import deliver
from tests.fakes.llm.turns import Script
from tests.flow.story import REPO, Story, telling
from tests.provision.servers import free_port

SECRET = "linear-hook-secret"
TEAM = "ENG"
TITLE = "Wrong sum"
WISH = "please fix the sum"


@dataclass
class LinearOffice:
    """A workspace of Linear with our app in it; `ann` and `zoe` work there."""

    story: Story
    fake: FakeLinear
    ann: str
    zoe: str
    url: str
    carried: int = 0
    _read: dict[str, str] = field(default_factory=dict)

    def tell(self) -> list[int]:
        """Deliver what has happened since; return how the service answered."""
        sent = self.fake.deliveries[self.carried :]
        self.carried += len(sent)
        return [deliver(one, self.url).status for one in sent]

    def work(self) -> None:
        """Carry all webhooks to the service, which must take them, and let it work."""
        assert set(self.tell()) <= {200}
        self.story.work()

    def open(self, text: str = "The total ignores the pieces.") -> str:
        """Let ann open an issue; return its key."""
        return self.fake.create(TEAM, self.ann, TITLE, text)

    def call(self, words: str = WISH) -> str:
        """Return words with a mention of our app, as people pick it from a list."""
        return f"{self.fake.mention(self.fake.bot)} {words}"

    def ask(self, words: str = WISH) -> str:
        """Ask in a comment on a new issue, and let the service work; return the key."""
        key = self.open()
        self.fake.comment(key, self.ann, self.call(words))
        self.work()
        return key

    def activities(self, key: str) -> list[AgentActivity]:
        """Return what our app has said in the newest session, oldest first."""
        found = [one for one in self.fake.activities(key) if one.user == self.fake.bot]
        self._note(self.comments(key))
        return found

    def said(self, key: str) -> list[tuple[str, str]]:
        """Return kinds and texts of that."""
        return [
            (one.content["type"], one.content.get("body", ""))
            for one in self.activities(key)
        ]

    def comments(self, key: str) -> list[Comment]:
        """Return what our app has said in comments, oldest first."""
        found = [one for one in self.fake.comments(key) if one.user == self.fake.bot]
        self._note(found)
        return found

    def nothing_unread(self) -> None:
        """Fail if our app has said something that the story did not look at."""
        every = self.fake.world.all(Comment)
        said = {one.id: one.body for one in every if one.user == self.fake.bot}
        assert said.items() <= self._read.items(), said

    def _note(self, found: list[Comment]) -> None:
        self._read.update({one.id: one.body for one in found})


@contextmanager
def in_linear(
    folder: Path,
    turns: Script,
    *,
    mapped: bool = True,
    teams: Mapping[str, str] | None = None,
    as_app: bool = False,
    also: Mapping[str, str] | None = None,
    settings: Mapping[str, str] | None = None,
    private: bool = True,
) -> Iterator[LinearOffice]:
    """Set the scene; `mapped` says that ann is alice by `accounts.map`, and zoe eve.

    With `as_app` workspaces install our app; else its token is set. `also` is another
    entry of that map, and `private` whether the repository is.
    """
    with ExitStack() as stack:
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        fake = stack.enter_context(FakeLinear(redirect_uris=(url + CALLBACK_PATH,)))
        ann = fake.add_user("ann", "Ann Lee", admin=True)
        zoe = fake.add_user("zoe", "Zoe")
        fake.add_team(TEAM)
        fake.add_webhook(SECRET)
        environment = {
            **linear_connection(fake, {TEAM: REPO} if teams is None else teams),
            **(_client(fake) if as_app else linear_token(fake)),
            **(_known_people(ann, zoe, also) if mapped else {}),
            **(settings or {}),
        }
        tell = partial(telling, folder, turns, settings=environment, private=private)
        story = stack.enter_context(tell(port=port, signs_in_at=url))
        webhook_url = url + WEBHOOK_ROUTE.format(service="linear")
        office = LinearOffice(story, fake, ann, zoe, webhook_url)
        yield office
        office.nothing_unread()


def _known_people(ann: str, zoe: str, also: Mapping[str, str] | None) -> dict[str, str]:
    known = [
        {"linear": f"acme/{ann}", "github": "alice"},
        {"linear": f"acme/{zoe}", "github": "eve"},
        *([dict(also)] if also else ()),
    ]
    return {"PATCHWRIGHT_ACCOUNTS__MAP": json.dumps(known)}


def linear_connection(fake: FakeLinear, teams: Mapping[str, str]) -> dict[str, str]:
    return {
        "PATCHWRIGHT_LINEAR__API_URL": fake.api_url,
        "PATCHWRIGHT_LINEAR__WEBHOOK_SECRET": SECRET,
        "PATCHWRIGHT_LINEAR__WORKSPACES": json.dumps(["acme"]),
        "PATCHWRIGHT_LINEAR__TEAMS": json.dumps(dict(teams)),
        "PATCHWRIGHT_LINEAR__POLL_SECONDS": "0",
    }


def linear_token(fake: FakeLinear) -> dict[str, str]:
    return {"PATCHWRIGHT_LINEAR__TOKEN": fake.token.access}


def _client(fake: FakeLinear) -> dict[str, str]:
    return {
        "PATCHWRIGHT_LINEAR__CLIENT_ID": fake.app.client_id,
        "PATCHWRIGHT_LINEAR__CLIENT_SECRET": fake.app.client_secret,
    }
