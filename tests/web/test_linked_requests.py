"""Somebody asks in Slack, and shows in a browser who they are where the code is."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.fakes.github.acts.sign_ins import sit_down
from tests.flow.office import link_in
from tests.flow.story import REPO, fix_turns
from tests.service.offices import SlackOffice, address, slack_office
from tests.web.chromium import window
from tests.web.scene import Scene, scene

# Chromium and a whole service at once, where others work too.
pytestmark = pytest.mark.timeout(300)

# Nobody is known beforehand.
REQUIRED = {
    "PATCHWRIGHT_ACCOUNTS__LINKING": "required",
    "PATCHWRIGHT_ACCOUNTS__MAP": "[]",
}


def test_a_request_in_slack_goes_on_after_its_person_has_linked_the_accounts(
    tmp_path: Path, browser: Browser
) -> None:
    with (
        slack_office() as slack,
        scene(tmp_path, fix_turns(), slack.settings | REQUIRED, private=True) as place,
        window(browser) as page,
    ):
        slack.fake.send_to(address(place.service, "slack"))
        thread = slack.fake.mention(slack.jo, slack.channel, f"fix the sum in {REPO}")
        place.stage.wait(lambda: bool(slack.fake.ephemerals(slack.jo)), "the link")
        [told] = slack.fake.ephemerals(slack.jo)
        sit_down(place.stage.github.world, "alice")
        page.goto(link_in(told))
        expect(page.get_by_role("heading")).to_have_text("Link Slack with GitHub")
        page.get_by_role("button", name="Continue to GitHub").click()
        expect(page.get_by_role("heading")).to_have_text("Link these accounts?")
        expect(page.get_by_role("cell").filter(has_text="Jo Doe")).to_be_visible()
        expect(page.get_by_role("cell").filter(has_text="alice")).to_be_visible()
        assert place.stage.provider.requests == []
        page.get_by_role("button", name="Link them").click()
        expect(page.get_by_role("heading")).to_have_text("Linked")
        place.stage.wait(lambda: has_result(place, slack, thread), "the result")
        [pull] = place.stage.github.pull_requests(REPO)
        assert place.pull_url(pull.number) in said_in(slack, thread)
        # It is one account from now on, for which nobody has to sign in again.
        place.sign_in(page, "alice")
        place.go(page, "/runs")
        expect(page.get_by_role("listitem")).to_contain_text("from Slack")


def said_in(slack: SlackOffice, thread: str) -> str:
    """Return what the bot has said in the thread."""
    said = slack.fake.thread(slack.channel, thread)
    return "\n".join(one.shown for one in said if one.ts != thread)


def has_result(place: Scene, slack: SlackOffice, thread: str) -> bool:
    place.service.must_run()
    return "Done, proven" in said_in(slack, thread)
