"""What people do in Slack and in Jira, as the tutorials say it."""

import json

import yaml

from tests.adapters.web.browser import forms_on, go_on
from tests.fakes.github.acts.sign_ins import sit_down
from tests.fakes.jira.state import Mail
from tests.fakes.slack.state import Ephemeral
from tests.flow.office import PROJECT, link_in
from tests.flow.story import PING
from tests.provision.waiting import wait_until
from tests.tutorials.following import Hand, Place
from tests.tutorials.hands_github import ISSUE, pull_requests
from tests.tutorials.machine import LONG_S
from tests.tutorials.offices import JiraSite, SlackTeam
from tests.tutorials.world import READER, SHOP


def stop_the_service(place: Place) -> None:
    place.machine.interrupt("service")


def slack_hands(team: SlackTeam) -> dict[str, Hand]:
    return {
        "make the Slack app": lambda place: _make_the_slack_app(place, team),
        "stop the service": stop_the_service,
        "ask in Slack": lambda _: team.ask(f"the total of the cart is wrong in {SHOP}"),
        "say who you are": lambda place: _link(place, team.whisper()),
        "see what Slack shows": lambda place: _see_slack(place, team),
    }


def jira_hands(site: JiraSite) -> dict[str, Hand]:
    return {
        "make a user in Jira": lambda place: _make_a_user(place, site),
        "stop the service": stop_the_service,
        "ask in Jira": lambda _: site.ask(ISSUE),
        "say who you are": lambda place: _link(place, site.mail()),
        "see what Jira shows": lambda place: _see_jira(place, site),
    }


def _make_the_slack_app(place: Place, team: SlackTeam) -> None:
    manifest = yaml.safe_load(place.machine.type("cat slack.yml"))
    assert manifest["settings"]["socket_mode_enabled"] is True
    assert set(manifest["oauth_config"]["scopes"]["bot"]) == team.fake.app.scopes
    place.world.values |= {
        "slack.bot_token": team.token,
        "slack.app_token": team.socket.app_token,
    }


def _make_a_user(place: Place, site: JiraSite) -> None:
    own = site.fake.settings()
    assert own.token is not None
    place.world.values |= {
        "jira.base_url": own.base_url,
        "jira.user": own.user,
        "jira.token": own.token.get_secret_value(),
        f"jira.projects.{PROJECT}": SHOP,
    }


def _link(place: Place, invitation: Ephemeral | Mail) -> None:
    link_by(place, link_in(invitation))


def link_by(place: Place, address: str) -> None:
    """Open the private link, sign in to GitHub as the reader, and agree."""
    sit_down(place.world.github.world, READER)
    browser = place.world.browser.client
    page = browser.get(address)
    (form,) = forms_on(page)
    asked = browser.post(page.url, data=form.fields)
    back = go_on(browser, go_on(browser, asked))
    agreeing = browser.get(page.url.join(back.headers["location"]))
    (form,) = forms_on(agreeing)
    done = browser.post(agreeing.url, data=form.fields)
    assert done.status_code == 200, done.text


def _see_slack(place: Place, team: SlackTeam) -> None:
    wait_until(lambda: any(PING in note for note in team.notes()), "a call", LONG_S)
    assert any("*Done, proven*" in one for one in team.shown())
    assert len(pull_requests(place)) == 2


def _see_jira(place: Place, site: JiraSite) -> None:
    wait_until(
        lambda: "*Done, proven*" in json.dumps(site.shown()), "the result", LONG_S
    )
    wait_until(lambda: bool(site.links()), "the ticket's link", LONG_S)
    assert len(pull_requests(place)) == 3
