"""People sign in with GitHub, in the browser in which they began."""

import hmac
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import jwt
import pytest
from fastapi import FastAPI, Request
from pydantic import SecretStr
from structlog.testing import capture_logs

from patchwright.core.types.base import RandomIds
from patchwright.integrations.github.app import CALLBACK_PATH
from patchwright.integrations.github.connection import Addresses, GitHubConnection
from patchwright.integrations.github.sign_in import SignIn
from patchwright.workers.accounts.directory import People, ProvenPerson
from patchwright.workers.accounts.sessions import SessionStore
from patchwright.workers.db.database import Database
from patchwright.workers.store.account_links import digest_of
from patchwright.workers.store.accounts import AccountStore
from patchwright.workers.store.audit import AuditLog
from patchwright.workers.web.forms import FormTokens
from patchwright.workers.web.frame import Site
from patchwright.workers.web.rate_limit import AttemptLimit
from patchwright.workers.web.session_cookie import SessionCookie
from patchwright.workers.web.sign_in import (
    SignInRoutes,
    SignInWay,
    add_sign_in,
    make_attempts,
)
from tests.adapters.web.browser import browsing, go_on, serving, text_of
from tests.fakes.github.acts.registrations import add_client
from tests.fakes.github.acts.sign_ins import sit_down
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.github.registry_state import Registration
from tests.flow.clock import MovableClock
from tests.schema import add_sqlite_file

SECRET = b"session-secret"
HOST = "github.test"
SESSION = "patchwright_session"
HOUR_S = 3600
SIGNED_IN = "You are signed in\nYou are alice on GitHub.\nGo to the start page"
SIGNED_OUT = "You are signed out\nYou can close this page.\nSign in with GitHub"
WRONG_BROWSER = (
    "This sign-in did not start in this browser\n"
    "It started in another browser, took longer than ten minutes, or was already "
    "finished.\n"
    "Sign in with GitHub"
)
NO_PERSON = "The sign-in did not work\nGitHub did not say who you are: "
DECLINED = (
    "You declined the sign-in\n"
    "GitHub has not told this service who you are.\n"
    "Sign in with GitHub"
)


@dataclass(frozen=True)
class Scene:
    github: FakeGitHub
    browser: httpx.Client
    url: str
    clock: MovableClock
    client: Registration

    def login(self, wanted: str = "") -> httpx.Response:
        query = {"next": wanted} if wanted else {}
        return self.browser.get(f"{self.url}/auth/github/login", params=query)

    def sign_in(self, wanted: str = "") -> httpx.Response:
        """Go to GitHub and back; return what the service says then."""
        return go_on(self.browser, go_on(self.browser, self.login(wanted)))

    def viewer(self) -> str:
        """Return whom the service sees when the browser comes."""
        answer = self.browser.get(f"{self.url}/viewer").json()
        return f"{answer['login']} {answer['id']}" if answer else ""

    def sent_to_github(self) -> dict[str, str]:
        location = self.login().headers["location"]
        query = parse_qs(urlsplit(location).query)
        return {name: values[0] for name, values in query.items()}


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    clock = MovableClock()
    file = tmp_path / "patchwright.db"
    add_sqlite_file(file)
    with (
        FakeGitHub(enterprise=True) as github,
        browsing() as browser,
        closing(Database(f"sqlite:///{file}", clock=clock)) as database,
    ):
        github.add_user("alice")
        github.add_app(7, "patchwright", "hook-secret")
        sit_down(github.world, "alice")
        clients: list[Registration] = []

        def make(url: str) -> FastAPI:
            clients.append(add_client(github.world, 7, [url + CALLBACK_PATH]))
            return _site(github, clients[0], url, database, clock)

        with serving(make) as url:
            yield Scene(github, browser, url, clock, clients[0])


def _routes(
    provider: SignIn,
    fetch: Callable[[str, str], ProvenPerson],
    people: People,
    sessions: SessionStore,
) -> SignInRoutes:
    clock = sessions.clock
    way = SignInWay(
        name="github",
        title="GitHub",
        attempts=make_attempts("github", SECRET, clock, secure=False, prefix=""),
        address=provider.address,
        fetch=fetch,
    )
    return SignInRoutes(
        ways=(way,),
        cookie=SessionCookie(sessions, is_secure=False),
        people=people,
        audit=AuditLog(people.database, people.ids, clock),
        site=Site("", "", FormTokens(SECRET)),
        limit=AttemptLimit(clock, 60, timedelta(minutes=10)),
    )


def _site(
    github: FakeGitHub,
    client: Registration,
    url: str,
    database: Database,
    clock: MovableClock,
) -> FastAPI:
    addresses = Addresses(api_url=github.api_url, web_url=github.web_url)
    provider = SignIn(
        connection=GitHubConnection(addresses),
        client_id=client.client_id,
        client_secret=SecretStr(client.client_secret),
        redirect_uri=url + CALLBACK_PATH,
        clock=clock,
    )
    ids = RandomIds()
    people = People(
        database,
        AccountStore(database, ids, clock),
        ids,
        clock,
        forge="github",
        forge_host=HOST,
    )

    def fetch(code: str, verifier: str) -> ProvenPerson:
        return ProvenPerson(person=provider.fetch_person(code, verifier), host=HOST)

    routes = _routes(provider, fetch, people, SessionStore(database, ids, clock))
    app = FastAPI()
    add_sign_in(app, routes)

    @app.get("/viewer")
    def viewer(request: Request) -> dict[str, str]:
        session = routes.cookie.find(request)
        account = people.find(session.account_id) if session else None
        seen = account.identity_at("github", HOST) if account else None
        return {"login": seen.login, "id": seen.external_id} if seen else {}

    return app


def test_a_person_signs_in(scene: Scene) -> None:
    assert scene.viewer() == ""
    answer = scene.sign_in()
    assert (answer.status_code, text_of(answer)) == (200, SIGNED_IN)
    assert scene.viewer() == f"alice {scene.github.world.user('alice').id}"


def test_they_come_back_to_the_page_they_wanted(scene: Scene) -> None:
    answer = scene.sign_in("/runs/4f?before=20")
    assert (answer.status_code, answer.headers["location"]) == (
        303,
        "/runs/4f?before=20",
    )


@pytest.mark.parametrize("place", ["//evil.example", "https://evil.example", "/\\e.x"])
def test_they_are_not_sent_to_another_host(scene: Scene, place: str) -> None:
    answer = scene.sign_in(place)
    assert (answer.status_code, text_of(answer)) == (200, SIGNED_IN)
    out = scene.browser.post(f"{scene.url}/auth/logout", params={"next": place})
    assert (out.status_code, text_of(out)) == (200, SIGNED_OUT)


def test_they_sign_out(scene: Scene) -> None:
    scene.sign_in()
    out = scene.browser.post(f"{scene.url}/auth/logout", params={"next": "/runs/4f"})
    assert (out.status_code, out.headers["location"]) == (303, "/runs/4f")
    assert scene.viewer() == ""


def test_a_link_alone_signs_nobody_out(scene: Scene) -> None:
    scene.sign_in()
    assert scene.browser.get(f"{scene.url}/auth/logout").status_code == 405
    assert scene.viewer()


def test_a_form_of_another_site_signs_nobody_out(scene: Scene) -> None:
    # It comes without the cookie, and must not take it away either.
    out = httpx.post(f"{scene.url}/auth/logout")
    assert "set-cookie" not in out.headers


def test_the_cookie_of_an_attempt_comes_back_under_a_path_of_the_service(
    scene: Scene,
) -> None:
    attempts = make_attempts("github", SECRET, scene.clock, secure=True, prefix="/bot")
    assert attempts.path == "/bot/auth/github"


def test_a_session_ends_after_twelve_hours(scene: Scene) -> None:
    scene.sign_in()
    scene.clock.advance(12 * HOUR_S - 60)
    assert scene.viewer()
    scene.clock.advance(120)
    assert scene.viewer() == ""


def test_the_cookies_are_for_us_and_not_for_scripts(scene: Scene) -> None:
    begun = scene.login()
    done = go_on(scene.browser, go_on(scene.browser, begun))
    for answer in (begun, done):
        for cookie in answer.headers.get_list("set-cookie"):
            assert "HttpOnly" in cookie
            assert "SameSite=lax" in cookie
        assert answer.headers["cache-control"] == "no-store"


def test_what_github_sends_to_another_browser_signs_nobody_in(scene: Scene) -> None:
    back = go_on(scene.browser, scene.login()).headers["location"]
    with browsing() as other:
        answer = other.get(back)
        assert (answer.status_code, text_of(answer)) == (400, WRONG_BROWSER)
        assert other.get(f"{scene.url}/viewer").json() == {}


def test_a_state_of_another_attempt_is_refused(scene: Scene) -> None:
    back = go_on(scene.browser, scene.login()).headers["location"]
    scene.login()
    assert text_of(scene.browser.get(back)) == WRONG_BROWSER
    assert scene.viewer() == ""


def test_an_attempt_counts_once_and_for_ten_minutes(scene: Scene) -> None:
    back = go_on(scene.browser, scene.login()).headers["location"]
    assert scene.browser.get(back).status_code == 200
    assert text_of(scene.browser.get(back)) == WRONG_BROWSER
    late = go_on(scene.browser, scene.login()).headers["location"]
    scene.clock.advance(660)
    assert text_of(scene.browser.get(late)) == WRONG_BROWSER


def test_who_says_no_is_not_signed_in(scene: Scene) -> None:
    sit_down(scene.github.world, "")
    answer = scene.sign_in()
    assert (answer.status_code, text_of(answer)) == (403, DECLINED)
    assert scene.viewer() == ""


def test_a_code_that_github_does_not_take_signs_nobody_in(scene: Scene) -> None:
    sent = scene.sent_to_github()
    query = {"code": "made-up", "state": sent["state"]}
    with capture_logs() as logs:
        answer = scene.browser.get(scene.url + CALLBACK_PATH, params=query)
    assert answer.status_code == 401
    assert text_of(answer).startswith(NO_PERSON)
    assert scene.viewer() == ""
    assert scene.client.client_secret not in str(logs)


@pytest.mark.parametrize("status", [404, 500])
def test_a_github_that_fails_signs_nobody_in(scene: Scene, status: int) -> None:
    scene.github.fail_next("POST", "/login/oauth/access_token", status)
    assert scene.sign_in().status_code == 502
    assert scene.viewer() == ""


def test_a_stolen_code_is_worth_nothing_without_the_browsers_verifier(
    scene: Scene,
) -> None:
    back = go_on(scene.browser, scene.login()).headers["location"]
    code = parse_qs(urlsplit(back).query)["code"][0]
    with browsing() as thief:
        theirs = thief.get(f"{scene.url}/auth/github/login").headers["location"]
        state = parse_qs(urlsplit(theirs).query)["state"][0]
        query = {"code": code, "state": state}
        answer = thief.get(scene.url + CALLBACK_PATH, params=query)
        assert answer.status_code == 401
        assert text_of(answer).startswith(NO_PERSON)


def test_a_cookie_of_somebody_elses_making_is_nobody(scene: Scene) -> None:
    scene.sign_in()
    name = "patchwright_session"
    held = scene.browser.cookies[name]
    # One that was changed, the digest that is stored, and the signed cookie that an
    # earlier version gave out.
    # They were signed with a key of that kind of cookie.
    key = hmac.digest(SECRET, b"cookie patchwright_session", "sha256")
    old = jwt.encode({"service": "github", "login": "alice"}, key, "HS256")
    for forged in (f"{held}A", digest_of(held), old, "x"):
        cookies = {"cookie": f"{name}={forged}"}
        assert httpx.get(f"{scene.url}/viewer", headers=cookies).json() == {}


def test_a_session_that_was_known_before_is_not_the_one_that_begins(
    scene: Scene,
) -> None:
    scene.sign_in()
    planted = scene.browser.cookies[SESSION]
    victim = {"cookie": f"{SESSION}={planted}"}
    assert httpx.get(f"{scene.url}/viewer", headers=victim).json()
    # Somebody signs in, in a browser into which another person's session was put.
    scene.sign_in()
    assert scene.browser.cookies[SESSION] != planted
    assert httpx.get(f"{scene.url}/viewer", headers=victim).json() == {}


def test_a_session_gets_a_new_word_every_hour_and_the_old_one_ends(
    scene: Scene,
) -> None:
    scene.sign_in()
    old = {"cookie": f"patchwright_session={scene.browser.cookies[SESSION]}"}
    assert "set-cookie" not in scene.browser.get(f"{scene.url}/viewer").headers
    scene.clock.advance(HOUR_S)
    assert "set-cookie" in scene.browser.get(f"{scene.url}/viewer").headers
    # The answer with the new word may have been lost: the old one still counts.
    assert httpx.get(f"{scene.url}/viewer", headers=old).json()
    assert scene.viewer()
    scene.clock.advance(61)
    assert httpx.get(f"{scene.url}/viewer", headers=old).json() == {}
    assert scene.viewer()


def test_the_cookie_of_an_attempt_is_no_session(scene: Scene) -> None:
    scene.login()
    attempt = scene.browser.cookies["patchwright_sign_in"]
    cookies = {"cookie": f"patchwright_session={attempt}"}
    assert httpx.get(f"{scene.url}/viewer", headers=cookies).json() == {}


def test_the_persons_token_is_kept_nowhere(scene: Scene) -> None:
    with capture_logs() as logs:
        scene.sign_in()
    assert "ghu_" not in str(logs) + str(dict(scene.browser.cookies))
