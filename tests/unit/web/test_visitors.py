"""Who may set up the service."""

from pydantic import SecretStr

from patchwright.workers.web.setup_pages import SETUP_TIME, SetupVisitors
from tests.fakes.clock import FakeClock

TOKEN = SecretStr("admin-token")


def test_the_key_that_was_made_opens_once() -> None:
    visitors = SetupVisitors(None, FakeClock())
    assert visitors.let_in(visitors.once)
    assert visitors.let_in(visitors.once) is None


def test_the_admin_token_opens_again() -> None:
    visitors = SetupVisitors(TOKEN, FakeClock())
    assert visitors.once == ""
    assert visitors.let_in("admin-token")
    assert visitors.let_in("admin-token")


def test_nothing_else_opens() -> None:
    for visitors in (
        SetupVisitors(TOKEN, FakeClock()),
        SetupVisitors(None, FakeClock()),
    ):
        for key in ("", "admin", "admin-token ", "é"):
            assert visitors.let_in(key) is None


def test_without_an_admin_token_an_empty_key_opens_neither_before_nor_after() -> None:
    visitors = SetupVisitors(SecretStr(""), FakeClock())
    assert visitors.let_in("") is None
    assert visitors.let_in(visitors.once)
    assert visitors.let_in("") is None


def test_a_state_counts_once_and_in_its_own_browser() -> None:
    visitors = SetupVisitors(TOKEN, FakeClock())
    mine, other = visitors.let_in("admin-token"), visitors.let_in("admin-token")
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
    clock = FakeClock()
    visitors = SetupVisitors(TOKEN, clock)
    browser = visitors.let_in("admin-token")
    assert browser
    state = visitors.find_state(browser)
    assert state
    clock.advance(SETUP_TIME.total_seconds() + 1)
    assert visitors.find_state(browser) is None
    assert not visitors.use_state(browser, state)
