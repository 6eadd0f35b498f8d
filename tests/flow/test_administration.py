"""The pages of administrators on the service itself, and the same spend in a shell."""

import json
from pathlib import Path

import httpx

from patchwright.core.types.people import Actor
from patchwright.workers.store.reservations import Ceilings, Reservation, Spender
from tests.adapters.web.admin_scene import shown_text
from tests.adapters.web.browser import forms_on
from tests.flow.story import REPO, Story, telling
from tests.provision.starter import ready_starter

TOKEN = "administrators-token"
SETTINGS = {"PATCHWRIGHT_SECURITY__ADMIN_TOKEN": TOKEN}
FILES = {".patchwright.toml": "max_cost_usd = 0.5\n"}
WISH = "@patchwright please fix the sum, 3 pieces cost 450"


def admin(story: Story) -> httpx.Client:
    held = {"Authorization": f"Bearer {TOKEN}"}
    return httpx.Client(base_url=story.url, headers=held, timeout=60)


def test_an_administrator_sees_what_the_service_reaches_and_checks_it(
    tmp_path: Path,
) -> None:
    with (
        telling(tmp_path, [], settings=SETTINGS, files=FILES) as story,
        admin(story) as browser,
    ):
        listed = shown_text(browser.get("/settings/repositories"))
        assert listed[2:4] == ["acme installed", REPO]
        held = shown_text(browser.get(f"/settings/repositories/{REPO}"))
        at = held.index("max_cost_usd")
        assert held[at : at + 3] == ["max_cost_usd", "0.5", "repository"]
        kept = shown_text(browser.get("/settings"))
        at = kept.index("security.admin_token")
        assert kept[at + 1] == "set"
        form = forms_on(browser.get("/setup"))[0]
        sent = {"check": form.fields["check"], "card": "github"}
        checked = shown_text(browser.post("/setup", data=sent))
        assert any(
            one.startswith("ok github: patchwright[bot], in 1") for one in checked
        )
        assert httpx.get(f"{story.url}/setup").status_code == 401


def test_spend_is_the_same_on_the_page_and_in_the_shell(tmp_path: Path) -> None:
    with (
        telling(tmp_path, [], settings=SETTINGS) as story,
        admin(story) as browser,
    ):
        story.ask(WISH)
        [job] = story.jobs()
        who = Actor(service="github", login="alice", external_id="77")
        stores = story.base.stores
        spender = Spender(
            job_id=job.id,
            account_id=stores.accounts.account_of(who, "here"),
            repo=job.trigger.home,
            day=story.clock.now().date(),
        )
        reserved = stores.reservations.reserve(spender, 2.5, Ceilings())
        assert isinstance(reserved, Reservation)
        stores.reservations.settle(reserved, 2.5)
        page = shown_text(browser.get("/spend?days=7"))
        assert page[page.index("Spent") + 1] == "$2.50"
        assert "alice" in page
        environment = {"PATH": "/usr/bin:/bin", **story.environment}
        told = [
            ready_starter()
            .run("spend", *options, cwd=tmp_path, env=environment, timeout=60)
            .stdout
            for options in (("--days", "7"), ("--days", "7", "--json"))
        ]
        assert told[0].splitlines()[0] == "$2.50 in the last 7 days (UTC)"
        report = json.loads(told[1])
        assert report["total"]["spent_usd"] == 2.5
        assert [one["name"] for one in report["people"]] == ["alice"]
        assert [one["percent"] for one in report["ceilings"]] == [1, 2, 5]
