"""Somebody who has nothing but the link of the terminal gets to a pull request."""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.fakes.github.acts.sign_ins import sit_down
from tests.fakes.github.webhooks.sending import deliver
from tests.fakes.llm.turns import say
from tests.flow.story import REPO, fix_turns
from tests.service.processes import ServiceProcess
from tests.service.stage import Stage, unset_stage
from tests.web.chromium import window
from tests.web.scene import TASK, result_of, scene

READY = say("ready")
# One of the checks may take a minute.
CHECKS_MS = 90_000


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    # The model answers the set-up page, the request form and the issue.
    turns = [READY, *fix_turns(), *fix_turns()]
    with unset_stage(tmp_path, turns) as unset:
        sit_down(unset.github.world, "alice")
        yield unset


@pytest.mark.timeout(300)
def test_a_stranger_gets_from_the_link_to_pull_requests(
    stage: Stage, browser: Browser
) -> None:
    with stage.serving_cold("all") as service, window(browser) as page:
        stage.wait(lambda: service.has_said("setup_needed"), "the link")
        _make_app(service, page)
        _install_app(page)
        expect(page.get_by_role("heading")).to_have_text(
            ["Installed in 1 repository", "After that"]
        )
        _check_everything(page)
        page.get_by_role("link", name="Make a request").click()
        page.get_by_label("Repository or issue URL").fill(REPO)
        page.get_by_label("Task").fill(TASK)
        page.get_by_role("button", name="Start").click()
        result_of(page).get_by_role("link", name="pull request").first.click()
        expect(page.get_by_role("heading", name="Count every piece")).to_be_visible()
        number = _ask_in_an_issue(stage, page)
        stage.wait(lambda: _is_done(stage, number), f"the answer in #{number}")
        page.reload()
        page.get_by_role("link", name="run", exact=True).first.click()
        expect(page.get_by_text("Done, proven", exact=True)).to_be_visible()
        assert len(stage.github.pull_requests(REPO)) == 2
        _see_who_made_an_admin(page)
        with window(browser) as late:
            _come_too_late(stage, _link(service), late)


def _link(service: ServiceProcess) -> str:
    """Return the set-up link that the log shows."""
    [line] = [one for one in service.lines() if one["message"] == "setup_needed"]
    return str(line["url"])


def _make_app(service: ServiceProcess, page: Page) -> None:
    """Open the link, and press the buttons here and on GitHub."""
    page.goto(_link(service))
    page.get_by_role("button", name="Create on GitHub").click()
    page.get_by_label("GitHub App name").fill("Acme Bot")
    page.get_by_role("button", name="Create GitHub App").click()
    expect(page.get_by_role("heading", name="acme-bot was created")).to_be_visible()
    service.wait_until_ready()


def _install_app(page: Page) -> None:
    page.get_by_role("link", name="Install it in repositories").click()
    page.get_by_label(REPO).check()
    page.get_by_role("button", name="Install").click()


def _check_everything(page: Page) -> None:
    """Sign in where GitHub has sent the browser, and let the service check itself."""
    page.get_by_role("link", name="Sign in and check the set-up").click()
    page.get_by_role("button", name="Check everything").click(timeout=CHECKS_MS)
    works = page.get_by_text("Everything that is set up works.")
    expect(works).to_be_visible(timeout=CHECKS_MS)
    model = page.get_by_role("region", name="Model")
    expect(model.get_by_text("failed")).to_have_count(0)


def _ask_in_an_issue(stage: Stage, page: Page) -> int:
    """Mention the App by its name on GitHub; return the number of the issue."""
    page.get_by_role("link", name=REPO, exact=True).click()
    page.get_by_role("link", name="New issue").click()
    page.get_by_label("Title").fill("Wrong sum")
    page.get_by_label("Description").fill(f"{TASK}\n\n@acme-bot please fix this")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="Wrong sum")).to_be_visible()
    hook = stage.github.world.hook_log.url
    receipt = deliver(stage.github.deliveries[-1], hook)
    assert receipt.status == 202, receipt
    return int(urlsplit(page.url).path.rpartition("/")[2])


def _is_done(stage: Stage, number: int) -> bool:
    said = stage.github.comments(REPO, number)
    return any(
        one.author == "acme-bot[bot]" and "Done, proven" in one.body for one in said
    )


def _see_who_made_an_admin(page: Page) -> None:
    page.get_by_role("link", name="People").click()
    page.get_by_role("link", name="Audit log").click()
    change = page.get_by_role("row").filter(has_text="member → admin")
    expect(change).to_have_count(1)
    expect(change).to_contain_text("set-up link")


def _come_too_late(stage: Stage, link: str, page: Page) -> None:
    """Open the link that has done its work; whoever signs in there is no admin."""
    page.goto(link)
    expect(page.get_by_role("heading")).to_have_text("GitHub is set up already")
    stage.github.add_user("bob")
    sit_down(stage.github.world, "bob")
    page.get_by_role("link", name="Go to the set-up page").click()
    page.get_by_role("link", name="Sign in").click()
    expect(page.get_by_role("heading")).to_have_text("Not for you")


@pytest.mark.timeout(300)
def test_the_set_up_page_says_what_is_wrong_and_how_slack_is_added(
    tmp_path: Path, browser: Browser
) -> None:
    wrong = {"LLM_API_KEY": "sk-wrong-0123456789abcdef"}
    with scene(tmp_path, [], wrong) as place, window(browser) as page:
        place.sign_in(page, "alice")
        place.become_admin(page)
        page.get_by_role("link", name="Set-up").click()
        page.get_by_role("button", name="Check everything").click(timeout=CHECKS_MS)
        failed = page.get_by_role("status").get_by_role("listitem")
        expect(failed.first).to_contain_text(
            "did not accept the API key", timeout=CHECKS_MS
        )
        model = page.get_by_role("region", name="Model")
        expect(model).to_contain_text("Fix: set LLM_API_KEY (llm.api_key) to a valid")
        slack = page.get_by_role("region", name="Slack")
        slack.get_by_text("How to set it up").click()
        steps = slack.get_by_role("listitem")
        expect(steps).to_contain_text(
            [
                "Create the app in Slack.",
                "choose Install App",
                "PATCHWRIGHT_SLACK__BOT_TOKEN not set",
                "/invite @patchwright",
            ]
        )
        link = slack.get_by_role("link", name="Create the Slack app")
        query = parse_qs(urlsplit(link.get_attribute("href") or "").query)
        app = json.loads(query["manifest_json"][0])
        events = f"{place.url}/api/integration/slack/events"
        assert app["settings"]["event_subscriptions"]["request_url"] == events
