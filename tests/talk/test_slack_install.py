"""Several workspaces install the app, and each is answered with its own token."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from structlog.testing import capture_logs

from patchwright.core.webhook import WEBHOOK_ROUTE
from patchwright.integrations.slack.app import CALLBACK_PATH, INSTALL_PATH
from patchwright.integrations.slack.tokens import SLACK_OWNER
from tests.adapters.web.browser import browsing, text_of
from tests.fakes.slack.fake import FakeSlack
from tests.fakes.slack.scene import SCOPES
from tests.flow.story import REPO, Story, fix_turns, telling
from tests.provision.servers import free_port

FOREIGN = (
    "Nothing was installed\n"
    "The installation did not start in this browser, or it was already finished.\n"
    "Start again"
)


@dataclass
class Team:
    """A workspace with a channel that jo writes in."""

    id: str
    jo: str
    channel: str = ""


@dataclass
class Installing:
    story: Story
    slack: FakeSlack
    browser: httpx.Client

    def begin(self) -> str:
        """Return where Slack asks whether the app may be installed."""
        asked = self.browser.get(self.story.url + INSTALL_PATH)
        return asked.headers["location"]

    def install(self, team: Team, *, for_all: bool = False) -> httpx.Response:
        back = self.slack.approve(self.begin(), team.jo, team.id, for_all=for_all)
        return self.browser.get(back)

    def has_token(self, team: Team) -> bool:
        return self.story.base.secrets.fetch(team.id, owner=SLACK_OWNER) is not None

    def open_channel(self, team: Team) -> None:
        team.channel = self.slack.scene.add_channel(team.id, "dev", (team.jo,))

    def ask(self, team: Team) -> str:
        return self.slack.mention(team.jo, team.channel, f"fix the sum in {REPO}")

    def answers(self, team: Team, thread: str) -> list[str]:
        found = self.slack.thread(team.channel, thread)[1:]
        bot = self.slack.bot(team.id)
        return [one.shown for one in found if one.user == bot]


@contextmanager
def installing(
    folder: Path, teams: int = 2, *, enterprise: str = ""
) -> Iterator[tuple[Installing, list[Team]]]:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with (
        FakeSlack(redirect_uris=(url + CALLBACK_PATH,)) as slack,
        browsing() as browser,
    ):
        found = [_team(slack, f"Team {number}", enterprise) for number in range(teams)]
        settings = _settings(slack, found)
        told = telling(
            folder,
            teams * fix_turns(),
            settings=settings,
            private=True,
            port=port,
            signs_in_at=url,
        )
        with told as story:
            slack.send_to(url + WEBHOOK_ROUTE.format(service="slack"))
            yield Installing(story, slack, browser), found


def test_two_workspaces_are_answered_each_with_its_own_token(tmp_path: Path) -> None:
    with capture_logs() as said, installing(tmp_path) as (app, teams):
        for team, name in zip(teams, ("Team 0", "Team 1"), strict=True):
            installed = app.install(team)
            text = f"Installed in {name}\nGo back to Slack and try it."
            assert (installed.status_code, text_of(installed)) == (200, text)
            app.open_channel(team)
        threads = [app.ask(team) for team in teams]
        app.story.work()
        for team, thread in zip(teams, threads, strict=True):
            assert "*Done, proven*" in app.answers(team, thread)[0]
        assert len(app.story.github.pull_requests(REPO)) == 2
        tokens = list(app.slack.world.installations)
        assert len(tokens) == 2
        _are_nowhere(tokens, tmp_path, str(said))


def test_a_workspace_that_removes_the_app_is_forgotten_and_its_job_ended(
    tmp_path: Path,
) -> None:
    with installing(tmp_path) as (app, (gone, stays)):
        for team in (gone, stays):
            app.install(team)
            app.open_channel(team)
            app.ask(team)
        app.slack.uninstall(gone.id)
        assert (app.has_token(gone), app.has_token(stays)) == (False, True)
        before = len(app.slack.calls)
        app.story.work()
        states = {one.trigger.installation: one.state for one in app.story.jobs()}
        assert states == {gone.id: "cancelled", stays.id: "done"}
        assert len(app.story.github.pull_requests(REPO)) == 1
        refused = {one.error for one in app.slack.calls[before:]}
        assert refused <= {"", "already_reacted"}


def test_an_organization_installs_once_for_all_its_workspaces(tmp_path: Path) -> None:
    with installing(tmp_path, enterprise="E1") as (app, teams):
        installed = app.install(teams[0], for_all=True)
        assert text_of(installed) == "Installed in Org\nGo back to Slack and try it."
        threads = []
        for team in teams:
            app.open_channel(team)
            threads.append(app.ask(team))
        app.story.work()
        for team, thread in zip(teams, threads, strict=True):
            assert "*Done, proven*" in app.answers(team, thread)[0]
        assert len(app.slack.world.installations) == 1


def test_an_installation_counts_once_and_in_the_browser_that_began_it(
    tmp_path: Path,
) -> None:
    with installing(tmp_path, 1) as (app, (team,)), browsing() as stranger:
        back = app.slack.approve(app.begin(), team.jo, team.id)
        refused = stranger.get(back)
        assert (refused.status_code, text_of(refused)) == (400, FOREIGN)
        assert app.browser.get(back).status_code == 200
        again = app.browser.get(back)
        assert (again.status_code, text_of(again)) == (400, FOREIGN)


@pytest.mark.parametrize("state", ["", "guessed", "größer"])
def test_a_wrong_state_installs_nothing(tmp_path: Path, state: str) -> None:
    with installing(tmp_path, 1) as (app, (team,)):
        back = httpx.URL(app.slack.approve(app.begin(), team.jo, team.id))
        refused = app.browser.get(back.copy_set_param("state", state))
        assert (refused.status_code, text_of(refused)) == (400, FOREIGN)
        assert not app.has_token(team)


def test_a_workspace_that_the_operator_did_not_name_installs_nothing(
    tmp_path: Path,
) -> None:
    with installing(tmp_path, 1) as (app, _):
        stranger = _team(app.slack, "Stranger", "")
        refused = app.install(stranger)
        assert refused.status_code == 403
        assert f"{stranger.id} cannot install the app" in refused.text
        assert not app.has_token(stranger)


def test_who_declines_is_told_that_nothing_was_installed(tmp_path: Path) -> None:
    with installing(tmp_path, 1) as (app, _):
        state = httpx.URL(app.begin()).params["state"]
        where = app.story.url + CALLBACK_PATH
        answer = app.browser.get(
            where, params={"state": state, "error": "access_denied"}
        )
        assert (answer.status_code, text_of(answer)) == (
            403,
            (
                "Nothing was installed\n"
                "Somebody declined the installation in Slack.\n"
                "Start again"
            ),
        )


def test_an_installation_without_every_right_is_not_kept(tmp_path: Path) -> None:
    with installing(tmp_path, 1) as (app, (team,)):
        asked = httpx.URL(app.begin())
        less = ",".join(sorted(SCOPES - {"chat:write"}))
        back = app.slack.approve(
            str(asked.copy_set_param("scope", less)), team.jo, team.id
        )
        answer = app.browser.get(back)
        assert (answer.status_code, text_of(answer)) == (
            403,
            (
                "Nothing was installed\n"
                "Slack did not grant the app chat:write\n"
                "Start again"
            ),
        )
        assert not app.has_token(team)


def _team(slack: FakeSlack, name: str, enterprise: str) -> Team:
    team = slack.scene.add_workspace(name, enterprise=enterprise)
    return Team(team, slack.scene.add_user(team, "jo", "Jo Doe"))


def _settings(slack: FakeSlack, teams: list[Team]) -> Mapping[str, str]:
    people = [{"slack": f"{team.id}/{team.jo}", "github": "alice"} for team in teams]
    return {
        "PATCHWRIGHT_SLACK__API_URL": slack.api_url,
        "PATCHWRIGHT_SLACK__CLIENT_ID": slack.app.client_id,
        "PATCHWRIGHT_SLACK__CLIENT_SECRET": slack.app.client_secret,
        "PATCHWRIGHT_SLACK__WORKSPACES": json.dumps(["E1", *(one.id for one in teams)]),
        "PATCHWRIGHT_SLACK__SIGNING_SECRET": slack.app.signing_secret,
        "PATCHWRIGHT_ACCOUNTS__MAP": json.dumps(people),
    }


def _are_nowhere(tokens: list[str], folder: Path, log: str) -> None:
    """Look for tokens in all that is stored, and in the log."""
    stored = [one.read_bytes() for one in folder.rglob("*") if one.is_file()]
    for token in tokens:
        assert not any(token.encode() in data for data in stored)
        assert token not in log
