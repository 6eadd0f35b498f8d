"""A run is shared by a link, and nobody sees it by the link once it is taken back."""

import re
import threading
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.fakes.llm.turns import TurnLike, call, hang
from tests.flow.script import Request, in_turn
from tests.web.chromium import PHONE, find_barriers, is_too_wide, window
from tests.web.scene import Scene, scene

# Chromium and a whole service at once, where others work too.
pytestmark = pytest.mark.timeout(300)


READ = call("read", path="cart.py")


def share(page: Page) -> str:
    """Make a link on the page of the run, and come back to it."""
    page.get_by_role("button", name="Share this run").click()
    link = page.get_by_label("Link", exact=True).input_value()
    page.get_by_role("link", name="the page of the run").click()
    return link


def test_a_link_is_taken_back_while_somebody_watches_by_it(
    tmp_path: Path, browser: Browser
) -> None:
    may_go_on = threading.Event()

    def wait(_request: Request) -> TurnLike:
        assert may_go_on.wait(120)
        return READ

    with (
        scene(tmp_path, in_turn(READ, wait, hang())) as place,
        window(browser) as alice,
        window(browser) as guest,
        window(browser, PHONE, "dark") as other,
    ):
        place.sign_in(alice, "alice")
        place.ask(alice)
        place.stage.models_turn(2)
        first, second = share(alice), share(alice)
        watch(guest, first)
        watch(other, second)
        take_back_the_older(alice)
        expect(guest.get_by_role("heading", name="No such run")).to_be_visible()
        opens_nothing(place, guest, first)
        may_go_on.set()
        place.stage.models_turn(3)
        expect(other.locator(".step")).to_have_count(2)
        # One more is in the messages of the service.
        alice.get_by_role("button", name="Take back all links").click()
        expect(alice.get_by_text("No link is open")).to_be_visible()
        expect(other.get_by_role("heading", name="No such run")).to_be_visible()
        must_be_in_the_audit(place, alice)


def take_back_the_older(page: Page) -> None:
    """Take the first of two links back; the newest is above it."""
    rows = page.get_by_role("table").get_by_role("row").filter(has_text="alice")
    expect(rows).to_have_count(2)
    rows.nth(1).get_by_role("button", name="Take back").click()
    done = "The link was taken back. It opens nothing any more."
    expect(page.get_by_role("status").filter(has_text=done)).to_be_visible()
    expect(rows).to_have_count(1)
    assert find_barriers(page) == []
    assert not is_too_wide(page)


def watch(page: Page, link: str) -> None:
    page.goto(link)
    expect(page.get_by_text("Working on it")).to_be_visible()
    expect(page.get_by_text("Links that open this run")).to_have_count(0)


def opens_nothing(place: Scene, page: Page, link: str) -> None:
    """See what everybody sees at an address where there is no run."""
    place.go(page, f"/runs/{'0' * 32}?key=unknown")
    unknown = page.get_by_role("main").inner_text()
    page.goto(link)
    assert page.get_by_role("main").inner_text() == unknown


def must_be_in_the_audit(place: Scene, page: Page) -> None:
    """See that two links were made, and those and the service's own taken back."""
    place.become_admin(page)
    place.go(page, "/audit")
    told = page.get_by_role("cell")
    expect(told.filter(has_text=re.compile("^run shared"))).to_have_count(2)
    expect(told.filter(has_text="link to a run taken back")).to_have_count(3)
