"""A program works in somebody's name until they revoke its token; it costs money."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from patchwright.client import ApiProblemError, Client
from tests.fakes.llm.turns import with_usage
from tests.flow.story import REPO, fix_turns
from tests.web.chromium import find_barriers, window
from tests.web.scene import TASK, Scene, scene

TURN_USD = 0.30
# A call reserves little, and the whole run is more than half of what alice may spend.
SETTINGS = {
    "PATCHWRIGHT_LLM__INPUT_COST_PER_TOKEN": "0.000001",
    "PATCHWRIGHT_LLM__OUTPUT_COST_PER_TOKEN": "0.000001",
    "PATCHWRIGHT_LIMITS__PER_USER_DAY_USD": "2",
}


def make_token(place: Scene, page: Page, name: str, scope: str) -> str:
    """Make a token on the page of the account; return the word, shown this once."""
    place.go(page, "/account")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Scope").select_option(scope)
    page.get_by_label("Expires after").select_option("30 days")
    page.get_by_role("button", name="Make a token").click()
    shown = page.get_by_label("New token")
    expect(shown).to_have_value(re.compile("^pwt_"))
    assert find_barriers(page) == []
    word = shown.input_value()
    place.go(page, "/account")
    expect(page.get_by_role("row").filter(has_text=name)).to_contain_text(word[-4:])
    assert word not in page.content()
    return word


def status_of(client: Client) -> int:
    """Return how a request that starts a run is refused."""
    with pytest.raises(ApiProblemError) as refused:
        client.start_conversation(REPO, TASK)
    return refused.value.status


@pytest.mark.timeout(300)
def test_a_token_starts_a_run_until_it_is_revoked(
    tmp_path: Path, browser: Browser
) -> None:
    turns = [with_usage(turn, cost=TURN_USD) for turn in fix_turns()]
    with scene(tmp_path, turns, SETTINGS) as place, window(browser) as page:
        place.sign_in(page, "alice")
        reading = make_token(place, page, "Dashboard", "read")
        writing = make_token(place, page, "Release script", "write")
        with Client(place.url, reading) as reader, Client(place.url, writing) as writer:
            assert status_of(reader) == 403
            assert list(reader.list_runs()) == []
            started = writer.start_conversation(REPO, TASK)
            for _ in writer.stream_events(started.conversation_id or ""):
                pass
            [run] = reader.list_runs()
            assert (run.id, run.requester) == (started.run_id, "alice")
            pulls = place.stage.github.pull_requests
            place.stage.wait(lambda: len(pulls(REPO)) == 1, "the pull request")

            place.go(page, "/account")
            row = page.get_by_role("row").filter(has_text="Release script")
            expect(row).not_to_contain_text("never")
            page.get_by_role("button", name="Revoke the token Release script").click()
            expect(page.get_by_role("status")).to_contain_text("It works no more")
            expect(row).to_have_count(0)
            assert status_of(writer) == 401
            assert len(list(reader.list_runs())) == 1
        _read_spend(page, len(turns))


def _read_spend(page: Page, turns: int) -> None:
    spent = f"${turns * TURN_USD:.2f}"
    page.get_by_role("link", name="Spend", exact=True).click()
    for region, name in (("repository", REPO), ("person", "alice")):
        table = page.get_by_role("region", name=f"Spend by {region}")
        row = table.get_by_role("row").filter(has_text=name)
        expect(row).to_contain_text(spent)
        expect(row).to_contain_text("100.0 %")
    page.get_by_text("The days as a table").click()
    days = page.get_by_role("region", name="Spend by day").get_by_role("row")
    expect(days.nth(1)).to_contain_text(spent)
    limit = page.get_by_role("region", name="Limits of today").get_by_role("row")
    expect(limit.filter(has_text="alice")).to_contain_text(f"{spent}$2")
    expect(page.get_by_role("status")).to_contain_text("alice: 50 % reached")
    assert find_barriers(page) == []
    with page.expect_download() as downloading:
        page.get_by_role("link", name="Download CSV").click()
    [_, line] = downloading.value.path().read_text().splitlines()
    assert f"{REPO},alice,{turns * TURN_USD:.6f}" in line
