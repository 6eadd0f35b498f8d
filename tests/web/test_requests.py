"""People ask on a page, and answer there what a run asks them."""

import re
from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.flow.story import REPO, fix_turns
from tests.web.chromium import window
from tests.web.scene import scene

TASK = "The total ignores the pieces: `total([450], [3])` is 450, and not 1350."


def test_a_request_on_the_page_ends_in_a_pull_request_there(
    tmp_path: Path, browser: Browser
) -> None:
    with scene(tmp_path, fix_turns()) as place, window(browser) as page:
        place.sign_in(page, "alice")
        place.go(page, "/requests/new")
        page.get_by_label("Repository or issue URL").fill(REPO)
        page.get_by_label("Task").fill(TASK)
        page.get_by_role("button", name="Start").click()
        page.wait_for_url(re.compile("/runs/"))
        expect(page.get_by_text("Done, proven")).to_be_visible()
        page.get_by_role("button", name="show its result").click()
        link = page.get_by_role("link", name="pull request").first
        expect(link).to_be_visible()
        [pull] = place.stage.github.pull_requests(REPO)
        pull_url = f"{place.stage.github.web_url}/{REPO}/pull/{pull.number}"
        assert link.get_attribute("href") == pull_url
