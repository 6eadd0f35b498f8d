"""People sign in with a real OpenID provider, and it tells us who leaves."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.flow.story import fix_turns
from tests.provision.servers import free_port
from tests.web.chromium import window
from tests.web.oidc_provider import TITLE, RealProvider, real_provider
from tests.web.scene import Scene, scene

PEOPLE = {
    "bob": {
        "name": "Bob Stone",
        "preferred_username": "bob.stone",
        "email": "bob@acme.test",
        "email_verified": True,
        "groups": ["operators"],
    },
    "carol": {
        "name": "Carol Reed",
        "preferred_username": "carol.reed",
        "email": "carol@acme.test",
        "email_verified": True,
        "groups": ["sales"],
    },
}


def to_provider(place: Scene, page: Page) -> None:
    place.go(page, "/account")
    page.get_by_role("link", name="Sign in").first.click()
    page.get_by_role("link", name=f"Sign in with {TITLE}").click()


@pytest.mark.real
@pytest.mark.timeout(300)
def test_a_provider_signs_people_in_and_out(tmp_path: Path, browser: Browser) -> None:
    port, provider_port = free_port(), free_port()
    url = f"http://127.0.0.1:{port}"
    with (
        real_provider(tmp_path, provider_port, url, PEOPLE) as provider,
        scene(
            tmp_path,
            fix_turns(),
            {**provider.settings, "PATCHWRIGHT_OIDC__ADMIN_GROUP": "operators"},
            port=port,
        ) as place,
        window(browser) as bobs,
        window(browser) as carols,
    ):
        to_provider(place, bobs)
        provider.sign_in(bobs, "bob")
        expect(bobs.get_by_role("heading", name="Account", exact=True)).to_be_visible()
        identity = bobs.get_by_role("row").filter(has_text=TITLE).first
        expect(identity).to_contain_text("bob.stone")
        expect(identity).to_contain_text("bob@acme.test")
        expect(bobs.get_by_text("Your role is “admin”")).to_be_visible()
        to_provider(place, carols)
        provider.sign_in(carols, "carol")
        expect(carols.get_by_text("Your role is “member”")).to_be_visible()

        _check_in_doctor(place, bobs, provider)
        # Bob leaves at the provider, which tells us; carol stays.
        provider.sign_out(bobs)
        place.go(bobs, "/account")
        expect(bobs.get_by_role("link", name="Sign in").first).to_be_visible()
        expect(bobs.get_by_text("Your role is")).to_have_count(0)
        place.go(carols, "/account")
        expect(carols.get_by_text("Your role is “member”")).to_be_visible()
        _leave_from_here(place, carols)

        to_provider(place, bobs)
        provider.sign_in(bobs, "bob")
        place.go(bobs, "/audit")
        ended = bobs.get_by_role("row").filter(has_text="sessions ended")
        expect(ended).to_contain_text("the provider")


def _check_in_doctor(place: Scene, page: Page, provider: RealProvider) -> None:
    place.go(page, "/setup")
    page.get_by_role("button", name="Check Single sign-on").click()
    expect(page.get_by_role("status")).to_have_text(
        f"ok oidc: {provider.url} has 1 key, and tells us who signs out"
    )


def _leave_from_here(place: Scene, page: Page) -> None:
    """Sign out here, and there as well: it asks who somebody is again."""
    page.get_by_role("button", name="Sign out", exact=True).click()
    page.get_by_role("link", name=f"Sign out of {TITLE} too").click()
    page.get_by_role("button", name="Yes, sign me out").click()
    page.wait_for_url(f"{place.url}/auth")
    to_provider(place, page)
    expect(page.get_by_placeholder("Enter any login")).to_be_visible()
