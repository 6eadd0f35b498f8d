"""People sign in with GitLab, below a path and behind an authority of its own."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Event
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
import responses
from pydantic import SecretStr

from patchwright.core.types.errors import (
    AuthenticationError,
    RateLimitedError,
    ServiceError,
    ServiceUnavailableError,
)
from patchwright.core.types.people import Actor, PersonalToken
from patchwright.integrations.gitlab.settings import GitLabSettings
from patchwright.integrations.gitlab.sign_in import GitLabAccounts, GitLabSignIn
from patchwright.integrations.http.oauth import OAuthAddresses, OAuthClient
from tests.fakes.clock import FakeClock
from tests.fakes.gitlab.fake import FakeGitLab
from tests.fakes.gitlab.oauth import revoke_grants
from tests.fakes.gitlab.site import Place
from tests.fakes.gitlab.state import Level, Visibility
from tests.fakes.tls import Authority, make_authority

BACK = "https://bot.example.com/auth/gitlab/callback"
VERIFIER = "v" * 64


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return make_authority(tmp_path, "corp")


@pytest.fixture
def gitlab(clock: FakeClock, authority: Authority) -> Iterator[FakeGitLab]:
    place = Place(prefix="/gitlab", authority=authority)
    with FakeGitLab(place, clock=clock) as gitlab:
        gitlab.add_user("ann")
        for name in ("group/shop", "group/sub/shop-api", "group/workshop", "other/x"):
            gitlab.add_project(name, visibility=Visibility.PRIVATE)
        gitlab.grant("group", "ann", Level.REPORTER)
        gitlab.sit_down("ann")
        yield gitlab


@pytest.fixture
def accounts(
    gitlab: FakeGitLab, clock: FakeClock, authority: Authority
) -> GitLabAccounts:
    client = gitlab.add_client([BACK], ["read_api"])
    settings = GitLabSettings.model_validate(
        {
            "base_url": gitlab.base_url,
            "ca_bundle": str(authority.bundle),
            "client_id": client.client_id,
            "client_secret": client.client_secret,
        }
    )
    return GitLabAccounts(settings, clock)


@pytest.fixture
def signing_in(accounts: GitLabAccounts) -> GitLabSignIn:
    return accounts.sign_in(BACK)


def press(signing_in: GitLabSignIn, authority: Authority, state: str = "word") -> str:
    """Do what a person's browser does; return the code that it comes back with."""
    address = urlsplit(signing_in.address(state, VERIFIER))
    fields = {key: value[0] for key, value in parse_qs(address.query).items()}
    place = address._replace(query="").geturl()
    answer = requests.post(
        place,
        data={**fields, "commit": "Authorize"},
        verify=str(authority.bundle),
        allow_redirects=False,
        timeout=10,
    )
    back = urlsplit(answer.headers["location"])
    query = parse_qs(back.query)
    assert back._replace(query="").geturl() == BACK
    assert query["state"] == [state]
    return query["code"][0]


def grant_of(signing_in: GitLabSignIn, authority: Authority) -> PersonalToken:
    _, grant = signing_in.fetch_grant(press(signing_in, authority), VERIFIER)
    return grant


def renew(accounts: GitLabAccounts, grant: PersonalToken) -> PersonalToken:
    assert grant.refresh_token
    return accounts.renew(grant.refresh_token)


def test_s15_sign_in_goes_to_the_one_root_with_its_path_and_authority(
    signing_in: GitLabSignIn, gitlab: FakeGitLab
) -> None:
    address = urlsplit(signing_in.address("word", VERIFIER))
    assert address.path == "/gitlab/oauth/authorize"
    assert signing_in.address("word", VERIFIER).startswith(gitlab.base_url)
    query = parse_qs(address.query)
    assert query["code_challenge_method"] == ["S256"]
    assert query["scope"] == ["read_api"]
    assert VERIFIER not in address.query


def test_grant_says_who_it_is_from_and_how_long_it_counts(
    signing_in: GitLabSignIn, gitlab: FakeGitLab, clock: FakeClock, authority: Authority
) -> None:
    person, grant = signing_in.fetch_grant(press(signing_in, authority), VERIFIER)
    assert person == Actor(
        service="gitlab", login="ann", external_id=str(gitlab.world.user("ann").id)
    )
    assert grant.expires_at
    assert grant.expires_at - clock.now() == timedelta(hours=2)
    assert grant.access_token.get_secret_value() not in repr(grant)


def test_code_counts_once_and_for_its_own_verifier(
    signing_in: GitLabSignIn, authority: Authority
) -> None:
    code = press(signing_in, authority)
    with pytest.raises(AuthenticationError, match="does not accept the code"):
        signing_in.fetch_person(code, "w" * 64)
    code = press(signing_in, authority)
    signing_in.fetch_person(code, VERIFIER)
    with pytest.raises(AuthenticationError, match="does not accept the code"):
        signing_in.fetch_person(code, VERIFIER)


def test_renewed_grant_takes_the_place_of_the_old_one(
    signing_in: GitLabSignIn, accounts: GitLabAccounts, authority: Authority
) -> None:
    old = grant_of(signing_in, authority)
    new = renew(accounts, old)
    assert accounts.is_valid(new.access_token)
    assert not accounts.is_valid(old.access_token)
    with pytest.raises(AuthenticationError, match="does not renew the token"):
        renew(accounts, old)


def test_what_a_person_took_back_is_not_renewed(
    signing_in: GitLabSignIn,
    accounts: GitLabAccounts,
    gitlab: FakeGitLab,
    authority: Authority,
) -> None:
    grant = grant_of(signing_in, authority)
    revoke_grants(gitlab.world, "ann")
    assert not accounts.is_valid(grant.access_token)
    with pytest.raises(AuthenticationError):
        renew(accounts, grant)


def test_revoked_token_counts_no_more(
    signing_in: GitLabSignIn, accounts: GitLabAccounts, authority: Authority
) -> None:
    grant = grant_of(signing_in, authority)
    signing_in.oauth.revoke(grant.access_token)
    signing_in.oauth.revoke(grant.access_token)
    assert not accounts.is_valid(grant.access_token)


def test_wrong_secret_of_our_own_is_not_the_persons_fault(
    signing_in: GitLabSignIn, authority: Authority
) -> None:
    grant = grant_of(signing_in, authority)
    assert grant.refresh_token
    wrong = replace(signing_in.oauth, client_secret=SecretStr("wrong"))
    with pytest.raises(ServiceError, match=r"gitlab\.client_secret") as refusal:
        wrong.renew(grant.refresh_token)
    assert not isinstance(refusal.value, AuthenticationError)


def test_authority_that_is_not_trusted_is_named(
    accounts: GitLabAccounts,
) -> None:
    settings = accounts.settings.replace(ca_bundle="")
    alone = replace(accounts, settings=settings)
    for ask in (
        lambda: alone.renew(SecretStr("x")),
        lambda: alone.is_valid(SecretStr("x")),
    ):
        with pytest.raises(ServiceError, match=r"set gitlab\.ca_bundle"):
            ask()


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ("group/shop", "group/sub/shop-api", "group/workshop")),
        ("shop", ("group/shop", "group/sub/shop-api", "group/workshop")),
        (" SHOP-", ("group/sub/shop-api",)),
        ("group/sub", ("group/sub/shop-api",)),
        ("x", ()),
    ],
)
def test_projects_are_those_of_the_person(
    signing_in: GitLabSignIn,
    accounts: GitLabAccounts,
    authority: Authority,
    *,
    query: str,
    found: tuple[str, ...],
) -> None:
    grant = grant_of(signing_in, authority)
    assert accounts.fetch_readable(grant.access_token, query) == found


TOKEN = "https://service.example/oauth/token"


def bare_client(clock: FakeClock, renewal_s: float = 10) -> OAuthClient:
    return OAuthClient(
        title="Service",
        section="service",
        addresses=OAuthAddresses("https://service.example/oauth/authorize", TOKEN, ""),
        client_id="id",
        client_secret=SecretStr("gloas-1"),
        scope="read",
        clock=clock,
        renewal_s=renewal_s,
    )


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (400, '{"error": "invalid_grant"}', AuthenticationError),
        (401, '{"error": "invalid_grant"}', AuthenticationError),
        (401, '{"error": "invalid_client"}', ServiceError),
        (429, "Retry later", RateLimitedError),
        (500, '{"message": "500"}', ServiceUnavailableError),
        (502, "<html>", ServiceUnavailableError),
        (404, '{"message": "Not Found"}', ServiceError),
        (200, '{"error": "slow_down"}', ServiceError),
        (200, '["what?"]', ServiceError),
        (302, "", ServiceError),
    ],
)
def test_refusal_says_who_can_help(
    status: int, body: str, error: type[ServiceError], clock: FakeClock
) -> None:
    with responses.RequestsMock() as answers:
        answers.post(TOKEN, body, status=status)
        with pytest.raises(ServiceError) as refused:
            bare_client(clock).renew(SecretStr("old"))
    assert type(refused.value) is error
    assert "gloas-1" not in str(refused.value)


def test_slow_renewal_is_given_up(clock: FakeClock) -> None:
    def never(_request: object) -> tuple[int, Mapping[str, str], str]:
        over.wait(10)
        return 200, {}, "{}"

    over = Event()
    with responses.RequestsMock(assert_all_requests_are_fired=False) as answers:
        answers.add_callback("POST", TOKEN, never)
        with pytest.raises(ServiceUnavailableError, match=r"within 0\.1 s"):
            bare_client(clock, renewal_s=0.1).renew(SecretStr("old"))
        over.set()
