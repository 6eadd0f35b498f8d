"""Whether people can sign in at the provider, each fault with its advice."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from patchwright.core.doctor import CheckResult, CheckStatus
from patchwright.core.system.clock import SystemClock
from tests.adapters.doctor.cases import case_of, examined
from tests.fakes.oidc.provider import Client, FakeOidc, providing
from tests.provision.servers import free_port

HERE = "https://bot.example"
BACK = f"{HERE}/auth/oidc/callback"


@pytest.fixture
def oidc() -> Iterator[FakeOidc]:
    with providing(SystemClock()) as provider:
        provider.clients["us"] = Client("us", "our-secret", [BACK])
        yield provider


def settings_of(oidc: FakeOidc) -> Mapping[str, str]:
    return {
        "SERVER__PUBLIC_URL": HERE,
        "OIDC__ISSUER": oidc.url,
        "OIDC__CLIENT_ID": "us",
        "OIDC__CLIENT_SECRET": "our-secret",
    }


def check(folder: Path, oidc: FakeOidc, **more: str) -> CheckResult:
    return examined("oidc", case_of(folder, **{**settings_of(oidc), **more}))


def test_a_provider_that_knows_us_is_fine(tmp_path: Path, oidc: FakeOidc) -> None:
    told = check(tmp_path, oidc)
    assert told.found == f"{oidc.url} has 1 key, and tells us who signs out"
    assert told.status is CheckStatus.OK


def test_without_a_provider_nothing_is_checked(tmp_path: Path) -> None:
    assert examined("oidc", case_of(tmp_path)).status is CheckStatus.SKIPPED


def test_people_need_an_address_to_come_back(tmp_path: Path, oidc: FakeOidc) -> None:
    told = check(tmp_path, oidc, SERVER__PUBLIC_URL="")
    assert told.found.startswith("server.public_url is not set")


def test_another_name_is_told(tmp_path: Path, oidc: FakeOidc) -> None:
    oidc.calls_itself = "https://sso.example"
    told = check(tmp_path, oidc)
    assert told.status is CheckStatus.FAILED
    assert told.found == (
        f"the provider at {oidc.url} calls itself https://sso.example; set "
        "oidc.issuer to exactly that name"
    )
    assert "/.well-known/openid-configuration" in told.fix


def test_a_provider_that_does_not_work_is_told(tmp_path: Path, oidc: FakeOidc) -> None:
    oidc.is_down = True
    told = check(tmp_path, oidc)
    assert told.found == f"{oidc.url}/.well-known/openid-configuration answered 503"
    gone = f"http://127.0.0.1:{free_port()}"
    nobody = check(tmp_path, oidc, OIDC__ISSUER=gone)
    assert nobody.found == "the provider does not answer (ConnectionError)"


def test_an_address_that_the_client_lacks_is_told(
    tmp_path: Path, oidc: FakeOidc
) -> None:
    there = "https://bot.other/auth/oidc/callback"
    told = check(tmp_path, oidc, SERVER__PUBLIC_URL="https://bot.other")
    assert told.status is CheckStatus.FAILED
    assert told.found == (
        f"the provider does not know oidc.client_id, or the address {there}"
    )
    assert told.fix == f"at the provider, give the client the redirect URI {there}"


def test_a_wrong_secret_is_told(tmp_path: Path, oidc: FakeOidc) -> None:
    told = check(tmp_path, oidc, OIDC__CLIENT_SECRET="of-another-client")
    assert told.status is CheckStatus.FAILED
    assert told.found == "the provider does not accept us (invalid_client)"


def test_a_scope_that_the_provider_lacks_is_told(
    tmp_path: Path, oidc: FakeOidc
) -> None:
    oidc.scopes = {"openid", "profile", "email"}
    told = check(tmp_path, oidc, OIDC__SCOPES='["openid", "groups"]')
    assert told.found == "the provider refuses the sign-in: invalid_scope: groups"
    assert "oidc.scopes" in told.fix


def test_a_provider_without_pkce_is_told(tmp_path: Path, oidc: FakeOidc) -> None:
    oidc.challenge_methods = ["plain"]
    told = check(tmp_path, oidc)
    assert told.status is CheckStatus.WARNING
    assert "PKCE" in told.found


def test_an_address_without_encryption_is_told(tmp_path: Path, oidc: FakeOidc) -> None:
    back = "http://bot.example/auth/oidc/callback"
    oidc.clients["us"].redirect_uris.append(back)
    told = check(tmp_path, oidc, SERVER__PUBLIC_URL="http://bot.example")
    assert told.found == f"{back} is not https: most providers send nobody there"
