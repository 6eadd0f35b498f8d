"""Who may set up the service, and with which link."""

import pytest
from pydantic import SecretStr

from patchwright.core.plugin_host import MemoryVault
from patchwright.workers.web.setup_access import (
    LINK_LIFE,
    SETUP_TIME,
    LinkRefusal,
    SetupLinks,
    SetupVisitors,
)
from tests.fakes.clock import FakeClock

TOKEN = SecretStr("admin-token")
LINK_LIFE_S = LINK_LIFE.total_seconds()


class Door:
    """The visitors of one service, and its links."""

    def __init__(self, token: SecretStr | None = None) -> None:
        self.clock = FakeClock()
        self.vault = MemoryVault()
        self.links = SetupLinks(self.vault, "github", self.clock)
        self.visitors = SetupVisitors(token, self.links, self.clock)

    def enter(self, key: str, browser: str = "") -> str:
        """Open a link that must open; return the browser's name."""
        opened = self.visitors.open_link(key, browser)
        assert not isinstance(opened, LinkRefusal)
        return opened


def test_a_link_opens_as_often_as_wanted_in_the_browser_that_opened_it_first() -> None:
    door = Door()
    key = door.visitors.new_key()
    browser = door.enter(key)
    assert door.enter(key, browser) == browser
    door.clock.advance(LINK_LIFE_S - 1)
    assert door.enter(key, browser) == browser


@pytest.mark.parametrize("cookie", ["", "made-up"])
def test_a_link_does_not_open_in_another_browser(cookie: str) -> None:
    door = Door()
    key = door.visitors.new_key()
    door.enter(key)
    assert door.visitors.open_link(key, cookie) is LinkRefusal.OTHER_BROWSER


def test_a_browser_is_not_known_by_a_name_that_it_brought() -> None:
    door = Door()
    assert door.enter(door.visitors.new_key(), "planted") != "planted"
    assert door.visitors.find_state("planted") is None


def test_a_link_expires_but_not_who_has_opened_it() -> None:
    door = Door()
    key = door.visitors.new_key()
    browser = door.enter(key)
    door.clock.advance(LINK_LIFE_S)
    assert door.visitors.open_link(key, browser) is LinkRefusal.EXPIRED
    assert door.visitors.find_state(browser)


def test_a_new_link_replaces_the_old_one_and_shuts_its_browser_out() -> None:
    door = Door()
    old = door.visitors.new_key()
    thief = door.enter(old)
    state = door.visitors.find_state(thief)
    assert state
    # As `patchwright setup-link` does, in a process of its own.
    new = SetupLinks(door.vault, "github", door.clock).make()
    assert door.visitors.open_link(old, thief) is LinkRefusal.UNKNOWN
    assert door.visitors.find_state(thief) is None
    assert not door.visitors.use_state(thief, state)
    assert door.enter(new, thief) != thief


def test_a_link_stays_bound_to_its_browser_when_the_service_starts_again() -> None:
    door = Door()
    key = door.visitors.new_key()
    browser = door.enter(key)
    again = SetupVisitors(None, door.links, door.clock)
    assert again.open_link(key, browser) is LinkRefusal.OTHER_BROWSER


def test_what_is_stored_opens_nothing() -> None:
    door = Door()
    key = door.visitors.new_key()
    browser = door.enter(key)
    stored = [
        door.vault.fetch(name, owner="github") for name in door.vault.names("github")
    ]
    text = "".join(one.get_secret_value() for one in stored if one)
    assert stored
    assert key not in text
    assert browser not in text


def test_each_service_has_its_own_link() -> None:
    door = Door()
    SetupLinks(door.vault, "gitlab", door.clock).make()
    key = door.visitors.new_key()
    SetupLinks(door.vault, "gitlab", door.clock).make()
    assert door.enter(key)


def test_the_admin_token_opens_again() -> None:
    door = Door(TOKEN)
    assert door.visitors.new_key() == ""
    assert door.visitors.show_token("admin-token")
    assert door.visitors.show_token("admin-token")


def test_where_a_token_is_asked_for_no_link_opens() -> None:
    door = Door(TOKEN)
    key = door.links.make()
    for word in (key, "admin-token", ""):
        assert door.visitors.open_link(word, "") is LinkRefusal.UNKNOWN


def test_nothing_else_opens() -> None:
    door, guarded = Door(), Door(TOKEN)
    door.visitors.new_key()
    for word in ("", "admin", "admin-token ", "é"):
        assert door.visitors.open_link(word, "") is LinkRefusal.UNKNOWN
        assert door.visitors.show_token(word) is None
        assert guarded.visitors.show_token(word) is None


@pytest.mark.parametrize("token", [None, SecretStr("")])
def test_before_there_is_a_link_nothing_opens(token: SecretStr | None) -> None:
    door = Door(token)
    assert door.visitors.open_link("", "") is LinkRefusal.UNKNOWN
    assert door.visitors.show_token("") is None


def test_a_state_counts_once_and_in_its_own_browser() -> None:
    visitors = Door(TOKEN).visitors
    mine, other = visitors.show_token("admin-token"), visitors.show_token("admin-token")
    assert mine
    assert other
    state = visitors.find_state(mine)
    assert state
    assert not visitors.use_state(other, state)
    assert not visitors.use_state("", state)
    assert not visitors.use_state(mine, "")
    assert visitors.use_state(mine, state)
    assert not visitors.use_state(mine, state)
    assert visitors.find_state(mine) not in {None, state}


def test_a_browser_is_forgotten_after_an_hour() -> None:
    door = Door(TOKEN)
    browser = door.visitors.show_token("admin-token")
    assert browser
    state = door.visitors.find_state(browser)
    assert state
    door.clock.advance(SETUP_TIME.total_seconds() + 1)
    assert door.visitors.find_state(browser) is None
    assert not door.visitors.use_state(browser, state)
