"""An app is installed in the fake Linear by its web flow, and gets its tokens."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.linear.client import Program, of_app, post_form, send, sign_in
from tests.fakes.linear.exchange import Json
from tests.fakes.linear.fake import CALLBACK, FakeLinear
from tests.fakes.linear.oauth import OAuthError, challenge_of

VERIFIER = "a-verifier-that-is-long-enough-to-be-one-of-pkce"
SCOPE = "read,write,app:assignable,app:mentionable"
WHO = "{ viewer { id app } }"
DAY_S = 24 * 3600


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def linear(clock: FakeClock) -> Iterator[FakeLinear]:
    with FakeLinear(clock=clock) as fake:
        yield fake


@pytest.fixture
def admin(linear: FakeLinear) -> str:
    return linear.add_user("ann", admin=True)


def address(linear: FakeLinear, **more: str) -> str:
    asked = {
        "client_id": linear.app.client_id,
        "redirect_uri": CALLBACK,
        "response_type": "code",
        "scope": SCOPE,
        "state": "s1",
        "actor": "app",
        **more,
    }
    return f"{linear.api_url}/oauth/authorize?{urlencode(asked)}"


def code_of(way_back: str) -> str:
    asked = parse_qs(urlsplit(way_back).query)
    assert asked["state"] == ["s1"]
    return asked["code"][0]


def exchange(linear: FakeLinear, code: str, **more: str) -> tuple[int, Json]:
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": CALLBACK,
    }
    return sign_in(linear, form, **more)


def works(linear: FakeLinear, token: str) -> bool:
    return Program(linear.api_url, f"Bearer {token}").ask(WHO).status == 200


def test_a_code_is_worth_a_token_once(linear: FakeLinear, admin: str) -> None:
    code = code_of(linear.consent(address(linear), admin))
    status, shown = exchange(linear, code)
    assert (status, shown["token_type"], shown["expires_in"]) == (200, "Bearer", 86399)
    assert shown["scope"] == "app:assignable app:mentionable read write"
    viewer = Program(linear.api_url, f"Bearer {shown['access_token']}").ask(WHO)
    assert viewer.data["viewer"] == {"id": linear.bot, "app": True}
    again = exchange(linear, code)
    assert (again[0], again[1]["error"]) == (400, "invalid_grant")


def test_a_code_is_worth_nothing_after_ten_minutes(
    linear: FakeLinear, admin: str, clock: FakeClock
) -> None:
    code = code_of(linear.consent(address(linear), admin))
    clock.advance(601)
    assert exchange(linear, code)[1]["error"] == "invalid_grant"


def test_with_pkce_only_the_verifier_gets_the_token(
    linear: FakeLinear, admin: str
) -> None:
    asked = address(
        linear, code_challenge=challenge_of(VERIFIER), code_challenge_method="S256"
    )
    wrong = code_of(linear.consent(asked, admin))
    assert exchange(linear, wrong, code_verifier="guess")[1]["error"] == "invalid_grant"
    right = code_of(linear.consent(asked, admin))
    # A program that proves itself so needs no secret.
    status, shown = exchange(linear, right, code_verifier=VERIFIER, client_secret="")
    assert status == 200
    assert works(linear, shown["access_token"])


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"client_id": "x"}, "Invalid client_id"),
        ({"redirect_uri": "https://evil.example/"}, "Invalid redirect_uri"),
        ({"response_type": "token"}, "response_type must be code"),
        ({"scope": "read,everything"}, "Invalid scope: everything"),
        ({"scope": "admin"}, "admin cannot be had with actor=app"),
        ({"actor": "user"}, "app scopes need actor=app"),
    ],
)
def test_what_must_not_be_asked_for_is_refused(
    linear: FakeLinear, admin: str, more: dict[str, str], words: str
) -> None:
    with pytest.raises(OAuthError, match=words):
        linear.consent(address(linear, **more), admin)
    status, _, page = send("GET", address(linear, **more))
    assert (status, words in page.decode()) == (400, True)


def test_only_admins_install_an_app(linear: FakeLinear) -> None:
    bob = linear.add_user("bob")
    with pytest.raises(OAuthError, match="Only admins can install an app"):
        linear.consent(address(linear), bob)


def test_the_page_shows_what_is_asked_for(linear: FakeLinear, admin: str) -> None:
    linear.world.at_browser = admin
    status, _, page = send("GET", address(linear))
    assert (status, b"Authorize Patchwright" in page) == (200, True)
    assert b"<li>app:assignable</li>" in page
    status, headers, _ = send("POST", address(linear))
    assert status == 302
    assert exchange(linear, code_of(headers["location"]))[0] == 200


def test_a_refresh_token_gives_a_new_pair_and_is_used_up(
    linear: FakeLinear, clock: FakeClock
) -> None:
    old = linear.token
    clock.advance(DAY_S)
    assert not works(linear, old.access)
    form = {"grant_type": "refresh_token", "refresh_token": old.refresh}
    _, first = sign_in(linear, form)
    assert works(linear, first["access_token"])
    # An answer may have got lost: for a while the old one gives the same pair.
    clock.advance(60)
    _, again = sign_in(linear, form)
    assert again["refresh_token"] == first["refresh_token"]
    clock.advance(30 * 60)
    status, late = sign_in(linear, form)
    assert (status, late["error"]) == (400, "invalid_grant")
    _, next_ = sign_in(linear, {**form, "refresh_token": first["refresh_token"]})
    assert works(linear, next_["access_token"])


def test_an_app_gets_a_token_for_itself_without_a_person(
    linear: FakeLinear, clock: FakeClock
) -> None:
    form = {"grant_type": "client_credentials", "scope": SCOPE}
    status, shown = sign_in(linear, form)
    assert (status, "refresh_token" in shown) == (200, False)
    clock.advance(29 * DAY_S)
    assert works(linear, shown["access_token"])
    clock.advance(DAY_S)
    assert not works(linear, shown["access_token"])
    linear.app.client_credentials = False
    assert sign_in(linear, form)[1]["error"] == "unauthorized_client"


def test_an_app_must_say_who_it_is(linear: FakeLinear) -> None:
    form = {"grant_type": "refresh_token", "refresh_token": linear.token.refresh}
    status, shown = sign_in(linear, form, client_secret="guess")
    assert (status, shown["error"]) == (401, "invalid_client")
    url = f"{linear.api_url}/oauth/token"
    kind = {"Content-Type": "application/json"}
    assert send("POST", url, "{}", kind)[0] == 400
    assert sign_in(linear, {"grant_type": "password"})[1]["error"] == (
        "unsupported_grant_type"
    )


def test_a_revoked_token_is_worth_nothing(linear: FakeLinear) -> None:
    url = f"{linear.api_url}/oauth/revoke"
    assert post_form(url, {"token": linear.token.access})[0] == 200
    assert of_app(linear).ask(WHO).status == 401
    form = {"grant_type": "refresh_token", "refresh_token": linear.token.refresh}
    assert sign_in(linear, form)[1]["error"] == "invalid_grant"
    assert post_form(url, {"token": linear.token.access})[0] == 400


def test_an_app_that_is_taken_away_is_told_and_knows_nobody(
    linear: FakeLinear,
) -> None:
    linear.add_webhook("hush")
    linear.uninstall()
    told = linear.delivery("OAuthApp", "revoked")
    assert told.facts["oauthClientId"] == linear.app.client_id
    assert of_app(linear).ask(WHO).status == 401
