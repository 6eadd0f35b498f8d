"""What people do in GitLab, as its tutorial says it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from patchwright.resolver.messages.status import UNFINISHED
from tests.architecture.tree import ROOT
from tests.fakes.gitlab.fake import FakeGitLab
from tests.fakes.gitlab.site import Place as GitLabPlace
from tests.fakes.gitlab.state import Level, Visibility
from tests.provision.waiting import wait_until
from tests.tutorials.following import Hand, Place
from tests.tutorials.front import plain
from tests.tutorials.hands_github import carry_all, issue_text, put_a_proxy_in_front
from tests.tutorials.machine import LONG_S
from tests.tutorials.world import GITLAB_HOST, READER, SERVICE, SHOP, World

WEBHOOKS = f"https://{SERVICE}/api/integration/gitlab/events"


@dataclass
class GitLabServer:
    """A GitLab of one's own, with a project that the reader maintains."""

    fake: FakeGitLab
    bot: str = ""
    issue: int = 0
    carried: int = field(default=0)

    def carry(self, place: Place) -> None:
        self.carried = carry_all(place, self.fake.deliveries, WEBHOOKS, self.carried)

    def said(self) -> list[str]:
        """Return what the bot has said in the issue."""
        notes = self.fake.comments(SHOP, self.issue)
        return [one.body for one in notes if self.fake.author_of(one) == self.bot]


def gitlab_hands(server: GitLabServer) -> dict[str, Hand]:
    return {
        "make a token in GitLab": lambda place: _make_a_token(place, server),
        "add a webhook in GitLab": lambda place: _add_a_webhook(place, server),
        "proxy": put_a_proxy_in_front,
        "open an issue": lambda place: _open_an_issue(place, server),
        "see the merge request": lambda _: _see_the_merge_request(server),
    }


def _make_a_token(place: Place, server: GitLabServer) -> None:
    scopes = ("api", "write_repository")
    token, server.bot = server.fake.add_project_token(
        SHOP, Level.DEVELOPER, scopes=scopes
    )
    place.world.values |= {
        "gitlab.base_url": server.fake.base_url,
        "gitlab.token": token,
    }


def _add_a_webhook(place: Place, server: GitLabServer) -> None:
    """Use the secret that the reader was shown last."""
    secret = place.machine.terminal().output.strip()
    server.fake.add_hook(SHOP, secret, url=WEBHOOKS)
    place.world.values["gitlab.webhook_secret"] = secret


def _open_an_issue(place: Place, server: GitLabServer) -> None:
    server.issue = server.fake.open_issue(SHOP, READER, *issue_text())
    server.carry(place)


def _see_the_merge_request(server: GitLabServer) -> None:
    wait_until(lambda: _has_ended(server), "the end of the run", LONG_S)
    assert "**Done, proven** · !1 ·" in server.said()[0], server.said()
    [merge_request] = server.fake.merge_requests(SHOP)
    assert not merge_request.draft
    assert "**Proven**" in merge_request.body


def _has_ended(server: GitLabServer) -> bool:
    said = server.said()
    return bool(said) and not any(UNFINISHED in one for one in said)


@contextmanager
def gitlab_in(world: World) -> Iterator[GitLabServer]:
    with FakeGitLab(GitLabPlace(name=f"https://{GITLAB_HOST}")) as fake:
        world.places[GITLAB_HOST] = plain(fake.address)
        fake.add_user(READER)
        shop = ROOT / "demo" / "example"
        fake.add_project(SHOP, visibility=Visibility.PRIVATE, from_path=shop)
        fake.grant(SHOP, READER, Level.MAINTAINER)
        yield GitLabServer(fake)
