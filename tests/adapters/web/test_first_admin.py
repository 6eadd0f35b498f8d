"""Attacks on the cookie that makes the first admin of whoever made the App."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from fastapi import Response

from patchwright.workers.web.forms import SignedCookie
from tests.adapters.web.accounts_scene import Scene, accounts_scene
from tests.adapters.web.browser import browsing, go_on
from tests.fakes.github.acts.sign_ins import sit_down

HOUR_S = 3600
NO_SIGNATURE = "eyJhbGciOiJub25lIn0.eyJhcHAiOiIxIiwiZXhwIjo5OTk5OTk5OTk5fQ."


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    with accounts_scene(tmp_path) as made:
        yield made


def test_it_makes_one_admin_in_whatever_browser_it_is(scene: Scene) -> None:
    made = _written(_cookie(scene))
    with browsing() as first, browsing() as second:
        _hold(first, made)
        scene.by_github("alice", first)
        assert scene.whoami(first)["role"] == "admin"
        assert "patchwright_first_admin" not in first.cookies
        _hold(second, made)
        scene.by_github("eve", second)
        assert scene.whoami(second)["role"] == "member"


@pytest.mark.parametrize("theft", ["unsigned", "of another kind", "of another service"])
def test_what_is_not_from_the_set_up_makes_no_admin(scene: Scene, theft: str) -> None:
    own = _cookie(scene)
    made = {
        "unsigned": NO_SIGNATURE,
        "of another kind": _written(replace(own, name="patchwright_operator")),
        "of another service": _written(replace(own, secret=b"another-secret")),
    }
    _hold(scene.browser, made[theft])
    scene.by_github("eve")
    assert scene.whoami()["role"] == "member"


def test_it_makes_no_admin_after_an_hour(scene: Scene) -> None:
    _hold(scene.browser, _written(_cookie(scene)))
    scene.clock.advance(HOUR_S)
    scene.by_github("alice")
    assert scene.whoami()["role"] == "member"


def test_the_browser_that_has_it_cannot_be_signed_in_by_others(scene: Scene) -> None:
    """Somebody sends their own sign-in to the one who made the App, as a link."""
    scene.github.add_user("eve")
    sit_down(scene.github.world, "eve")
    with browsing() as attacker:
        begun = attacker.get(f"{scene.url}/auth/github/login")
        link = go_on(attacker, begun).headers["location"]
    _hold(scene.browser, _written(_cookie(scene)))
    assert scene.browser.get(link).status_code == 400
    assert scene.whoami() == {}


def test_it_makes_no_admin_where_the_settings_name_some(tmp_path: Path) -> None:
    with accounts_scene(tmp_path, accounts__admins='["github:root"]') as scene:
        _hold(scene.browser, _written(_cookie(scene)))
        scene.by_github("alice")
        assert scene.whoami()["role"] == "member"


def _cookie(scene: Scene) -> SignedCookie:
    assert scene.sign_in_routes is not None
    assert scene.sign_in_routes.first_admin is not None
    return scene.sign_in_routes.first_admin


def _written(cookie: SignedCookie) -> str:
    response = Response()
    cookie.put(response, {"app": "1"})
    return response.headers["set-cookie"].partition("=")[2].partition(";")[0]


def _hold(browser: httpx.Client, made: str) -> None:
    name = "patchwright_first_admin"
    browser.cookies.set(name, made, domain="127.0.0.1", path="/auth")
