"""People ask on a page, and answer there what a run asks them."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.fakes.llm.turns import TurnLike, call
from tests.flow.script import Request, asked, in_turn, results
from tests.flow.story import REPO, fix_turns
from tests.web.chromium import window
from tests.web.scene import Scene, result_of, scene

# Chromium and a whole service at once, where others work too.
pytestmark = pytest.mark.timeout(300)

PLAN = call("finish", summary="A plan.", answer="1. Test it.\n2. Fix it.")
CHANGE = "mind the empty cart"
RISKY = call("shell", command="rm -rf ~/.ssh; touch was_run")
RISKS = {"PATCHWRIGHT_AGENT__CONFIRM": "risky"}
QUESTION = "Which?\n\n1. Cents\n2. Euros"


def must_show_the_pull_request(place: Scene, page: Page) -> None:
    """See that it ends in the one pull request, and that the page leads there."""
    expect(page.get_by_text("Done, proven", exact=True)).to_be_visible()
    link = result_of(page).get_by_role("link", name="Pull request").first
    [pull] = place.stage.github.pull_requests(REPO)
    expect(link).to_have_attribute("href", place.pull_url(pull.number))


def test_a_request_on_the_page_ends_in_a_pull_request_there(
    tmp_path: Path, browser: Browser
) -> None:
    with scene(tmp_path, fix_turns()) as place, window(browser) as page:
        place.sign_in(page, "alice")
        place.ask(page)
        must_show_the_pull_request(place, page)


def test_a_plan_is_changed_and_approved_on_the_page_of_its_run(
    tmp_path: Path, browser: Browser
) -> None:
    def plan_again(request: Request) -> TurnLike:
        assert CHANGE in asked(request)
        return call("finish", summary="A plan.", answer="1. Mind the empty cart.")

    turns = in_turn(PLAN, plan_again, *fix_turns())
    with scene(tmp_path, turns) as place, window(browser) as page:
        place.sign_in(page, "alice")
        place.ask(page, plan_first=True)
        plan = page.get_by_role("region", name="This plan waits for approval")
        expect(plan.get_by_role("listitem")).to_have_text(["Test it.", "Fix it."])
        plan.get_by_text("Ask for another plan").first.click()
        plan.get_by_label("What should be different?").fill(CHANGE)
        plan.get_by_role("button", name="Ask for another plan").click()
        expect(plan.get_by_role("listitem")).to_have_text(["Mind the empty cart."])
        expect(page.get_by_text("Run waits: Plan", exact=True)).to_have_count(2)
        assert place.stage.github.pull_requests(REPO) == []
        plan.get_by_role("button", name="Approve the plan").click()
        must_show_the_pull_request(place, page)
        expect(page.get_by_text("Sent:")).to_have_count(0)
        expect(page.get_by_text("@alice approves", exact=True)).to_be_visible()


def test_a_risky_action_is_done_after_a_yes_and_not_after_a_no(
    tmp_path: Path, browser: Browser
) -> None:
    def look(request: Request) -> TurnLike:
        came_of_it.append(results(request)[-1])
        return call("finish", summary="Looked.")

    came_of_it: list[str] = []
    turns = in_turn(RISKY, look, RISKY, look)
    with scene(tmp_path, turns, RISKS) as place, window(browser) as page:
        place.sign_in(page, "alice")
        for answer in ("Confirm this action", "Reject this action"):
            place.ask(page)
            action = page.get_by_role("region", name="This action waits for a yes")
            expect(action).to_contain_text("rm -rf ~/.ssh; touch was_run")
            action.get_by_role("button", name=answer).click()
            expect(result_of(page)).to_contain_text("Looked.")
        done, not_done = came_of_it
        assert "exit code 0" in done
        assert "Not run: @alice did not allow it." in not_done


def test_without_scripts_a_request_is_made_and_a_question_answered(
    tmp_path: Path, browser: Browser
) -> None:
    def go_on(request: Request) -> TurnLike:
        assert "in roubles" in asked(request)
        return first

    first, *rest = fix_turns()
    turns = in_turn(*[QUESTION] * 3, go_on, *rest)
    with scene(tmp_path, turns) as place, window(browser, scripts=False) as page:
        place.sign_in(page, "alice")
        place.ask(page)
        answer = page.get_by_label("Your answer")
        reload_until(place, page, answer)
        answer.fill("in roubles")
        page.get_by_role("button", name="Send the answer").click()
        reload_until(place, page, page.get_by_text("Done, proven", exact=True))
        must_show_the_pull_request(place, page)


def reload_until(place: Scene, page: Page, wanted: Locator) -> None:
    """Press the link that is there for browsers without scripts until that shows."""

    def is_shown() -> bool:
        if wanted.is_visible():
            return True
        page.get_by_role("link", name="Reload").click()
        return False

    place.stage.wait(is_shown, str(wanted))
