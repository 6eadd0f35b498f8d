"""Every page can be read by everybody: no barrier, in both colours, on a phone too."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect
from starlette.routing import BaseRoute, Match, Route

from patchwright.core.text.redaction import Redactor
from patchwright.integrations.settings import load_settings
from patchwright.workers.compose import open_service_parts
from patchwright.workers.website import make_website
from tests.fakes.github.acts.sign_ins import sit_down
from tests.fakes.slack.sending import headers_of, send
from tests.flow.office import link_in
from tests.flow.story import REPO, fix_turns
from tests.provision.servers import free_port
from tests.service.offices import SlackOffice, address, slack_office
from tests.service.stage import staged
from tests.web.chromium import DESK, PHONE, find_barriers, is_too_wide, window
from tests.web.scene import Scene, scene
from tests.web.showroom import DONE, LIVE, WAITING, by_title, endless, fix, question

# What programs and pages fetch, and what only leads on to another page.
NO_PAGES = {
    "/",
    "/assets/{name}",
    "/audit.csv",
    "/audit.jsonl",
    "/auth/github/login",
    "/healthz",
    "/metrics",
    "/openapi.json",
    "/readyz",
    "/runs/live",
    "/runs/{job_id}/actions",
    "/runs/{job_id}/live",
    "/runs/{job_id}/log.jsonl",
    "/runs/{job_id}/trajectory.json",
    "/spend.csv",
}
STATES = {DONE: "Done, proven", WAITING: "Needs you", LIVE: "Working on it"}
SIGN_ON = {
    "PATCHWRIGHT_OIDC__ISSUER": "http://127.0.0.1:1",
    "PATCHWRIGHT_OIDC__CLIENT_ID": "patchwright",
    "PATCHWRIGHT_OIDC__CLIENT_SECRET": "oidc-0123456789abcdef",
    "PATCHWRIGHT_OIDC__NAME": "Acme SSO",
}


@dataclass
class Tour:
    """Looks at pages; `faults` are what keeps people out, each with its page."""

    url: str
    visited: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        """Note what it asks of other hosts, and what its own policy forbids."""

        def note_request(request: Request) -> None:
            if not request.is_navigation_request():
                self._expect(page, request.url.startswith(self.url), request.url)

        def note_message(message: ConsoleMessage) -> None:
            is_fine = "Content Security Policy" not in message.text
            self._expect(page, is_fine, message.text)

        page.on("request", note_request)
        page.on("console", note_message)

    def look(self, page: Page, *paths: str) -> None:
        for path in paths:
            page.goto(f"{self.url}{path}")
            self.look_here(page)

    def look_here(self, page: Page) -> None:
        """Look at the open page as wide as a desk's and as a phone's.

        Neither colours nor roles depend on both, so that two of four ways are enough.
        """
        self.visited.add(urlsplit(page.url).path)
        page.emulate_media(color_scheme="dark")
        self._look_at(page, "dark")
        page.set_viewport_size(PHONE)
        page.emulate_media(color_scheme="light")
        self._look_at(page, "light")
        page.set_viewport_size(DESK)
        self._expect(page, page.locator("h1").count() == 1, "it needs one heading")
        self._expect(page, " · Patchwright" in page.title(), "it needs a title")

    def _look_at(self, page: Page, way: str) -> None:
        self._expect(page, not is_too_wide(page), f"{way}: it must be moved sideways")
        self.faults += [f"{page.url}: {way}: {one}" for one in find_barriers(page)]

    def _expect(self, page: Page, is_fine: bool, fault: str) -> None:  # noqa: FBT001 - as assert
        if not is_fine:
            self.faults.append(f"{page.url}: {fault}")


def unvisited(place: Scene, paths: set[str]) -> list[str]:
    """Return the pages of the service that none of these paths is one of."""
    environment = place.service_environment
    settings = load_settings(environment, flags={}, cwd=place.stage.folder)
    with open_service_parts(settings, Redactor(()), lambda _job: None) as base:
        routes = make_website(base).app.routes
    pages = {
        route.path
        for route in routes
        if isinstance(route, Route)
        and "GET" in (route.methods or ())
        and not route.path.startswith("/api/")
    }
    return sorted(pages - NO_PAGES - {_route_of(routes, path) for path in paths})


def _route_of(routes: list[BaseRoute], path: str) -> str:
    request = {"type": "http", "method": "GET", "path": path, "headers": []}
    found = (one for one in routes if one.matches(request)[0] is Match.FULL)
    first = next(found, None)
    return first.path if isinstance(first, Route) else ""


@pytest.mark.timeout(600)
def test_every_page_can_be_read_by_everybody(tmp_path: Path, browser: Browser) -> None:
    turns = by_title({DONE: fix, WAITING: question, LIVE: endless})
    with slack_office() as slack:
        unknown = {**slack.settings, "PATCHWRIGHT_ACCOUNTS__MAP": "[]"}
        with (
            scene(tmp_path, turns, {**unknown, **SIGN_ON}) as place,
            window(browser) as alice,
            window(browser) as eve,
            window(browser) as nobody,
        ):
            for title in STATES:
                place.stage.ask(place.service, title=title)
            tour = Tour(place.url)
            for page in (alice, eve, nobody):
                tour.watch(page)
            _look_as_a_stranger(tour, nobody)
            done = _look_at_runs(tour, place, alice)
            _look_as_an_admin(tour, place, alice)
            _sign_in(place, eve, "eve")
            tour.look(eve, "/runs", done, "/account", "/spend", "/settings")
            _look_at_a_link(tour, place, slack, nobody)
            assert unvisited(place, tour.visited) == []
        assert tour.faults == []


def _sign_in(place: Scene, page: Page, login: str) -> None:
    place.stage.github.add_user(login)
    sit_down(place.stage.github.world, login)
    place.go(page, "/auth?next=/runs")
    page.get_by_role("link", name="Sign in with GitHub").click()
    page.wait_for_url(f"{place.url}/runs")


def _look_as_a_stranger(tour: Tour, page: Page) -> None:
    missing = ("/nothing", f"/runs/{'0' * 32}", f"/link/{'x' * 43}", "/link")
    tour.look(page, "/runs", "/auth", *missing)
    # No sign-in was begun here, and the provider of this one does not answer.
    tour.look(page, "/auth/github/callback", "/auth/oidc/callback", "/auth/oidc/login")
    made = ("/setup/github", "/setup/github/done", "/setup/github/installed")
    tour.look(page, *made)


def _look_at_runs(tour: Tour, place: Scene, page: Page) -> str:
    """Look at a run in each state; return the path of the one that has ended."""
    _sign_in(place, page, "alice")
    paths = []
    for title, state in STATES.items():
        row = page.get_by_role("listitem").filter(has_text=title)
        expect(row).to_contain_text(state)
        link = row.get_by_role("link", name=title)
        paths.append(link.get_attribute("href") or "")
    tour.look(page, *paths)
    done, _, live = paths
    place.go(page, live)
    page.get_by_role("link", name="Show all of it").click()
    tour.look_here(page)
    tour.look(page, "/runs", "/runs?text=nothing", f"{done}/diff")
    tour.look(page, f"{done}/diff?view=split", f"/runs/{'0' * 32}")
    place.go(page, done)
    page.get_by_role("button", name="Share this run").click()
    shared = page.get_by_label("Link").input_value()
    tour.look_here(page)
    with window(page.context.browser or pytest.fail("no browser")) as other:
        tour.watch(other)
        tour.look(other, shared.removeprefix(place.url))
    return done


def _look_as_an_admin(tour: Tour, place: Scene, page: Page) -> None:
    tour.look(page, "/people")
    place.become_admin(page)
    expect(page.get_by_role("heading", name="People")).to_be_visible()
    tour.look(page, "/people", "/audit", "/spend", "/settings", "/setup", "/docs")
    places = ("/settings/repositories", "/settings/places")
    tour.look(page, *places, f"/settings/repositories/{REPO}")
    tour.look(page, "/requests/new", "/account")
    page.get_by_label("Name").fill("laptop")
    page.get_by_role("button", name="Make a token").click()
    expect(page.get_by_label("New token")).to_be_visible()
    tour.look_here(page)


def _look_at_a_link(tour: Tour, place: Scene, slack: SlackOffice, page: Page) -> None:
    slack.fake.mention(slack.jo, slack.channel, f"please fix the total in {REPO}")
    for one in slack.fake.deliveries:
        headers = headers_of(slack.fake.world, one)
        assert send(address(place.service, "slack"), headers, one.body).status == 200
    told = slack.fake.ephemerals
    place.stage.wait(lambda: bool(told(slack.jo)), "the link")
    sit_down(place.stage.github.world, "alice")
    page.goto(link_in(told(slack.jo)[-1]))
    tour.look_here(page)
    page.get_by_role("button", name="Continue to GitHub").click()
    expect(page.get_by_role("button", name="Link them")).to_be_visible()
    tour.look_here(page)
    page.get_by_role("button", name="Link them").click()
    expect(page.get_by_role("heading", name="Linked")).to_be_visible()
    tour.look_here(page)


def test_the_pages_of_the_set_up_can_be_read_by_everybody(
    tmp_path: Path, browser: Browser
) -> None:
    port = free_port()
    with staged(tmp_path, fix_turns()) as configured:
        own = ("APP_ID", "PRIVATE_KEY", "WEBHOOK_SECRET")
        names = {f"PATCHWRIGHT_GITHUB__{name}" for name in own}
        told = {k: v for k, v in configured.environment.items() if k not in names}
        url = f"http://127.0.0.1:{port}"
        told["PATCHWRIGHT_SERVER__PORT"] = str(port)
        told["PATCHWRIGHT_SERVER__PUBLIC_URL"] = url
        stage = replace(configured, environment=told)
        with stage.serving("all") as service, window(browser) as page:
            stage.wait(lambda: service.has_said("setup_needed"), "the link")
            [line] = [x for x in service.lines() if x["message"] == "setup_needed"]
            tour = Tour(url)
            tour.watch(page)
            tour.look(page, "/", "/setup/github", "/setup/github?key=wrong", "/nothing")
            tour.look(page, line["url"].removeprefix(url))
            expect(page.get_by_role("button", name="Create on GitHub")).to_be_visible()
            tour.look(page, "/setup/github/done?state=wrong")
        assert tour.faults == []
