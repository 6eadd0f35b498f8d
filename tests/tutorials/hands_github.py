"""What people do on GitHub and in front of the service, as the tutorials say it."""

import re
from collections.abc import Mapping, Sequence
from typing import Protocol
from urllib.parse import urljoin

import httpx

from patchwright.resolver.messages.status import UNFINISHED
from tests.adapters.web.browser import forms_on
from tests.architecture.tree import ROOT
from tests.fakes.github.seen import PullRequestSeen
from tests.provision.waiting import wait_until
from tests.tutorials.following import Place
from tests.tutorials.front import plain
from tests.tutorials.machine import LONG_S
from tests.tutorials.world import READER, SERVICE, SHOP

WEBHOOKS = f"https://{SERVICE}/api/integration/github/events"
SETUP = f"https://{SERVICE}/setup/github"
ISSUE = (ROOT / "demo" / "issue.md").read_text()
SETUP_LINK = re.compile(r"setup_needed\s+url='(?P<url>[^']+)'")


def put_a_proxy_in_front(place: Place) -> None:
    place.machine.open_to_the_world()
    place.world.places[SERVICE] = plain(place.machine.place())


def make_the_app(place: Place) -> None:
    """Open the link in the service's log, which one browser can do once."""
    said = place.machine.terminal("service").output
    found = SETUP_LINK.search(said)
    assert found, said
    browser = place.world.browser.client
    opened = browser.get(found["url"])
    _go_through(place, urljoin(found["url"], opened.headers["location"]))


def make_and_install_the_app(place: Place) -> None:
    """Show the operator's token, which was shown to the reader last."""
    token = place.machine.terminal().output.strip()
    # Like whoever presses "reload" while the proxy is about to start.
    wait_until(lambda: _is_there(place), "the page", LONG_S)
    browser = place.world.browser.client
    [form] = forms_on(browser.get(SETUP))
    browser.post(urljoin(SETUP, form.action), data={"key": token})
    _go_through(place, SETUP)
    install_the_app(place)


def _go_through(place: Place, url: str) -> None:
    """Press the buttons of the set-up, here and on GitHub."""
    browser = place.world.browser.client
    form = forms_on(browser.get(url))[0]
    back = browser.post(form.action, data=form.fields)
    done = browser.get(back.headers["location"])
    assert done.status_code == 200, done.text


def install_the_app(place: Place) -> None:
    [app] = place.world.github.world.apps
    place.world.github.install_app(app, SHOP.partition("/")[0], [SHOP])
    wait_until(lambda: _is_ready(place), "the service", LONG_S)
    carry(place)


def open_an_issue(place: Place) -> None:
    place.world.github.open_issue(SHOP, READER, *issue_text())
    carry(place)


def issue_text() -> tuple[str, str]:
    """Return title and text of an issue that asks for a fix."""
    title, _, text = ISSUE.removeprefix("# ").partition("\n")
    return title, f"{text.strip()}\n\n@patchwright please fix this"


def see_the_pull_request(place: Place) -> None:
    issue = place.world.github.world.issues_of(SHOP)[-1].number
    wait_until(lambda: _has_ended(place, issue), "the end of the run", LONG_S)
    assert "**Done, proven**" in _said(place, issue)[0]
    [pull] = pull_requests(place)
    assert "**Proven**" in pull.body


def pull_requests(place: Place) -> list[PullRequestSeen]:
    return place.world.github.pull_requests(SHOP)


def _has_ended(place: Place, issue: int) -> bool:
    said = _said(place, issue)
    return bool(said) and not any(UNFINISHED in one for one in said)


def _said(place: Place, issue: int) -> list[str]:
    """Return what the bot has said there, which is all that was said."""
    return [one.body for one in place.world.github.comments(SHOP, issue)]


def carry(place: Place) -> None:
    """Bring to the service what GitHub has announced and not brought yet."""
    announced = place.world.github.deliveries
    place.world.carried = carry_all(place, announced, WEBHOOKS, place.world.carried)


class Announced(Protocol):
    """A webhook as a service sends it."""

    @property
    def body(self) -> bytes: ...

    @property
    def headers(self) -> Mapping[str, str]: ...


def carry_all(
    place: Place, announced: Sequence[Announced], url: str, carried: int
) -> int:
    """Bring there what comes after the first ones; return how many there are now."""
    for one in announced[carried:]:
        post = place.world.browser.client.post
        answer = post(url, content=one.body, headers=dict(one.headers))
        assert answer.is_success, answer.text
    return len(announced)


def _is_there(place: Place) -> bool:
    try:
        return bool(forms_on(place.world.browser.client.get(SETUP)))
    except httpx.TransportError:
        return False


def _is_ready(place: Place) -> bool:
    return place.world.browser.client.get(f"https://{SERVICE}/readyz").is_success
