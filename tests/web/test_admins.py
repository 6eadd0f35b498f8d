"""Whoever installs the service becomes its admin, and sees to people on the pages."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.flow.story import fix_turns
from tests.web.chromium import find_barriers, window
from tests.web.scene import scene


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
        place.go(alices, "/people")
        alices.get_by_label("Administrator's token").fill("not-the-token")
        alices.get_by_role("button", name="Become an admin").click()
        expect(alices.get_by_role("alert")).to_contain_text("That is not the")
        place.become_admin(alices)
        expect(alices.get_by_role("status")).to_have_text("You are an admin now.")
        assert find_barriers(alices) == []

        bob = alices.get_by_role("listitem").filter(
            has=alices.get_by_role("heading", name="bob")
        )
        bob.get_by_label("Role of bob", exact=True).select_option("viewer")
        bob.get_by_role("button", name="Change the role of bob").click()
        expect(alices.get_by_role("status")).to_have_text("The role was changed.")
        place.go(bobs, "/account")
        expect(bobs.get_by_text("Your role is “viewer”")).to_be_visible()

        bob.get_by_role("button", name="End all sessions of bob").click()
        expect(alices.get_by_role("status")).to_contain_text("were ended")
        bobs.get_by_role("link", name="Spend").click()
        expect(bobs.get_by_role("link", name="Sign in").first).to_be_visible()
        expect(bobs.get_by_role("heading", name="Spend")).to_have_count(0)

        bob.get_by_role("button", name="Remove bob of GitHub from bob").click()
        expect(alices.get_by_role("status")).to_have_text("The identity was removed.")
        expect(alices.get_by_role("button", name="Remove bob of GitHub")).to_have_count(
            0
        )

        alices.get_by_role("link", name="Audit log").click()
        table = alices.get_by_role("table")
        for words in ("role changed", "sessions ended", "identity removed"):
            row = table.get_by_role("row").filter(has_text=words).first
            expect(row).to_contain_text("alice")
        assert find_barriers(alices) == []
        alices.get_by_label("What").select_option("role changed")
        alices.get_by_label("Person").fill("bob")
        alices.get_by_role("button", name="Show").click()
        expect(table.get_by_role("row")).to_have_count(2)
        with alices.expect_download() as downloading:
            alices.get_by_role("link", name="JSON lines").click()
        [line] = downloading.value.path().read_text().splitlines()
        assert json.loads(line)["detail"]
