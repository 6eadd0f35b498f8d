"""The pages of accounts: tokens, sessions, identities and roles."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from fastapi import Response

from patchwright.workers.accounts.principal import Role
from patchwright.workers.web.forms import SignedCookie
from patchwright.workers.web.visitors import MAX_WRONG_TOKENS
from tests.adapters.web.accounts_scene import ADMIN_TOKEN, Scene, accounts_scene
from tests.adapters.web.browser import browsing

DAY_S = 86_400
POSTS = (
    "/account/tokens",
    "/account/tokens/revoke",
    "/account/sessions/end",
    "/account/sessions/end-all",
    "/account/identities/unlink",
    "/people/role",
    "/people/sessions/end",
    "/people/identities/unlink",
    "/people/become-admin",
)
FOR_ADMINS = ("/people/role", "/people/sessions/end", "/people/identities/unlink")


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    with accounts_scene(tmp_path) as made:
        yield made


def make_token(
    scene: Scene,
    scope: str = "read",
    browser: httpx.Client | None = None,
    name: str = "laptop",
) -> str:
    """Make a token on the page, and return it."""
    answer = scene.send(
        "/account", "/account/tokens", browser, name=name, scope=scope, days="30"
    )
    assert answer.status_code == 200, answer.text
    (token,) = re.findall(r"pwt_[\w-]{40,}", answer.text)
    return str(token)


def said(answer: httpx.Response) -> str:
    """Return what a page tells after a form."""
    (words,) = re.findall(r'<p class="box[^>]*>(?:<strong>)?([^<]+)', answer.text)
    return str(words)


def test_a_token_is_shown_once_and_is_its_person(scene: Scene) -> None:
    scene.by_github("alice")
    token = make_token(scene, "write")
    assert token not in scene.get("/account").text
    with browsing() as program:
        seen = scene.whoami(program, token)
    assert (seen["name"], seen["role"], seen["by"]) == ("alice", "member", "api-token")
    with scene.database.reading() as connection:
        rows = connection.exec_driver_sql("SELECT * FROM api_tokens").all()
    assert token not in str(rows)


def test_a_token_may_no_more_than_its_scope_and_its_person(scene: Scene) -> None:
    scene.by_github("alice")
    scene.make_admin()
    admin, reader = make_token(scene, "admin"), make_token(scene, "read", name="r")
    with browsing() as program:
        assert scene.whoami(program, admin)["role"] == "admin"
        assert scene.whoami(program, reader)["role"] == "viewer"
        parts = scene.parts
        assert parts is not None
        [alice] = parts.people.find_all("alice")
        parts.people.set_role(alice.id, Role.VIEWER, "test")
        assert scene.whoami(program, admin)["role"] == "viewer"
    answer = scene.send(
        "/account", "/account/tokens", name="x", scope="admin", days="30"
    )
    assert (answer.status_code, said(answer)) == (
        422,
        "Your role allows tokens with these scopes: read.",
    )


def test_a_token_ends_when_it_is_revoked_and_when_it_expires(scene: Scene) -> None:
    scene.by_github("alice")
    token, other = make_token(scene), make_token(scene, name="other")
    with browsing() as program:
        answer = scene.send("/account", "/account/tokens/revoke")
        assert answer.headers["location"] == "/account?done=revoked"
        alive = [one for one in (token, other) if scene.whoami(program, one)]
        assert len(alive) == 1
        scene.clock.advance(31 * DAY_S)
        assert scene.whoami(program, alive[0]) == {}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (
            {"name": "", "scope": "read", "days": "30"},
            "Give the token a name of at most 80 characters.",
        ),
        (
            {"name": "x", "scope": "read", "days": "9999"},
            "A token lasts for one of these numbers of days: 30, 90, 365.",
        ),
    ],
)
def test_a_wrong_wish_for_a_token_is_explained(
    scene: Scene, fields: dict[str, str], words: str
) -> None:
    scene.by_github("alice")
    answer = scene.send("/account", "/account/tokens", None, **fields)
    assert (answer.status_code, said(answer)) == (422, words)


def test_a_token_in_an_address_is_refused(scene: Scene) -> None:
    scene.by_github("alice")
    token = make_token(scene)
    for written in (token, token.replace("_", "%5F", 1)):
        answer = httpx.get(f"{scene.url}/whoami?access_token={written}")
        assert answer.status_code == 400
        assert answer.headers["content-type"] == "application/problem+json"
        assert "never belongs in an address" in answer.json()["detail"]
        assert token not in answer.text


def test_a_token_makes_no_further_tokens(scene: Scene) -> None:
    scene.by_github("alice")
    scene.make_admin()
    token = make_token(scene, "admin")
    check = scene.form("/account", "/account/tokens").fields["check"]
    answer = httpx.post(
        f"{scene.url}/account/tokens",
        headers={"Authorization": f"Bearer {token}"},
        data={"check": check, "name": "more", "scope": "admin", "days": "30"},
    )
    assert answer.status_code == 403
    assert "No token does that." in answer.text


def test_wrong_tokens_are_limited(scene: Scene) -> None:
    with browsing() as program:
        for number in range(MAX_WRONG_TOKENS):
            assert scene.whoami(program, f"pwt_{number}") == {}
        # From now on not even the right one is looked at.
        assert scene.whoami(program, ADMIN_TOKEN) == {}
        scene.clock.advance(15 * 60 + 1)
        assert scene.whoami(program, ADMIN_TOKEN)["role"] == "admin"


def test_wrong_administrators_tokens_on_the_page_are_limited(scene: Scene) -> None:
    scene.by_github("alice")
    form = scene.form("/people", "/people/become-admin")

    def try_token(token: str) -> int:
        fields = {**form.fields, "token": token}
        return scene.browser.post(
            f"{scene.url}/people/become-admin", data=fields
        ).status_code

    assert [try_token(str(number)) for number in range(10)] == [403] * 10
    assert try_token(ADMIN_TOKEN) == 429
    assert scene.whoami()["role"] == "member"


def test_sessions_are_ended_on_the_page(scene: Scene) -> None:
    scene.by_github("alice")
    with browsing() as second, browsing() as third:
        scene.by_github("alice", second)
        scene.by_github("alice", third)
        answer = scene.send("/account", "/account/sessions/end")
        assert answer.headers["location"] == "/account?done=ended"
        open_still = [bool(scene.whoami(one)) for one in (second, third)]
        assert sorted(open_still) == [False, True]
        scene.send("/account", "/account/sessions/end-all")
        assert not any(scene.whoami(one) for one in (second, third))
        assert scene.whoami()["name"] == "alice"


def test_nobody_ends_or_revokes_what_is_not_theirs(scene: Scene) -> None:
    scene.by_github("alice")
    token = make_token(scene)
    parts = scene.parts
    assert parts is not None
    [alice] = parts.people.find_all("alice")
    [alices_token] = parts.tokens.of_account(alice.id)
    [alices_session] = parts.sessions.of_account(alice.id)
    with browsing() as other:
        scene.by_github("mallory", other)
        check = scene.form("/account", "/account/tokens", other).fields["check"]
        for action, one in (
            ("tokens/revoke", alices_token.id),
            ("sessions/end", alices_session.id),
            ("identities/unlink", alice.identities[0].id),
        ):
            answer = other.post(
                f"{scene.url}/account/{action}", data={"check": check, "id": one}
            )
            assert answer.status_code == 404, action
    assert scene.whoami()["name"] == "alice"
    with browsing() as program:
        assert scene.whoami(program, token)["name"] == "alice"


@pytest.mark.parametrize("action", POSTS)
def test_a_stranger_and_a_forged_form_change_nothing(scene: Scene, action: str) -> None:
    stranger = httpx.post(f"{scene.url}{action}", data={"check": "x"})
    assert stranger.status_code == 401
    scene.by_github("alice")
    scene.make_admin()
    with browsing() as other:
        scene.by_github("mallory", other)
        theirs = scene.form("/account", "/account/tokens", other).fields["check"]
    for check in ("", "x", theirs):
        answer = scene.browser.post(f"{scene.url}{action}", data={"check": check})
        assert answer.status_code == 403
        assert "This form does not count any more" in answer.text


@pytest.mark.parametrize("action", FOR_ADMINS)
def test_a_member_does_nothing_to_others(scene: Scene, action: str) -> None:
    scene.by_github("alice")
    check = scene.form("/account", "/account/tokens").fields["check"]
    answer = scene.browser.post(f"{scene.url}{action}", data={"check": check})
    assert answer.status_code == 403
    assert "This page takes the role “admin”; yours is “member”." in answer.text


@pytest.mark.parametrize("path", ["/audit", "/audit.csv", "/audit.jsonl", "/people"])
def test_pages_of_admins_are_closed_to_others(scene: Scene, path: str) -> None:
    assert httpx.get(f"{scene.url}{path}").status_code == 401
    scene.by_github("alice")
    assert scene.get(path).status_code == 403


def test_an_admin_changes_a_role_and_ends_sessions(scene: Scene) -> None:
    scene.by_github("alice")
    scene.make_admin()
    with browsing() as other:
        scene.by_github("bob", other)
        changed = scene.send("/people?name=bob", "/people/role", role="viewer")
        assert changed.headers["location"] == "/people?done=role&name=bob"
        assert scene.whoami(other)["role"] == "viewer"
        scene.send("/people?name=bob", "/people/sessions/end")
        assert scene.whoami(other) == {}
        # The role is still theirs after the next sign-in.
        scene.by_github("bob", other)
        assert scene.whoami(other)["role"] == "viewer"


def test_an_admin_stays_one_by_their_own_hand(scene: Scene) -> None:
    scene.by_github("alice")
    scene.make_admin()
    answer = scene.send("/people?name=alice", "/people/role", role="viewer")
    assert (answer.status_code, said(answer)) == (
        409,
        "You cannot take the role of an admin from yourself. Ask another admin.",
    )


def test_who_may_not_come_back_keeps_their_identity(scene: Scene) -> None:
    scene.by_github("alice")
    parts = scene.parts
    assert parts is not None
    [alice] = parts.people.find_all("alice")
    check = scene.form("/account", "/account/tokens").fields["check"]
    fields = {"check": check, "id": alice.identities[0].id}
    answer = scene.browser.post(f"{scene.url}/account/identities/unlink", data=fields)
    assert answer.status_code == 409
    assert said(answer) == (
        "The identity was not removed. It is the only one of your account: you could "
        "not sign in again."
    )


def test_names_in_the_settings_are_admins(tmp_path: Path) -> None:
    with accounts_scene(tmp_path, accounts__admins='["github:alice"]') as scene:
        scene.by_github("Alice".lower())
        assert scene.whoami()["role"] == "admin"
        assert "by the settings" in scene.get("/people").text
        with browsing() as other:
            scene.by_github("bob", other)
            assert scene.whoami(other)["role"] == "member"


def test_a_new_account_gets_the_role_of_the_settings(tmp_path: Path) -> None:
    with accounts_scene(tmp_path, accounts__default_role="viewer") as scene:
        scene.by_github("alice")
        assert scene.whoami()["role"] == "viewer"


def test_whoever_opened_the_set_up_link_becomes_the_first_admin(scene: Scene) -> None:
    routes = scene.sign_in_routes
    assert routes is not None
    assert routes.first_admin is not None
    made = _cookie_of(routes.first_admin)
    with browsing() as first, browsing() as second:
        for browser in (first, second):
            browser.cookies.set(
                "patchwright_first_admin", made, domain="127.0.0.1", path="/auth"
            )
        scene.by_github("alice", first)
        scene.by_github("bob", second)
        assert scene.whoami(first)["role"] == "admin"
        assert scene.whoami(second)["role"] == "member"


def test_the_audit_tells_who_did_what(scene: Scene) -> None:
    scene.by_github("alice")
    scene.make_admin()
    make_token(scene)
    scene.send("/account", "/account/tokens/revoke")
    lines = scene.get("/audit.csv").text.splitlines()
    assert lines[0] == "at,account,what,about,by,detail"
    told = [line.split(",", 1)[1] for line in reversed(lines[1:])]
    assert told == [
        "alice,signed-in,GitHub: alice,GitHub: alice,",
        "alice,role,alice,administrator's token,member → admin",
        'alice,token-made,laptop,alice,"read, for 30 days"',
        "alice,token-revoked,laptop,alice,",
    ]
    only = scene.get("/audit.jsonl?what=role").text.splitlines()
    assert len(only) == 1
    assert "administrator&#39;s token" in scene.get("/audit?person=alice").text
    assert "There is nothing of that kind." in scene.get("/audit?person=zoe").text
    assert scene.get("/audit?since=yesterday").status_code == 422
    assert scene.get("/audit.csv?what=nonsense").status_code == 422


def test_the_audit_names_people_whose_identity_was_removed(scene: Scene) -> None:
    scene.by_github("alice")
    scene.make_admin()
    with browsing() as other:
        scene.by_github("bob", other)
    parts = scene.parts
    assert parts is not None
    [bob] = parts.people.find_all("bob")
    path = "/people/identities/unlink"
    scene.send("/people", path, account=bob.id, id=bob.identities[0].id)
    told = [line.split(",", 1)[1] for line in scene.get("/audit.csv").text.splitlines()]
    assert told[1:3] == [
        "bob,unlinked,GitHub: bob,alice,bob",
        "bob,signed-in,GitHub: bob,GitHub: bob,",
    ]
    assert "nobody can sign in to this account" in scene.get("/people").text


def test_a_cell_of_the_export_is_no_formula(scene: Scene) -> None:
    scene.by_github("alice")
    scene.make_admin()
    make_token(scene, name="=1+1")
    assert ",'=1+1," in scene.get("/audit.csv").text


def test_pages_have_strict_headers_and_no_scripts(scene: Scene) -> None:
    scene.by_github("alice")
    scene.make_admin()
    for path in ("/account", "/people", "/audit", "/auth"):
        page = scene.get(path)
        assert page.status_code == 200
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert page.headers["cache-control"] == "no-store"
        assert "<script" not in page.text
        assert " style=" not in page.text


def test_names_are_shown_as_text(scene: Scene) -> None:
    scene.by_github("alice")
    scene.make_admin()
    scene.oidc.add_person("<img src=x onerror=alert(1)>")
    with browsing() as other:
        scene.by_oidc("<img src=x onerror=alert(1)>", other)
        assert "<img" not in scene.get("/account", other).text
    make_token(scene, name="<script>alert(1)</script>")
    for path in ("/account", "/people", "/audit"):
        assert "<img" not in scene.get(path).text
        assert "<script" not in scene.get(path).text


def _cookie_of(kind: SignedCookie) -> str:
    response = Response()
    kind.put(response, {"app": "1"})
    return response.headers["set-cookie"].partition("=")[2].partition(";")[0]
