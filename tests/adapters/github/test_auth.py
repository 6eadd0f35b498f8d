"""Tokens are minted late, kept while they last, and renewed when refused."""

from datetime import UTC, datetime, timedelta

import pytest
from pydantic import SecretStr

from patchwright.core.system.clock import SystemClock
from patchwright.core.types.errors import (
    AuthenticationError,
    NotFoundError,
    SettingsError,
)
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.github.adapter import GitHub, connect_app, connect_token
from patchwright.integrations.github.auth import InstallationToken, MemoryTokenCache
from patchwright.integrations.github.connection import locate
from tests.adapters.github.conftest import APP_ID, SHOP, AppKey, connect, issue_ref
from tests.fakes.github.acts import accounts
from tests.fakes.github.fake import FakeGitHub


def minted(fake: FakeGitHub) -> int:
    return sum(seen.path.endswith("/access_tokens") for seen in fake.requests)


def test_installation_token_serves_many_calls(fake: FakeGitHub, as_app: GitHub) -> None:
    for _ in range(3):
        as_app.forge.fetch_repository(SHOP)
    assert minted(fake) == 1


def test_token_in_a_shared_cache_is_used(
    fake: FakeGitHub, as_app: GitHub, app: AppKey, cache: MemoryTokenCache
) -> None:
    as_app.forge.fetch_repository(SHOP)
    kept = cache.fetch(f"github-installation-{app.installation}")
    assert kept is not None
    assert kept.expires_at > datetime.now(UTC)  # noqa: TID251 - the fake's clock is real
    as_app.forge.fetch_repository(SHOP)
    assert minted(fake) == 1


def test_token_about_to_run_out_is_not_used_any_more(
    fake: FakeGitHub, as_app: GitHub, app: AppKey, cache: MemoryTokenCache
) -> None:
    soon = SystemClock().now() + timedelta(minutes=4)
    nearly_gone = InstallationToken(token=SecretStr("ghs_old"), expires_at=soon)
    cache.put(f"github-installation-{app.installation}", nearly_gone)
    as_app.forge.fetch_repository(SHOP)
    assert [seen.status for seen in fake.requests if seen.status == 401] == []
    assert minted(fake) == 1


def test_s22_an_expired_token_is_renewed_and_the_write_is_done_once(
    fake: FakeGitHub, as_app: GitHub, app: AppKey, cache: MemoryTokenCache
) -> None:
    number = fake.open_issue("acme/shop", "ann", "Wrong sum", "")
    as_app.forge.fetch_repository(SHOP)
    kept = cache.fetch(f"github-installation-{app.installation}")
    assert kept is not None
    accounts.expire_token(fake.world, kept.token.get_secret_value())
    as_app.channel.post(issue_ref(number), "Done")
    assert [c.body for c in fake.comments("acme/shop", number)] == ["Done"]
    assert minted(fake) == 2


def test_s22_a_permanent_refusal_is_not_retried_for_ever(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    refused = {"message": "Bad credentials"}
    fake.fail_next("GET", r"/repos/acme/shop$", 401, body=refused, times=9)
    with pytest.raises(AuthenticationError, match="Bad credentials"):
        as_app.forge.fetch_repository(SHOP)
    assert [s.status for s in fake.requests if s.path.endswith("/shop")] == [401, 401]


def test_s22_git_gets_a_new_credential_each_time(as_app: GitHub) -> None:
    first = as_app.forge.mint_credential(SHOP)
    second = as_app.forge.mint_credential(SHOP)
    assert first.username == "x-access-token"
    assert first.token != second.token


def test_repository_without_our_app_is_not_found(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    fake.add_repository("acme/other")
    with pytest.raises(NotFoundError):
        as_app.forge.fetch_repository(RepoRef(forge="github", full_name="acme/other"))


def test_app_that_was_installed_anew_is_found_again(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    as_app.forge.fetch_repository(SHOP)
    gone = {"message": "Not Found"}
    fake.fail_next("POST", r"/access_tokens$", 404, body=gone)
    with pytest.raises(NotFoundError):
        as_app.forge.mint_credential(SHOP)
    as_app.forge.mint_credential(SHOP)
    lookups = [s for s in fake.requests if s.path.endswith("/shop/installation")]
    assert len(lookups) == 2


def test_app_knows_who_it_is(as_app: GitHub) -> None:
    bot = Actor(service="github", login="patchwright[bot]", is_bot=True)
    assert as_app.fetch_identity() == bot


def test_person_knows_who_they_are(as_user: GitHub) -> None:
    assert as_user.fetch_identity() == Actor(service="github", login="robot")


def test_s12_a_token_of_actions_works_although_its_user_is_unknown(
    fake: FakeGitHub,
) -> None:
    number = fake.open_issue("acme/shop", "ann", "Wrong sum", "")
    token = fake.mint_actions_token("acme/shop", {"issues": "write"})
    github = connect(fake, token)
    fake.fail_next("POST", r"/graphql$", 403, times=2)
    try:
        assert github.fetch_identity() is None
        post = github.channel.post(issue_ref(number), "Queued <!-- run=1 -->")
        assert github.channel.find_post(issue_ref(number), "run=1") == post
    finally:
        github.close()


def test_a_token_of_an_installation_knows_whose_it_is(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    minted_token = as_app.forge.mint_credential(SHOP)
    for token, login in (
        (minted_token.token.get_secret_value(), "patchwright[bot]"),
        (fake.mint_actions_token("acme/shop", {}), "github-actions[bot]"),
    ):
        github = connect(fake, token)
        try:
            bot = Actor(service="github", login=login, is_bot=True)
            assert github.fetch_identity() == bot
        finally:
            github.close()


def test_s12_no_call_asks_for_the_tokens_user_before_work(
    fake: FakeGitHub, as_user: GitHub
) -> None:
    as_user.forge.fetch_repository(SHOP)
    assert [seen.path for seen in fake.requests] == ["/repos/acme/shop"]


def test_s13_wrong_token_is_an_authentication_error(fake: FakeGitHub) -> None:
    github = connect(fake, "**********")
    try:
        with pytest.raises(AuthenticationError, match="acme/shop"):
            github.forge.fetch_repository(SHOP)
    finally:
        github.close()


@pytest.mark.parametrize("pem", ["", "no key", "-----BEGIN RSA PRIVATE KEY-----\n"])
def test_s13_an_invalid_private_key_is_a_wrong_setting(pem: str) -> None:
    with pytest.raises(SettingsError, match=r"github\.private_key"):
        connect_app(
            locate(),
            str(APP_ID),
            SecretStr(pem),
            cache=MemoryTokenCache(),
            clock=SystemClock(),
        )


def test_s13_empty_token_is_a_wrong_setting() -> None:
    with pytest.raises(SettingsError, match=r"github\.token is empty"):
        connect_token(locate(), SecretStr(""), clock=SystemClock())
