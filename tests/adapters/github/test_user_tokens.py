"""Act for a person: tokens that are renewed, and the repositories they reach."""

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
import responses
from pydantic import SecretStr

from patchwright.core.text.strings import rank_names
from patchwright.core.types.errors import (
    AuthenticationError,
    ServiceError,
    ServiceUnavailableError,
)
from patchwright.core.types.people import Actor, PersonalToken
from patchwright.integrations.github.connection import Addresses, GitHubConnection
from patchwright.integrations.github.sign_in import (
    SignIn,
    UserTokens,
    fetch_readable_repositories,
)
from tests.adapters.github.conftest import APP_ID, addresses_of
from tests.fakes.clock import FakeClock
from tests.fakes.github.acts.registrations import add_client
from tests.fakes.github.acts.sign_ins import revoke_grants, sit_down
from tests.fakes.github.contract import Contract
from tests.fakes.github.fake import FakeGitHub

BACK = "https://bot.example.com/auth/github/callback"
VERIFIER = "v" * 64


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def github(clock: FakeClock) -> Iterator[FakeGitHub]:
    with FakeGitHub(clock=clock, contract=Contract.from_corpus()) as github:
        for name in ("acme/shop", "acme/shop-api", "acme/workshop", "acme/secret"):
            github.add_repository(name, private=True, files={"a.py": "1\n"})
        github.add_user("ann")
        for name in ("acme/shop", "acme/shop-api", "acme/workshop"):
            github.grant(name, "ann", "write")
        github.add_app(APP_ID, "patchwright", "hook-secret")
        github.install_app(APP_ID, "acme", ["shop", "workshop", "secret"])
        sit_down(github.world, "ann")
        yield github


@pytest.fixture
def signing_in(github: FakeGitHub, clock: FakeClock) -> SignIn:
    client = add_client(github.world, APP_ID, [BACK])
    return SignIn(
        connection=GitHubConnection(addresses_of(github)),
        client_id=client.client_id,
        client_secret=SecretStr(client.client_secret),
        redirect_uri=BACK,
        clock=clock,
    )


def return_from_forge(signing_in: SignIn) -> tuple[Actor, PersonalToken]:
    answer = httpx.get(signing_in.address("state", VERIFIER))
    query = parse_qs(urlsplit(answer.headers["location"]).query)
    return signing_in.fetch_grant(query["code"][0], VERIFIER)


def renew(signing_in: SignIn, grant: PersonalToken) -> PersonalToken:
    assert grant.refresh_token
    return signing_in.tokens.renew(grant.refresh_token)


def read(
    github: FakeGitHub, grant: PersonalToken, clock: FakeClock, query: str = ""
) -> tuple[str, ...]:
    connection = GitHubConnection(addresses_of(github))
    return fetch_readable_repositories(
        connection, grant.access_token, query, clock=clock
    )


def test_a_grant_says_who_it_is_from_and_how_long_it_counts(
    signing_in: SignIn, github: FakeGitHub, clock: FakeClock
) -> None:
    person, grant = return_from_forge(signing_in)
    assert person == Actor(
        service="github", login="ann", external_id=str(github.world.user("ann").id)
    )
    assert grant.expires_at
    assert (grant.expires_at - clock.now()).total_seconds() == 8 * 3600
    assert grant.access_token.get_secret_value() not in repr(grant)


def test_a_renewed_grant_takes_the_place_of_the_old_one(
    signing_in: SignIn, github: FakeGitHub, clock: FakeClock
) -> None:
    _, old = return_from_forge(signing_in)
    new = renew(signing_in, old)
    assert new.access_token != old.access_token
    assert read(github, new, clock)
    with pytest.raises(AuthenticationError):
        read(github, old, clock)
    with pytest.raises(AuthenticationError, match="bad_refresh_token"):
        renew(signing_in, old)


def test_what_a_person_took_back_is_not_renewed(
    signing_in: SignIn, github: FakeGitHub
) -> None:
    _, grant = return_from_forge(signing_in)
    revoke_grants(github.world, APP_ID, "ann")
    with pytest.raises(AuthenticationError):
        renew(signing_in, grant)


def test_a_wrong_secret_of_our_own_is_not_the_persons_fault(
    signing_in: SignIn,
) -> None:
    _, grant = return_from_forge(signing_in)
    wrong = replace(signing_in, client_secret=SecretStr("wrong"))
    with pytest.raises(ServiceError, match="incorrect_client_credentials") as refusal:
        renew(wrong, grant)
    assert not isinstance(refusal.value, AuthenticationError)


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (400, '{"error": "bad_refresh_token"}', AuthenticationError),
        (400, '{"error": "invalid_grant"}', AuthenticationError),
        (500, '{"message": "Server Error"}', ServiceUnavailableError),
        (502, "<html>", ServiceUnavailableError),
        (404, '{"message": "Not Found"}', ServiceError),
        (200, '{"error": "slow_down"}', ServiceError),
        (200, '["what?"]', ServiceError),
        (200, "<html>", ServiceError),
    ],
)
def test_only_a_worthless_token_is_said_to_be_one(
    clock: FakeClock, status: int, body: str, error: type[ServiceError]
) -> None:
    web, kind = "https://github.example", {"Content-Type": "application/json"}
    connection = GitHubConnection(Addresses(api_url=f"{web}/api/v3", web_url=web))
    tokens = UserTokens(connection, "client", SecretStr("secret"), clock)
    with responses.RequestsMock() as answers:
        place = f"{web}/login/oauth/access_token"
        answers.post(place, body, status=status, headers=kind)
        with pytest.raises(ServiceError) as refusal:
            tokens.renew(SecretStr("old"))
    assert type(refusal.value) is error


def test_a_person_chooses_from_what_they_and_the_app_can_reach(
    signing_in: SignIn, github: FakeGitHub, clock: FakeClock
) -> None:
    _, grant = return_from_forge(signing_in)
    assert read(github, grant, clock) == ("acme/shop", "acme/workshop")
    assert read(github, grant, clock, "SHOP") == ("acme/shop", "acme/workshop")
    assert read(github, grant, clock, "work") == ("acme/workshop",)
    assert read(github, grant, clock, "secret") == ()


def test_with_an_oauth_app_it_is_all_that_they_can_reach(
    signing_in: SignIn, github: FakeGitHub, clock: FakeClock
) -> None:
    github.world.registry.oauth_apps.add(APP_ID)
    _, grant = return_from_forge(signing_in)
    assert (grant.expires_at, grant.refresh_token) == (None, None)
    assert read(github, grant, clock) == (
        "acme/shop",
        "acme/shop-api",
        "acme/workshop",
    )


def test_every_page_of_an_installation_is_read(
    signing_in: SignIn, github: FakeGitHub, clock: FakeClock
) -> None:
    names = [f"r{number:03}" for number in range(120)]
    for name in names:
        github.add_repository(f"many/{name}", private=True)
        github.grant(f"many/{name}", "ann", "read")
    github.install_app(APP_ID, "many", names)
    _, grant = return_from_forge(signing_in)
    assert read(github, grant, clock, "r119") == ("many/r119",)
    assert len(read(github, grant, clock, "many/")) == 100


def test_the_likeliest_name_comes_first() -> None:
    names = ("acme/workshop", "acme/shop-api", "acme/shop", "shop/other")
    assert rank_names(names, " Shop ") == (
        "acme/shop",
        "acme/shop-api",
        "shop/other",
        "acme/workshop",
    )
    assert rank_names(names, "nothing") == ()
