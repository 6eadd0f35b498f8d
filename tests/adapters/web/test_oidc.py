"""People sign in at an OpenID provider, add who they are on GitHub, and sign out."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import jwt
import pytest

from patchwright.workers.accounts.principal import Role
from tests.adapters.web.accounts_scene import Scene, accounts_scene
from tests.adapters.web.browser import browsing, go_on, text_of
from tests.fakes.github.acts.sign_ins import sit_down
from tests.fakes.oidc.provider import FakeOidc, SigningKey

WRONG_BROWSER = "This sign-in did not start in this browser"
FAILED = "The sign-in did not work"


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    with accounts_scene(tmp_path) as made:
        made.oidc.add_person("bob", email="bob@acme.test")
        yield made


def add_github(scene: Scene, login: str) -> httpx.Response:
    """Press the button that adds a GitHub identity; return where that ends."""
    scene.github.add_user(login)
    sit_down(scene.github.world, login)
    page = scene.get("/account").text
    address = page.partition('href="/auth/github/login?add=')[2].partition('"')[0]
    begun = scene.get(f"/auth/github/login?add={address}")
    return go_on(scene.browser, go_on(scene.browser, begun))


def refused(answer: httpx.Response) -> str:
    return text_of(answer).partition("\n")[0]


def test_somebody_signs_in(scene: Scene) -> None:
    answer = scene.by_oidc("bob")
    assert text_of(answer) == (
        "You are signed in\nYou are bob on Acme SSO.\nGo to the start page"
    )
    seen = scene.whoami()
    assert (seen["name"], seen["role"], seen["identity"]) == ("bob", "member", "")


def test_both_ways_are_offered(scene: Scene) -> None:
    page = scene.get("/auth?next=/account").text
    assert 'href="/auth/github/login?next=%2Faccount">Sign in with GitHub<' in page
    assert 'href="/auth/oidc/login?next=%2Faccount">Sign in with Acme SSO<' in page
    assert "evil" not in scene.get("/auth?next=//evil.example").text


def test_what_we_ask_the_provider_for(scene: Scene) -> None:
    sent = scene.get("/auth/oidc/login").headers["location"]
    query = {k: v[0] for k, v in parse_qs(urlsplit(sent).query).items()}
    assert query["scope"] == "openid profile email"
    assert query["code_challenge_method"] == "S256"
    assert query["response_type"] == "code"
    assert len(query["nonce"]) == 43
    assert len(query["state"]) == 43


def test_who_they_are_on_github_is_added(scene: Scene) -> None:
    scene.by_oidc("bob")
    answer = add_github(scene, "bobby")
    assert answer.headers["location"] == "/account?done=added"
    seen = scene.whoami()
    assert (seen["name"], seen["identity"]) == ("bobby", "bobby")
    with browsing() as other:
        scene.by_github("bobby", other)
        assert scene.whoami(other)["account"] == seen["account"]


def test_two_accounts_of_one_person_become_one(scene: Scene) -> None:
    with browsing() as other:
        scene.by_github("bobby", other)
        before = scene.whoami(other)["account"]
        scene.by_oidc("bob")
        add_github(scene, "bobby")
        # The account that is known on GitHub is the one that stays.
        assert scene.whoami()["account"] == before
        assert scene.whoami(other)["account"] == before


def test_a_viewer_does_not_get_around_that_with_a_second_account(scene: Scene) -> None:
    scene.by_github("bobby")
    parts = scene.parts
    assert parts is not None
    [bobby] = parts.people.find_all("bobby")
    parts.people.set_role(bobby.id, Role.VIEWER, "test")
    scene.by_oidc("bob")
    assert scene.whoami()["role"] == "member"
    add_github(scene, "bobby")
    assert scene.whoami()["role"] == "viewer"
    answer = scene.get("/account")
    assert "/account/identities/unlink" not in answer.text


def test_an_account_is_not_two_people_on_github(scene: Scene) -> None:
    with browsing() as other:
        scene.by_oidc("bob", other)
    scene.by_oidc("bob")
    add_github(scene, "bobby")
    page = scene.get("/account").text
    assert "/auth/github/login?add=" not in page
    check = scene.form("/account", "/account/tokens").fields["check"]
    scene.github.add_user("carol")
    sit_down(scene.github.world, "carol")
    begun = scene.get(f"/auth/github/login?add={check}")
    answer = go_on(scene.browser, go_on(scene.browser, begun))
    assert (answer.status_code, refused(answer)) == (409, "Nothing was added")
    assert scene.whoami()["identity"] == "bobby"


def test_an_identity_is_added_by_our_own_page_alone(scene: Scene) -> None:
    scene.by_oidc("bob")
    answer = scene.get("/auth/github/login?add=forged")
    assert (answer.status_code, refused(answer)) == (403, "Nothing was added")


def test_an_identity_is_removed_and_its_sessions_end(scene: Scene) -> None:
    scene.by_oidc("bob")
    add_github(scene, "bobby")
    with browsing() as other:
        scene.by_github("bobby", other)
        parts = scene.parts
        assert parts is not None
        [account] = parts.people.find_all("bobby")
        (of_github,) = [one for one in account.identities if one.service == "github"]
        answer = scene.send("/account", "/account/identities/unlink", id=of_github.id)
        assert answer.headers["location"] == "/account?done=unlinked"
        assert scene.whoami(other) == {}
        assert scene.whoami()["identity"] == ""


def test_the_state_of_another_browser_is_refused(scene: Scene) -> None:
    back = scene.leave_for_oidc("bob").headers["location"]
    with browsing() as other:
        answer = other.get(back)
        assert (answer.status_code, refused(answer)) == (400, WRONG_BROWSER)
        assert scene.whoami(other) == {}


def test_a_code_of_another_person_is_refused(scene: Scene) -> None:
    """An attacker's code in the victim's browser would sign the victim in as them."""
    scene.oidc.add_person("mallory")
    with browsing() as attacker:
        theirs = scene.leave_for_oidc("mallory", attacker).headers["location"]
    code = parse_qs(urlsplit(theirs).query)["code"][0]
    begun = scene.get("/auth/oidc/login").headers["location"]
    state = parse_qs(urlsplit(begun).query)["state"][0]
    answer = scene.get(f"/auth/oidc/callback?code={code}&state={state}")
    assert (answer.status_code, refused(answer)) == (401, FAILED)
    assert scene.whoami() == {}


def test_another_provider_does_not_answer_for_ours(scene: Scene) -> None:
    back = scene.leave_for_oidc("bob").headers["location"]
    other = httpx.URL(back).copy_set_param("iss", "https://evil.example")
    answer = scene.browser.get(other)
    assert (answer.status_code, refused(answer)) == (400, WRONG_BROWSER)


def _unsigned(_oidc: FakeOidc, claims: dict[str, Any]) -> str:
    return jwt.encode(claims, "", "none")


def _by_public_key(oidc: FakeOidc, claims: dict[str, Any]) -> str:
    """Sign with the public key as if it were a secret."""
    head = jwt.utils.base64url_encode(
        json.dumps({"alg": "HS256", "typ": "JWT", "kid": oidc.key.kid}).encode()
    )
    body = jwt.utils.base64url_encode(json.dumps(claims).encode())
    text = head + b"." + body
    digest = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256)
    return (
        text
        + b"."
        + jwt.utils.base64url_encode(digest.sign(text, oidc.key.public_pem()))
    ).decode()


def _by_other_key(oidc: FakeOidc, claims: dict[str, Any]) -> str:
    other = SigningKey.new()
    other.kid = oidc.key.kid
    return oidc.sign(claims, other)


@pytest.mark.parametrize("forge", [_unsigned, _by_public_key, _by_other_key])
def test_a_forged_word_of_the_provider_signs_nobody_in(
    scene: Scene, forge: Callable[[FakeOidc, dict[str, Any]], str]
) -> None:
    scene.oidc.forge_token = lambda claims: forge(scene.oidc, claims)
    answer = scene.by_oidc("bob")
    assert (answer.status_code, refused(answer)) == (401, FAILED)
    assert "is not signed by the provider" in text_of(answer)
    assert scene.whoami() == {}


@pytest.mark.parametrize(
    "change",
    [
        {"aud": "another-client"},
        {"iss": "https://evil.example"},
        {"nonce": "of another browser"},
        {"exp": 1_000_000},
        {"sub": ""},
        {"azp": "another-client"},
    ],
)
def test_a_word_that_is_not_for_us_signs_nobody_in(
    scene: Scene, change: dict[str, Any]
) -> None:
    scene.oidc.change_claims = lambda claims: claims.update(change)
    answer = scene.by_oidc("bob")
    assert (answer.status_code, refused(answer)) == (401, FAILED)
    assert scene.whoami() == {}


def test_a_new_key_of_the_provider_is_fetched(scene: Scene) -> None:
    scene.by_oidc("bob")
    scene.clock.advance(60)
    scene.oidc.key = SigningKey.new()
    with browsing() as other:
        scene.by_oidc("bob", other)
        assert scene.whoami(other)["name"] == "bob"


def test_a_provider_that_does_not_answer_is_named(scene: Scene) -> None:
    scene.oidc.is_down = True
    answer = scene.get("/auth/oidc/login")
    assert answer.status_code == 502
    assert text_of(answer).startswith(f"{FAILED}\nAcme SSO did not say who you are: ")


def test_a_provider_with_another_name_is_refused(scene: Scene) -> None:
    scene.oidc.calls_itself = "https://evil.example"
    answer = scene.get("/auth/oidc/login")
    assert answer.status_code == 401
    assert "set oidc.issuer to exactly that name" in text_of(answer)


def test_a_group_makes_admins_and_leaving_it_unmakes_them(tmp_path: Path) -> None:
    with accounts_scene(tmp_path, oidc__admin_group="operators") as scene:
        bob = scene.oidc.add_person("bob", groups=["operators"])
        scene.by_oidc("bob")
        assert scene.whoami()["role"] == "admin"
        bob.groups = []
        scene.by_oidc("bob")
        assert scene.whoami()["role"] == "member"


@pytest.mark.parametrize(("is_verified", "role"), [(True, "admin"), (False, "member")])
def test_only_a_verified_address_makes_an_admin(
    tmp_path: Path,
    is_verified: bool,  # noqa: FBT001 - a parameter of the test
    role: str,
) -> None:
    names = '["oidc:root@acme.test"]'
    with accounts_scene(tmp_path, accounts__admins=names) as scene:
        # Nor does a name that people choose themselves.
        scene.oidc.add_person(
            "root@acme.test", email="root@acme.test", email_verified=is_verified
        )
        scene.by_oidc("root@acme.test")
        assert scene.whoami()["role"] == role


def test_what_a_token_lacks_is_asked_for(tmp_path: Path) -> None:
    with accounts_scene(tmp_path, oidc__admin_group="operators") as scene:
        scene.oidc.is_terse = True
        scene.oidc.add_person("bob", email="bob@acme.test", groups=["operators"])
        scene.by_oidc("bob")
        seen = scene.whoami()
        assert (seen["name"], seen["role"]) == ("bob", "admin")
        assert "bob@acme.test" in scene.get("/account").text


def test_the_word_of_a_token_counts_more_than_what_is_told(scene: Scene) -> None:
    scene.oidc.add_person("carol")
    scene.oidc.change_userinfo = lambda told: told.update(preferred_username="root")
    # Her token has a name, but no address, for which the provider is asked.
    scene.by_oidc("carol")
    assert scene.whoami()["name"] == "carol"


def test_what_is_told_of_another_person_signs_nobody_in(scene: Scene) -> None:
    scene.oidc.is_terse = True
    scene.oidc.change_userinfo = lambda told: told.update(sub="sub-of-another")
    answer = scene.by_oidc("bob")
    assert (answer.status_code, refused(answer)) == (401, FAILED)
    assert "told of another person" in text_of(answer)
    assert scene.whoami() == {}


def test_nobody_signs_in_where_the_provider_does_not_tell_the_rest(
    scene: Scene,
) -> None:
    scene.oidc.is_terse = True
    scene.oidc.change_claims = lambda _claims: scene.oidc.access_tokens.clear()
    answer = scene.by_oidc("bob")
    assert (answer.status_code, refused(answer)) == (502, FAILED)
    assert "/userinfo answered 401" in text_of(answer)
    assert scene.whoami() == {}


def test_an_address_is_verified_by_whoever_names_it(tmp_path: Path) -> None:
    names = '["oidc:root@acme.test"]'
    with accounts_scene(tmp_path, accounts__admins=names) as scene:
        scene.oidc.is_terse = True
        scene.oidc.add_person("mallory", email="mallory@acme.test")
        scene.oidc.change_claims = lambda claims: claims.update(email="root@acme.test")
        scene.by_oidc("mallory")
        assert scene.whoami()["role"] == "member"


def test_signing_out_leads_to_the_providers_own(scene: Scene) -> None:
    scene.by_oidc("bob")
    out = scene.browser.post(f"{scene.url}/auth/logout")
    assert text_of(out) == (
        "You are signed out\nYou can close this page.\nSign out of Acme SSO too\n"
        "Sign in with GitHub\nSign in with Acme SSO"
    )
    assert scene.whoami() == {}
    address = out.text.partition(f'href="{scene.oidc.url}/logout')[2].partition('"')[0]
    there = scene.browser.get(f"{scene.oidc.url}/logout{address.replace('&amp;', '&')}")
    assert there.headers["location"] == f"{scene.url}/auth"
    assert scene.oidc.sessions == {}


def test_the_provider_ends_our_session(scene: Scene) -> None:
    scene.by_oidc("bob")
    (sid,) = scene.oidc.sessions
    with browsing() as other:
        scene.by_oidc("bob", other)
        assert scene.oidc.tell_logout(sid, "sub-bob") == [200]
        # Only the session that has ended there.
        assert scene.whoami() == {}
        assert scene.whoami(other)["name"] == "bob"


def test_the_provider_ends_all_sessions_of_a_person(scene: Scene) -> None:
    scene.oidc.add_person("carol")
    scene.by_oidc("bob")
    with browsing() as other:
        scene.by_oidc("carol", other)
        claims = scene.oidc.logout_claims("us", sub="sub-bob")
        assert _tell(scene, claims).status_code == 200
        assert scene.whoami() == {}
        assert scene.whoami(other)["name"] == "carol"


def test_a_logout_token_counts_once(scene: Scene) -> None:
    claims = scene.oidc.logout_claims("us", sub="sub-bob")
    assert _tell(scene, claims).status_code == 200
    scene.by_oidc("bob")
    again = _tell(scene, claims)
    assert (again.status_code, again.json()) == (
        400,
        {
            "error": "invalid_request",
            "error_description": "the logout token was already used",
        },
    )
    assert scene.whoami()["name"] == "bob"


@pytest.mark.parametrize(
    "change",
    [
        {"aud": "another-client"},
        {"iss": "https://evil.example"},
        {"events": {}},
        {"events": {"http://schemas.openid.net/event/backchannel-logout": "yes"}},
        {"nonce": "an ID token is no logout token"},
        {"sub": ""},
        {"iat": 1_000_000, "exp": 1_000_100},
        {"jti": None},
    ],
)
def test_a_wrong_logout_token_ends_nothing(
    scene: Scene, change: dict[str, Any]
) -> None:
    scene.by_oidc("bob")
    claims = scene.oidc.logout_claims("us", sub="sub-bob") | change
    answer = _tell(scene, claims)
    assert answer.status_code == 400
    assert answer.headers["cache-control"] == "no-store"
    assert scene.whoami()["name"] == "bob"


@pytest.mark.parametrize("forge", [_unsigned, _by_public_key, _by_other_key])
def test_a_forged_logout_token_ends_nothing(
    scene: Scene, forge: Callable[[FakeOidc, dict[str, Any]], str]
) -> None:
    scene.by_oidc("bob")
    token = forge(scene.oidc, scene.oidc.logout_claims("us", sub="sub-bob"))
    assert _send_logout(scene, token).status_code == 400
    assert scene.whoami()["name"] == "bob"


def _tell(scene: Scene, claims: dict[str, Any]) -> httpx.Response:
    known = {name: value for name, value in claims.items() if value is not None}
    return _send_logout(scene, scene.oidc.sign(known))


def _send_logout(scene: Scene, token: str) -> httpx.Response:
    address = f"{scene.url}/auth/oidc/backchannel-logout"
    return httpx.post(address, data={"logout_token": token})
