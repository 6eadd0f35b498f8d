"""What people do on GitLab, as its tutorial says it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from patchwright.resolver.messages.status import UNFINISHED
from tests.architecture.tree import ROOT
from tests.fakes.gitlab.fake import FakeGitLab
from tests.fakes.gitlab.site import Place as Address
from tests.fakes.gitlab.state import Level, Visibility
from tests.provision.waiting import wait_until
from tests.tutorials.following import Hand, Place
from tests.tutorials.front import plain
from tests.tutorials.hands_github import issue_text, put_a_proxy_in_front
from tests.tutorials.machine import LONG_S
from tests.tutorials.world import READER, SERVICE, SHOP, World

GITLAB_HOST = "gitlab.com"
SECRET = "0123456789abcdef0123456789abcdef"
WEBHOOKS = f"https://{SERVICE}/api/integration/gitlab/events"


@dataclass
class GitLabServer:
    """GitLab under its own name, with a project that the reader may maintain."""

    fake: FakeGitLab
    issue: int = 0
    carried: int = 0

    @property
    def hands(self) -> dict[str, Hand]:
        return {
            "make a token in GitLab": self._make_a_token,
            "add a webhook in GitLab": self._add_a_webhook,
            "proxy": put_a_proxy_in_front,
            "open an issue": self._open_an_issue,
            "see the merge request": self._see_the_merge_request,
        }

    def _make_a_token(self, place: Place) -> None:
        scopes = ("api", "write_repository")
        token, _ = self.fake.add_project_token(SHOP, Level.DEVELOPER, scopes=scopes)
        place.world.values["gitlab.token"] = token

    def _add_a_webhook(self, place: Place) -> None:
        self.fake.add_hook(SHOP, SECRET, url=WEBHOOKS)
        place.world.values["gitlab.webhook_secret"] = SECRET

    def _open_an_issue(self, place: Place) -> None:
        self.issue = self.fake.open_issue(SHOP, READER, *issue_text())
        self._carry(place)

    def _see_the_merge_request(self, _: Place) -> None:
        wait_until(self._has_ended, "the end of the run", LONG_S)
        assert "**Done, proven**" in self._said()[0]
        [merge_request] = self.fake.merge_requests(SHOP)
        assert "**Proven**" in merge_request.body

    def _has_ended(self) -> bool:
        said = self._said()
        return bool(said) and not any(UNFINISHED in one for one in said)

    def _said(self) -> list[str]:
        notes = self.fake.comments(SHOP, self.issue)
        return [one.body for one in notes if "<!-- patchwright:" in one.body]

    def _carry(self, place: Place) -> None:
        """Bring to the service what GitLab has announced and not brought yet."""
        announced = self.fake.deliveries
        for one in announced[self.carried :]:
            post = place.world.browser.client.post
            answer = post(WEBHOOKS, content=one.body, headers=dict(one.headers))
            assert answer.is_success, answer.text
        self.carried = len(announced)


@contextmanager
def gitlab_in(world: World) -> Iterator[GitLabServer]:
    with FakeGitLab(Address(name=f"https://{GITLAB_HOST}")) as fake:
        world.places[GITLAB_HOST] = plain(fake.address)
        fake.add_user(READER)
        shop = ROOT / "demo" / "example"
        fake.add_project(SHOP, visibility=Visibility.PRIVATE, from_path=shop)
        fake.grant(SHOP, READER, Level.MAINTAINER)
        yield GitLabServer(fake)
