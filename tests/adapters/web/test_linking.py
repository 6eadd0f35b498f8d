"""Somebody is linked in their browser, knowing with whom."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from structlog.testing import capture_logs

from patchwright.core.settings.model import with_section
from patchwright.integrations.github.settings import GitHubSettings
from tests.adapters.store.linking_world import open_linking
from tests.adapters.store.world import World
from tests.adapters.web.browser import go_on
from tests.adapters.web.linking_scene import (
    JO,
    SECRET,
    Scene,
    linking_scene,
    title_of,
)
from tests.fakes.github.acts.sign_ins import sit_down


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    with linking_scene(tmp_path) as scene:
        yield scene


def test_a_person_is_linked(scene: Scene) -> None:
    answer = scene.link()
    assert (answer.status_code, title_of(answer)) == (200, "Linked")
    assert scene.person() == "alice"


def test_it_works_under_a_path_of_another_site(tmp_path: Path) -> None:
    with linking_scene(tmp_path, "/bot") as scene:
        assert title_of(scene.link()) == "Linked"
        assert {cookie.path for cookie in scene.browser.cookies.jar} == {"/bot"}


def test_the_pages_show_both_identities_before_anything_is_linked(
    scene: Scene,
) -> None:
    link = scene.invite()
    offer = scene.browser.get(link)
    assert title_of(offer) == "Link Slack with GitHub"
    for shown in ("jo", "workspace T1", "U1", "close this page"):
        assert shown in offer.text
    question = scene.arrive(link)
    assert title_of(question) == "Link these accounts?"
    for shown in ("jo", "workspace T1", "U1", "alice", "If you are not", "close this"):
        assert shown in question.text
    assert scene.person() == ""


def test_an_earlier_link_is_named_before_it_ends(scene: Scene) -> None:
    scene.link()
    assert "Until now" not in scene.arrive(scene.invite()).text
    sit_down(scene.github.world, "mallory")
    question = scene.arrive(scene.invite())
    assert "Until now" in question.text
    assert scene.person() == "alice"
    scene.press(question)
    assert scene.person() == "mallory"


def test_names_cannot_write_into_the_page(scene: Scene) -> None:
    sly = JO.replace(login='<img src=x>"\u202e')
    offer = scene.browser.get(scene.invite(sly))
    assert "&lt;img" in offer.text
    assert "<img" not in offer.text
    assert "\u202e" not in offer.text


def test_what_they_asked_for_goes_on(scene: Scene) -> None:
    job_id = open_linking(World(scene.database)).ask(JO)
    question = scene.arrive(scene.invite())
    assert scene.dispatched == []
    scene.press(question)
    assert scene.dispatched == [job_id]


def test_the_persons_token_is_kept_for_them(scene: Scene) -> None:
    scene.link()
    person = scene.accounts.person_of(JO, "github", scene.github.api_url)
    assert person
    account = scene.accounts.account_of(person, scene.github.api_url)
    token = scene.tokens.fetch(account)
    assert token
    assert token.get_secret_value() in scene.github.world.tokens
    scene.clock.advance(9 * 3600)
    renewed = scene.tokens.fetch(account)
    assert renewed
    assert renewed != token


def test_no_secret_is_shown_logged_or_kept_in_the_clear(
    scene: Scene, tmp_path: Path
) -> None:
    link = scene.invite()
    with capture_logs() as logs:
        pages = [scene.arrive(link)]
        pages.append(scene.press(pages[0]))
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    words = str(logs) + str(dict(scene.browser.cookies)) + kept.decode("latin-1")
    for secret in ("ghu_", "ghr_", link.rpartition("/")[2]):
        assert secret not in words + "".join(page.text for page in pages)


def test_a_preview_that_only_looks_changes_nothing(scene: Scene) -> None:
    link = scene.invite()
    for _ in range(3):
        assert httpx.get(link).status_code == 200
    assert httpx.head(link).status_code == 405
    scene.press(scene.arrive(link))
    assert scene.person() == "alice"


def test_no_answer_gives_the_links_address_away(scene: Scene) -> None:
    link = scene.invite()
    offer = scene.browser.get(link)
    sent = scene.press(offer)
    back = go_on(scene.browser, go_on(scene.browser, sent))
    answers = (offer, sent, back, scene.browser.get(f"{scene.url}/link"))
    for answer in answers:
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
    token = link.rpartition("/")[2]
    assert token not in "".join(str(answer.headers) for answer in answers)
    assert back.headers["location"] == "/link"


def test_no_other_site_can_show_the_pages_or_be_sent_their_forms(
    scene: Scene,
) -> None:
    offer = scene.browser.get(scene.invite())
    policy = offer.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in policy
    assert f"form-action 'self' {scene.github.web_url};" in policy
    for cookie in offer.headers.get_list("set-cookie"):
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie


def test_a_link_that_was_used_is_said_to_be(scene: Scene) -> None:
    link = scene.invite()
    scene.press(scene.arrive(link))
    for answer in (scene.browser.get(link), httpx.get(link), httpx.post(link)):
        assert answer.status_code == 410
        assert title_of(answer) == "This link has been used"


def test_a_link_that_ran_out_is_said_to_have(scene: Scene) -> None:
    link = scene.invite()
    offer = scene.browser.get(link)
    scene.clock.advance(15 * 60 + 1)
    for answer in (scene.browser.get(link), scene.press(offer)):
        assert (answer.status_code, title_of(answer)) == (410, "This link has expired")


def test_who_comes_back_or_presses_too_late_is_told_so(scene: Scene) -> None:
    link = scene.invite()
    question = scene.arrive(link)
    scene.clock.advance(14 * 60)
    at_github = scene.leave(link)
    scene.clock.advance(2 * 60)
    back = scene.browser.get(at_github.headers["location"])
    for answer in (back, scene.press(question)):
        assert (answer.status_code, title_of(answer)) == (410, "This link has expired")
    assert scene.person() == ""


def test_an_older_link_is_not_known_any_more(scene: Scene) -> None:
    old = scene.invite()
    scene.invite()
    for link in (old, f"{scene.url}/link/made-up"):
        answer = scene.browser.get(link)
        assert (answer.status_code, title_of(answer)) == (404, "This link is not known")


def test_who_says_no_at_github_is_not_linked_and_may_begin_again(
    scene: Scene,
) -> None:
    link = scene.invite()
    sit_down(scene.github.world, "")
    answer = go_on(scene.browser, scene.leave(link))
    assert (answer.status_code, title_of(answer)) == (
        403,
        "You declined the sign-in",
    )
    sit_down(scene.github.world, "alice")
    scene.press(scene.arrive(link))
    assert scene.person() == "alice"


def test_a_refusal_of_githubs_own_is_not_called_the_persons(scene: Scene) -> None:
    back = httpx.URL(scene.leave(scene.invite()).headers["location"])
    state = back.params["state"]
    query = {"error": "redirect_uri_mismatch", "state": state}
    assert scene.browser.get(back, params=query).status_code == 502


@pytest.mark.parametrize("status", [404, 500])
def test_a_github_that_fails_links_nobody(scene: Scene, status: int) -> None:
    link = scene.invite()
    at_github = scene.leave(link)
    scene.github.fail_next("POST", "/login/oauth/access_token", status)
    assert go_on(scene.browser, at_github).status_code == 502
    assert scene.browser.get(f"{scene.url}/link").status_code == 409
    assert title_of(scene.press(scene.arrive(link))) == "Linked"


def test_a_button_that_is_pressed_twice_links_once(scene: Scene) -> None:
    open_linking(World(scene.database)).ask(JO)
    question = scene.arrive(scene.invite())
    pages = [scene.press(question), scene.press(question)]
    assert [title_of(page) for page in pages] == ["Linked", "Linked"]
    assert len(scene.dispatched) == 1


def test_without_a_secret_or_an_address_nobody_can_be_linked(scene: Scene) -> None:
    settings = scene.settings_for(scene.url)
    nowhere = settings.replace(server=settings.server.replace(public_url=""))
    github = GitHubSettings.of(settings)
    no_client = with_section(settings, github.replace(client_id=""))
    assert scene.open(settings, SECRET)
    assert scene.open(settings, None) is None
    for lacking in (nowhere, no_client):
        assert scene.open(lacking, SECRET) is None
