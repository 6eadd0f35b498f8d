"""How applications learn from the fake GitLab who somebody is."""

import base64
import hashlib
import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import pytest

from tests.fakes.gitlab import FakeGitLab
from tests.fakes.gitlab.clients import Caller
from tests.fakes.gitlab.oauth import revoke_grants
from tests.fakes.gitlab.sign_in_state import Client
from tests.flow.clock import MovableClock

BACK = "https://bot.test/callback"
VERIFIER = "v" * 64
CHALLENGE = (
    base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest())
    .decode()
    .rstrip("=")
)


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture
def fake(clock: MovableClock) -> Iterator[FakeGitLab]:
    with FakeGitLab(clock=clock) as server:
        server.add_user("alice")
        server.sit_down("alice")
        yield server


@pytest.fixture
def client(fake: FakeGitLab) -> Client:
    return fake.add_client([BACK], ["read_user"])


def wish(client: Client, **changes: str) -> dict[str, str]:
    return {
        "client_id": client.client_id,
        "redirect_uri": BACK,
        "response_type": "code",
        "scope": "read_user",
        "state": "s1",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        **changes,
    }


class StayHere(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """Leave it to the test to go elsewhere."""


def post(fake: FakeGitLab, path: str, form: dict[str, str]) -> tuple[int, Any]:
    """Return the status, and the JSON or where it leads."""
    request = urllib.request.Request(
        fake.base_url + path, data=urlencode(form).encode()
    )
    opener = urllib.request.build_opener(StayHere)
    try:
        with opener.open(request) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as problem:
        place = problem.headers["Location"]
        return problem.code, place or problem.read().decode()


def press(
    fake: FakeGitLab, client: Client, button: str = "Authorize"
) -> dict[str, str]:
    """Press a button of the page and return what the application is sent."""
    code, place = post(fake, "/oauth/authorize", {**wish(client), "commit": button})
    assert (code, place.startswith(f"{BACK}?")) == (302, True)
    return dict(parse_qsl(urlsplit(place).query))


def trade(fake: FakeGitLab, client: Client, **changes: str) -> tuple[int, Any]:
    form = {
        "client_id": client.client_id,
        "client_secret": client.client_secret,
        "grant_type": "authorization_code",
        "redirect_uri": BACK,
        "code_verifier": VERIFIER,
        **changes,
    }
    code, body = post(fake, "/oauth/token", form)
    return code, json.loads(body)


def test_somebody_signs_in(fake: FakeGitLab, client: Client) -> None:
    page = Caller(fake).fetch(
        "GET", f"{fake.base_url}/oauth/authorize?{urlencode(wish(client))}"
    )
    text = page.body.decode()
    assert "Patchwright wants to use the account of alice: read_user." in text
    fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', text))
    assert fields["state"] == "s1"
    sent = press(fake, client)
    assert sent["state"] == "s1"
    code, tokens = trade(fake, client, code=sent["code"])
    assert (code, tokens["token_type"], tokens["expires_in"]) == (200, "Bearer", 7200)
    headers = {"Authorization": f"Bearer {tokens['access_token']}"}
    caller = Caller(fake, headers=headers)
    assert caller.ask("GET", "/user").body["username"] == "alice"
    assert caller.ask("GET", "/projects").status == 403
    assert caller.ask("GET", "/personal_access_tokens/self").status == 401


def test_a_code_counts_once_and_with_its_verifier(
    fake: FakeGitLab, client: Client
) -> None:
    sent = press(fake, client)
    code, said = trade(fake, client, code=sent["code"], code_verifier="other")
    assert (code, said["error"]) == (400, "invalid_grant")
    sent = press(fake, client)
    assert trade(fake, client, code=sent["code"])[0] == 200
    assert trade(fake, client, code=sent["code"])[1]["error"] == "invalid_grant"


def test_a_refresh_token_counts_once(
    fake: FakeGitLab, client: Client, clock: MovableClock
) -> None:
    _, first = trade(fake, client, code=press(fake, client)["code"])
    old = Caller(fake, headers={"Authorization": f"Bearer {first['access_token']}"})
    clock.advance(timedelta(hours=3).total_seconds())
    said = old.ask("GET", "/user")
    assert said.body["error_description"].startswith("Token is expired.")
    renewal = {"grant_type": "refresh_token", "refresh_token": first["refresh_token"]}
    code, second = trade(fake, client, **renewal)
    assert (code, second["refresh_token"] != first["refresh_token"]) == (200, True)
    assert trade(fake, client, **renewal)[1]["error"] == "invalid_grant"


def test_what_was_granted_can_be_taken_back(fake: FakeGitLab, client: Client) -> None:
    _, tokens = trade(fake, client, code=press(fake, client)["code"])
    caller = Caller(fake, headers={"Authorization": f"Bearer {tokens['access_token']}"})
    form = {
        "client_id": client.client_id,
        "client_secret": client.client_secret,
        "token": tokens["refresh_token"],
    }
    assert post(fake, "/oauth/revoke", form)[0] == 200
    assert caller.ask("GET", "/user").status == 401
    _, tokens = trade(fake, client, code=press(fake, client)["code"])
    revoke_grants(fake.world, "alice")
    renewal = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    assert trade(fake, client, **renewal)[0] == 400


def test_somebody_says_no(fake: FakeGitLab, client: Client) -> None:
    assert press(fake, client, "Deny")["error"] == "access_denied"
    fake.sit_down("")
    assert press(fake, client)["error"] == "access_denied"


def test_a_wrong_secret_is_no_client(fake: FakeGitLab, client: Client) -> None:
    sent = press(fake, client)
    code, said = trade(fake, client, code=sent["code"], client_secret="no")
    assert (code, said["error"]) == (401, "invalid_client")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"redirect_uri": "https://evil.test"}, "redirect URI included is not valid"),
        ({"scope": "api"}, "requested scope is invalid"),
        ({"code_challenge_method": "plain"}, "must be S256"),
        ({"client_id": "nobody"}, "unknown client"),
    ],
)
def test_a_wish_that_is_wrong_leads_nowhere(
    fake: FakeGitLab, client: Client, change: dict[str, str], problem: str
) -> None:
    query = urlencode(wish(client, **change))
    said = Caller(fake).fetch("GET", f"{fake.base_url}/oauth/authorize?{query}")
    assert said.status == 401
    assert problem in said.body.decode()
    assert parse_qs(urlsplit(said.headers.get("Location", "")).query) == {}
