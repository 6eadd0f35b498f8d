"""People watch runs that work, find them in the list, and stop them."""

import re
import threading
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.fakes.llm.turns import TurnLike, call, hang
from tests.flow.script import Request, in_turn
from tests.flow.story import REPO
from tests.web.chromium import window
from tests.web.scene import result_of, scene

# Chromium and a whole service at once, where others work too.
pytestmark = pytest.mark.timeout(300)

READ = call("read", path="cart.py")


def test_who_watches_a_run_sees_that_somebody_else_stops_it(
    tmp_path: Path, browser: Browser
) -> None:
    with (
        scene(tmp_path, [READ, hang()]) as place,
        window(browser) as first,
        window(browser) as second,
    ):
        place.stage.github.add_user("bob")
        place.stage.github.grant(REPO, "bob", "write")
        place.sign_in(first, "alice")
        place.ask(first)
        place.stage.models_turn(2)
        expect(first.get_by_text("Working on it")).to_be_visible()
        expect(first.get_by_text("cart.py").first).to_be_visible()
        expect(first.get_by_text("Nothing has happened yet.")).to_have_count(0)
        place.sign_in(second, "bob")
        place.go(second, "/runs")
        second.get_by_role("link", name="The total ignores the pieces").click()
        second.get_by_role("button", name="Stop the run").click()
        expect(first.get_by_text("@bob wants it stopped", exact=True)).to_be_visible()
        for page in (first, second):
            expect(result_of(page)).to_contain_text("Stopped by @bob")
            expect(page.get_by_role("button", name="Stop the run")).to_have_count(0)
        assert place.stage.github.pull_requests(REPO) == []


def test_a_list_that_is_open_shows_new_runs_and_how_they_stand(
    tmp_path: Path, browser: Browser
) -> None:
    may_end = threading.Event()

    def wait(_request: Request) -> TurnLike:
        assert may_end.wait(90)
        return call("finish", summary="Looked.")

    with (
        scene(tmp_path, in_turn(wait, hang())) as place,
        window(browser) as watched,
        window(browser) as page,
    ):
        place.sign_in(watched, "alice")
        place.go(watched, "/runs")
        expect(watched.get_by_role("heading", name="No runs yet")).to_be_visible()
        place.sign_in(page, "alice")
        place.ask(page, "The first one")
        expect(watched.get_by_role("listitem")).to_have_count(1)
        row = watched.get_by_role("listitem").filter(has_text="The first one")
        expect(row).to_contain_text("Working on it")
        expect(row).to_contain_text("from this service · by alice")
        may_end.set()
        expect(row).to_contain_text("No change")
        expect(watched.get_by_role("heading", name="No runs yet")).to_have_count(0)
        place.ask(page, "The second one")
        rows = watched.get_by_role("listitem")
        expect(rows).to_contain_text(["The second one", "The first one"])
        find(watched, "first")
        reach_and_stop(watched, page)


def find(page: Page, words: str) -> None:
    """Search the list; the address says what was searched, so it can be sent on."""
    page.get_by_label("Title").fill(words)
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(f"text={words}"))
    rows = page.get_by_role("listitem")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text(words)
    page.get_by_label("State").select_option("Working")
    page.get_by_role("button", name="Filter").click()
    page.wait_for_url(re.compile("state=running"))
    expect(page.get_by_text("No run fits")).to_be_visible()
    page.get_by_role("link", name="Clear").click()
    expect(page.get_by_role("listitem")).to_have_count(2)


def reach_and_stop(page: Page, other: Page) -> None:
    """Open the run that works, and stop it, with keys alone."""
    tab_to(page, "The second one")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/runs/"))
    tab_to(page, "Stop the run")
    page.keyboard.press("Enter")
    for one in (page, other):
        expect(result_of(one)).to_contain_text("Stopped by @alice")


MOST_KEYS = 60


def tab_to(page: Page, name: str) -> None:
    """Press the tabulator key until what has that name has the focus."""
    for _ in range(MOST_KEYS):
        page.keyboard.press("Tab")
        focused = page.locator(":focus")
        if focused.count() and focused.inner_text() == name:
            return
    raise AssertionError(f"{name} cannot be reached")
