"""Workspaces install the app; tokens end after a day and are renewed once."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from pydantic import SecretStr

from patchwright.core.plugin_host import MemoryVault
from patchwright.core.types.errors import AuthenticationError, PermissionDeniedError
from patchwright.integrations.linear.adapter import Linear, connect_linear
from patchwright.integrations.linear.client import LinearClient
from patchwright.integrations.linear.settings import LinearSettings
from patchwright.integrations.linear.tokens import (
    LinearInstallation,
    LinearInstallations,
    LinearOAuth,
    StaticLinearToken,
    authorization,
)
from tests.adapters.linear.conftest import NOON
from tests.fakes.clock import FakeClock
from tests.fakes.linear.fake import CALLBACK, FakeLinear


class Site:
    """A Linear with an administrator, and our app as workspaces install it."""

    def __init__(self, fake: FakeLinear, clock: FakeClock) -> None:
        self.fake, self.clock = fake, clock
        self.admin = fake.add_user("ann", admin=True)
        fake.add_team("ENG")
        self.vault = MemoryVault()
        app = fake.app
        self.settings = LinearSettings.model_validate(
            {
                "api_url": fake.api_url,
                "client_id": app.client_id,
                "client_secret": app.client_secret,
                "workspaces": ["acme"],
            }
        )
        self.oauth = self.client()

    def client(self, secret: str = "") -> LinearOAuth:
        app = self.fake.app
        return LinearOAuth(
            api_url=self.fake.api_url,
            web_url=self.settings.web_url,
            client_id=app.client_id,
            client_secret=SecretStr(secret or app.client_secret),
            redirect_uri=CALLBACK,
        )

    def code(self) -> str:
        """Agree as an administrator would, and return the code."""
        back = self.fake.consent(self.oauth.address("s&t"), self.admin)
        query = parse_qs(urlsplit(back).query)
        assert query["state"] == ["s&t"]
        return query["code"][0]

    def store(self) -> LinearInstallations:
        """Return the installations as one process sees them."""
        return LinearInstallations(self.vault, self.oauth.refresh, self.clock)

    def install(self) -> LinearInstallations:
        answer = self.oauth.exchange(self.code())
        token = StaticLinearToken(answer.access_token)
        own = LinearClient(self.fake.api_url, token, self.clock).identity("")
        store = self.store()
        store.save(
            LinearInstallation(
                workspace=own,
                access_token=answer.access_token,
                refresh_token=answer.refresh_token,
                expires_at=answer.expires_at(self.clock.now()),
            )
        )
        return store

    def linear(self, store: LinearInstallations) -> Linear:
        return connect_linear(self.settings, store, self.clock)

    def refreshes(self) -> int:
        return sum(
            one.path == "/oauth/token" and b"refresh_token" in one.body
            for one in self.fake.requests
        )


@pytest.fixture
def site() -> Iterator[Site]:
    clock = FakeClock(NOON)
    with FakeLinear(clock=clock) as fake:
        yield Site(fake, clock)


def test_a_workspace_gives_us_a_token_of_the_app_itself(site: Site) -> None:
    store = site.install()
    [own] = store.list_all()
    assert (own.url_key, own.is_app) == ("acme", True)
    assert store.find(own.id) == own
    assert store.find("other") is None
    actor = site.linear(store).fetch_identity("acme")
    assert (actor.host, actor.is_bot) == ("acme", True)


def test_a_code_counts_once_and_only_with_our_secret(site: Site) -> None:
    code = site.code()
    with pytest.raises(AuthenticationError):
        site.client("wrong").exchange(code)
    site.oauth.exchange(site.code())
    used = site.code()
    site.oauth.exchange(used)
    with pytest.raises(AuthenticationError, match="Linear says"):
        site.oauth.exchange(used)


def test_a_token_is_renewed_before_it_ends(site: Site) -> None:
    store = site.install()
    first = store.authorization_of("acme")
    site.clock.advance(timedelta(hours=23, minutes=56).total_seconds())
    second = store.authorization_of("acme")
    assert second != first
    assert store.authorization_of("acme") == second
    assert site.refreshes() == 1
    site.linear(store).fetch_identity("acme")


def test_a_token_that_ended_early_is_renewed_and_the_question_repeated(
    site: Site,
) -> None:
    linear = site.linear(site.install())
    site.fake.expire_tokens()
    assert [one.key for one in linear.fetch_teams("acme")] == ["ENG"]
    assert site.refreshes() == 1


def test_two_threads_renew_once(site: Site) -> None:
    store = site.install()
    site.clock.advance(timedelta(days=1).total_seconds())
    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(store.authorization_of, ["acme"] * 4))
    assert len(found) == site.refreshes() == 1


def test_another_process_that_was_first_is_followed(site: Site) -> None:
    one, other = site.install(), site.store()
    stale = site.vault.fetch(one.list_all()[0].id, owner="linear")
    assert stale is not None
    site.clock.advance(timedelta(days=1).total_seconds())
    renewed = one.authorization_of("acme")
    assert other.authorization_of("acme") == renewed
    assert site.refreshes() == 1


def test_an_app_that_was_removed_must_be_installed_again(site: Site) -> None:
    linear = site.linear(site.install())
    site.fake.uninstall()
    with pytest.raises(AuthenticationError):
        linear.fetch_teams("acme")
    with pytest.raises(AuthenticationError, match="not installed in other"):
        linear.fetch_teams("other")


def test_all_scopes_are_needed(site: Site) -> None:
    address = site.oauth.address("s").replace("app%3Aassignable%2C", "")
    back = site.fake.consent(address, site.admin)
    code = parse_qs(urlsplit(back).query)["code"][0]
    with pytest.raises(PermissionDeniedError, match="app:assignable"):
        site.oauth.exchange(code)


def test_a_key_of_a_person_is_sent_as_it_is() -> None:
    assert authorization(SecretStr("lin_api_x")) == "lin_api_x"
    assert authorization(SecretStr("lin_oauth_x")) == "Bearer lin_oauth_x"
