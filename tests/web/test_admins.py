"""Whoever installs the service becomes its admin, and sees to people on the pages."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.flow.story import fix_turns
from tests.web.chromium import find_barriers, window
from tests.web.scene import Scene, scene


@pytest.mark.timeout(300)
def test_an_admin_gives_roles_ends_sessions_and_reads_the_log(
    tmp_path: Path, browser: Browser
) -> None:
    with (
        scene(tmp_path, fix_turns()) as place,
        window(browser) as alices,
        window(browser) as bobs,
    ):
        place.sign_in(alices, "alice")
        place.sign_in(bobs, "bob")
        _begin(place, alices)
        said = alices.get_by_role("status")

        alices.get_by_label("Role of bob", exact=True).select_option("viewer")
        alices.get_by_role("button", name="Change the role of bob").click()
        expect(said).to_have_text("The role was changed.")
        place.go(bobs, "/account")
        expect(bobs.get_by_text("Your role is “viewer”")).to_be_visible()

        alices.get_by_role("button", name="End all sessions of bob").click()
        expect(said).to_contain_text("were ended")
        bobs.get_by_role("link", name="Spend").click()
        expect(bobs.get_by_role("link", name="Sign in").first).to_be_visible()
        expect(bobs.get_by_role("heading", name="Spend")).to_have_count(0)

        remove = alices.get_by_role("button", name="Remove bob of GitHub from bob")
        remove.click()
        expect(said).to_have_text("The identity was removed.")
        expect(remove).to_have_count(0)
        _read_log(alices)


def _begin(place: Scene, page: Page) -> None:
    place.go(page, "/people")
    page.get_by_label("Administrator's token").fill("not-the-token")
    page.get_by_role("button", name="Become an admin").click()
    expect(page.get_by_role("alert")).to_contain_text("That is not the")
    place.become_admin(page)
    expect(page.get_by_role("status")).to_have_text("You are an admin now.")
    assert find_barriers(page) == []


def _read_log(page: Page) -> None:
    """Find there what alice did to bob, and take it along."""
    page.get_by_role("link", name="Audit log").click()
    rows = page.get_by_role("table").get_by_role("row")
    for words, about in (
        ("role changed", "bob"),
        ("sessions ended", "bob"),
        ("identity removed", "GitHub: bob"),
    ):
        cells = rows.filter(has_text=words).first.get_by_role("cell")
        expect(cells.nth(3)).to_contain_text(about)
        expect(cells.nth(4)).to_contain_text("alice")
    assert find_barriers(page) == []
    page.get_by_label("What").select_option("role changed")
    page.get_by_label("Person").fill("bob")
    page.get_by_role("button", name="Show").click()
    # Below the headings.
    expect(rows).to_have_count(2)
    with page.expect_download() as downloading:
        page.get_by_role("link", name="JSON lines").click()
    [line] = downloading.value.path().read_text().splitlines()
    told = json.loads(line)
    assert (told["account"], told["by"], told["detail"]) == (
        "bob",
        "alice",
        "member → viewer",
    )
