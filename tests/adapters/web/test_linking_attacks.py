"""Nobody is linked with somebody else, whatever is sent to their browser."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from patchwright.core.types.people import Actor
from tests.adapters.web.browser import browsing, forms_on, go_on
from tests.adapters.web.linking_scene import (
    JO,
    Scene,
    linking_scene,
    title_of,
)
from tests.fakes.github.acts.sign_ins import sit_down


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    with linking_scene(tmp_path) as scene:
        yield scene


def test_a_link_that_was_begun_elsewhere_is_no_use_here(scene: Scene) -> None:
    link = scene.invite()
    with browsing() as other:
        theirs = other.get(link)
        scene.leave(link)
        for answer in (other.get(link), scene.press(theirs, other)):
            assert answer.status_code == 403
            assert title_of(answer) == "This link was opened in another browser"


def test_a_form_that_another_site_sends_links_nobody(scene: Scene) -> None:
    link = scene.invite()
    for check in ("", "0" * 64):
        # It comes without the cookie, or cannot know what is on the page.
        blind = httpx.post(link, data={"check": check})
        scene.browser.get(link)
        guessing = scene.browser.post(link, data={"check": check})
        for answer in (blind, guessing):
            assert answer.status_code == 403
            assert "did not come from our page" in title_of(answer)
    scene.arrive(link)
    for check in ("", "0" * 64):
        assert httpx.post(f"{scene.url}/link", data={"check": check}).status_code == 409
        answer = scene.browser.post(f"{scene.url}/link", data={"check": check})
        assert answer.status_code == 403
    assert scene.person() == ""


def test_the_check_of_one_page_is_no_use_on_another(scene: Scene) -> None:
    link = scene.invite()
    (offered,) = forms_on(scene.browser.get(link))
    scene.arrive(link)
    answer = scene.browser.post(f"{scene.url}/link", data=offered.fields)
    assert answer.status_code == 403
    assert scene.person() == ""


def test_a_form_that_is_far_too_large_is_not_read(scene: Scene) -> None:
    answer = scene.browser.post(scene.invite(), data={"check": "x" * 5000})
    assert answer.status_code == 403


def test_what_an_attacker_began_does_not_end_in_the_browser_of_another(
    scene: Scene,
) -> None:
    sit_down(scene.github.world, "mallory")
    back = scene.leave(scene.invite()).headers["location"]
    with browsing() as victim:
        answer = victim.get(back)
        assert answer.status_code == 400
        assert title_of(answer) == "This sign-in did not start in this browser"
        asked = victim.get(f"{scene.url}/link")
        assert (asked.status_code, forms_on(asked)) == (404, [])
    assert scene.person() == ""


def test_nor_where_the_other_is_about_to_be_linked(scene: Scene) -> None:
    ann = JO.replace(login="ann", external_id="U2")
    with browsing() as victim:
        offer = victim.get(scene.invite(ann))
        theirs = go_on(victim, scene.press(offer, victim)).headers["location"]
        sit_down(scene.github.world, "mallory")
        injected = scene.leave(scene.invite()).headers["location"]
        assert victim.get(injected).status_code == 400
        # What they began themselves still counts.
        assert victim.get(theirs).status_code == 303
        assert scene.press(victim.get(f"{scene.url}/link"), victim).status_code == 200
    assert (scene.person(ann), scene.person()) == ("alice", "")


def test_a_code_of_somebody_else_is_worth_nothing_in_our_attempt(scene: Scene) -> None:
    sit_down(scene.github.world, "mallory")
    theirs = parse_qs(urlsplit(scene.leave(scene.invite()).headers["location"]).query)
    ann = JO.replace(external_id="U2")
    with browsing() as victim:
        sent = scene.press(victim.get(scene.invite(ann)), victim)
        state = parse_qs(urlsplit(sent.headers["location"]).query)["state"][0]
        query = {"code": theirs["code"][0], "state": state}
        answer = victim.get(f"{scene.url}/auth/github/callback", params=query)
        assert (answer.status_code, title_of(answer)) == (
            502,
            "The sign-in did not work",
        )


def test_a_state_that_was_tampered_with_or_used_counts_no_more(scene: Scene) -> None:
    link = scene.invite()
    back = scene.leave(link).headers["location"]
    for wrong in (f"{back}x", back.replace("state=link.", "state=link.x")):
        assert scene.browser.get(wrong).status_code == 400
    assert scene.browser.get(back).status_code == 303
    assert scene.browser.get(back).status_code == 400


def test_a_cookie_that_was_tampered_with_is_none(scene: Scene) -> None:
    link = scene.invite()
    question = scene.arrive(link)
    (form,) = forms_on(question)
    cookie = scene.browser.cookies["patchwright_link"]
    head, facts, signature = cookie.split(".")
    for forged in (f"{head}.{facts}x.{signature}", f"{head}.{facts}.", "x"):
        answer = httpx.post(
            f"{scene.url}/link",
            data=form.fields,
            headers={"cookie": f"patchwright_link={forged}"},
        )
        assert answer.status_code == 409
    assert scene.person() == ""


def test_a_session_is_no_proof_for_a_link(scene: Scene) -> None:
    login = scene.browser.get(f"{scene.url}/auth/github/login")
    assert go_on(scene.browser, go_on(scene.browser, login)).status_code == 200
    scene.browser.get(scene.invite())
    assert scene.browser.get(f"{scene.url}/link").status_code == 404


def test_the_state_of_a_link_signs_nobody_in(scene: Scene) -> None:
    scene.browser.get(f"{scene.url}/auth/github/login")
    back = scene.leave(scene.invite()).headers["location"]
    scene.browser.get(back)
    assert "patchwright_session" not in dict(scene.browser.cookies)


def test_who_is_asked_about_another_must_be_asked_anew(scene: Scene) -> None:
    link = scene.invite()
    question = scene.arrive(link)
    sit_down(scene.github.world, "mallory")
    scene.arrive(link)
    # The first page, still open in another tab, names alice.
    assert scene.press(question).status_code == 403
    assert scene.person() == ""


def test_two_links_in_one_browser_do_not_mix(scene: Scene) -> None:
    kim = Actor(service="jira", login="Kim", external_id="5b10", host="acme.test")
    first, second = scene.invite(), scene.invite(kim)
    question = scene.arrive(first)
    scene.arrive(second)
    assert scene.press(question).status_code == 403
    assert (scene.person(), scene.person(kim)) == ("", "")
    scene.press(scene.browser.get(f"{scene.url}/link"))
    assert (scene.person(), scene.person(kim)) == ("", "alice")
