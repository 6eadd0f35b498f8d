"""A service as a process, in front of which people sit with real browsers."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.fakes.github.acts.sign_ins import sit_down
from tests.fakes.llm.turns import Script
from tests.flow.story import REPO, let_sign_in
from tests.provision.servers import free_port
from tests.service.processes import ServiceProcess
from tests.service.stage import Stage, staged

ADMIN_TOKEN = "bootstrap-0123456789abcdef"
TASK = "The total ignores the pieces: `total([450], [3])` is 450, and not 1350."


@dataclass(frozen=True)
class Scene:
    """`service` is `patchwright serve --role all`; alice may write in `acme/shop`."""

    stage: Stage
    service: ServiceProcess
    url: str
    service_environment: Mapping[str, str]

    def go(self, page: Page, path: str) -> None:
        page.goto(f"{self.url}{path}")

    def sign_in(self, page: Page, login: str) -> None:
        """Sign in with GitHub, where that person is signed in already."""
        self.stage.github.add_user(login)
        sit_down(self.stage.github.world, login)
        self.go(page, "/")
        page.get_by_role("link", name="Sign in").first.click()
        page.wait_for_url(f"{self.url}/**")

    def ask(self, page: Page, task: str = TASK, *, plan_first: bool = False) -> None:
        """Make a request for `acme/shop`; the page of its run is shown then."""
        self.go(page, "/requests/new")
        page.get_by_label("Repository or issue URL").fill(REPO)
        page.get_by_label("Task").fill(task)
        if plan_first:
            page.get_by_label("Show me a plan first").check()
        page.get_by_role("button", name="Start").click()
        page.wait_for_url(re.compile("/runs/"))

    def pull_url(self, number: int = 1) -> str:
        return f"{self.stage.github.web_url}/{REPO}/pull/{number}"

    def become_admin(self, page: Page) -> None:
        """Show the token of the settings, as whoever installs the service does."""
        self.go(page, "/people")
        page.get_by_label("Administrator's token").fill(ADMIN_TOKEN)
        page.get_by_role("button", name="Become an admin").click()


def result_of(page: Page) -> Locator:
    """Return the result of the run that the page follows, once the run has ended.

    Whoever reads at the top gets it by itself; others are offered it.
    """
    result = page.get_by_role("heading", name=re.compile("^(Evidence|Result)$")).first
    offer = page.get_by_role("button", name="show its result")
    expect(result.or_(offer).first).to_be_visible()
    if offer.is_visible():
        offer.click()
    expect(result).to_be_visible()
    return page.get_by_role("main")


@contextmanager
def scene(
    folder: Path,
    turns: Script,
    settings: Mapping[str, str] | None = None,
    *,
    private: bool = False,
    port: int | None = None,
) -> Iterator[Scene]:
    """Serve until the block is left; `turns` is what the model says."""
    port = port or free_port()
    url = f"http://127.0.0.1:{port}"
    own = {
        "PATCHWRIGHT_SERVER__PORT": str(port),
        "PATCHWRIGHT_SECURITY__ADMIN_TOKEN": ADMIN_TOKEN,
    }
    with staged(folder, turns, {**own, **(settings or {})}, private=private) as stage:
        # staged() makes the App, of which the client for signing in is a part.
        environment = {**stage.environment, **let_sign_in(stage.github, url)}
        with stage.serving("all", **environment) as service:
            service.wait_until_ready()
            yield Scene(stage, service, url, environment)
