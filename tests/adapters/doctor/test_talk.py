"""The checks of Slack and Jira, each fault with its advice."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import SecretStr

from patchwright.core.doctor import CheckContext, CheckStatus
from patchwright.core.system.clock import SystemClock
from patchwright.integrations.slack.tokens import (
    SlackInstallation,
    SlackInstallationStore,
)
from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.store.secrets import SecretStore, key_ring
from tests.adapters.doctor.cases import case_of, examined
from tests.fakes.jira.fake import FakeJira
from tests.fakes.slack.fake import FakeSlack
from tests.fakes.slack.scene import SCOPES
from tests.fakes.slack_socket import FakeSocketMode


@pytest.fixture
def slack() -> Iterator[FakeSlack]:
    with FakeSlack() as fake:
        yield fake


def slack_case(folder: Path, slack: FakeSlack, token: str) -> CheckContext:
    return case_of(folder, SLACK__API_URL=slack.api_url, SLACK__BOT_TOKEN=token)


def jira_settings(jira: FakeJira, **more: str) -> Mapping[str, str]:
    own = jira.settings()
    assert own.token is not None
    return {
        "JIRA__TYPE": own.type,
        "JIRA__BASE_URL": own.base_url,
        "JIRA__USER": own.user,
        "JIRA__TOKEN": own.token.get_secret_value(),
        "JIRA__PROJECTS": '{"APP": "acme/shop"}',
        **more,
    }


def test_the_bot_of_slack_is_named_with_its_workspace(
    tmp_path: Path, slack: FakeSlack
) -> None:
    token = slack.scene.install(slack.scene.add_workspace("Acme"))
    told = examined("slack", slack_case(tmp_path, slack, token))
    assert told.status is CheckStatus.OK
    assert told.found.endswith("in Acme, with all scopes")


def test_scopes_that_are_missing_are_named(tmp_path: Path, slack: FakeSlack) -> None:
    team = slack.scene.add_workspace("Acme")
    token = slack.scene.install(team, scopes=SCOPES - {"chat:write", "files:read"})
    told = examined("slack", slack_case(tmp_path, slack, token))
    assert told.found == "Acme: no chat:write, files:read"
    assert "slack.yml" in told.fix


def test_a_token_of_slack_that_was_revoked_is_told(
    tmp_path: Path, slack: FakeSlack
) -> None:
    told = examined("slack", slack_case(tmp_path, slack, "xoxb-revoked"))
    assert told.found == "Slack answered invalid_auth"
    assert "set slack.bot_token" in told.fix


def test_every_workspace_that_installed_the_app_is_looked_at(
    tmp_path: Path, slack: FakeSlack
) -> None:
    case = case_of(
        tmp_path,
        SLACK__API_URL=slack.api_url,
        SLACK__CLIENT_ID="1.2",
        SLACK__WORKSPACES='["T1"]',
        SERVER__PUBLIC_URL="https://bot.example",
    )
    assert examined("slack", case).status is CheckStatus.SKIPPED
    case.settings.state_dir.mkdir()
    with closing(Database(case.settings.database.url.get_secret_value())) as database:
        upgrade(database)
        secrets = SecretStore(
            database, key_ring(case.settings, database), SystemClock()
        )
        assert "/auth/slack/install" in examined("slack", case).fix
        good = slack.scene.install(slack.scene.add_workspace("Acme"))
        for team, token in (("T1", good), ("T2", "xoxb-revoked")):
            kept = SlackInstallation(id=team, name=team, token=SecretStr(token))
            SlackInstallationStore(secrets).save(kept)
    told = examined("slack", case)
    assert (told.status, told.found) == (
        CheckStatus.FAILED,
        "Slack answered invalid_auth",
    )


def test_socket_mode_is_tried_where_it_is_used(tmp_path: Path) -> None:
    with FakeSocketMode("xapp-1") as fake:
        tokens = {"SLACK__API_URL": fake.api_url, "SLACK__BOT_TOKEN": "xoxb"}
        good = case_of(tmp_path, **tokens, SLACK__APP_TOKEN="xapp-1")
        assert examined("slack-socket", good).status is CheckStatus.OK
        bad = examined(
            "slack-socket", case_of(tmp_path, **tokens, SLACK__APP_TOKEN="x")
        )
    assert "connections:write" in bad.fix
    none = examined("slack-socket", case_of(tmp_path, **tokens))
    assert none.status is CheckStatus.SKIPPED


@pytest.mark.parametrize("cloud", [True, False])
def test_our_user_of_jira_is_named_and_its_projects_are_looked_at(
    tmp_path: Path, *, cloud: bool
) -> None:
    with FakeJira(cloud=cloud) as jira:
        jira.add_project("APP")
        case = case_of(tmp_path, **jira_settings(jira))
        told = examined("jira", case)
        assert told.status is CheckStatus.OK
        assert told.found.startswith("Patchwright at 127.0.0.1:")
        projects = examined("jira-projects", case)
    assert projects.found == "APP: all permissions"


def test_a_token_of_jira_that_is_not_accepted_is_told(tmp_path: Path) -> None:
    with FakeJira() as jira:
        case = case_of(tmp_path, **jira_settings(jira, JIRA__TOKEN="wrong"))
        told = examined("jira", case)
    assert told.status is CheckStatus.FAILED
    assert told.fix.startswith("set jira.token to a valid token")


def test_permissions_that_are_missing_in_a_project_are_told_with_their_use(
    tmp_path: Path,
) -> None:
    with FakeJira() as jira:
        jira.add_project("APP")
        jira.forbid("APP", jira.bot)
        way = {"JIRA__TRANSITIONS__ON_PR": "In Review"}
        told = examined(
            "jira-projects", case_of(tmp_path, **jira_settings(jira, **way))
        )
    assert told.status is CheckStatus.FAILED
    assert "APP: permission ADD_COMMENTS: needed for answering" in told.found
    assert "TRANSITION_ISSUES: needed for moving tickets" in told.found
    assert "BROWSE_PROJECTS" not in told.found
    assert told.fix == "give it to the bot's user: project settings of APP, People"


def test_a_project_that_is_not_there_or_hidden_is_told(tmp_path: Path) -> None:
    with FakeJira() as jira:
        told = examined("jira-projects", case_of(tmp_path, **jira_settings(jira)))
        none = case_of(tmp_path, **jira_settings(jira, JIRA__PROJECTS="{}"))
        assert examined("jira-projects", none).status is CheckStatus.WARNING
    assert told.found == "there is no project APP, or the bot's user cannot see it"


def test_what_is_not_configured_is_skipped(tmp_path: Path) -> None:
    names = ("slack", "slack-socket", "jira", "jira-projects", "repositories")
    found = [examined(name, case_of(tmp_path)).status for name in names]
    assert found == [CheckStatus.SKIPPED] * len(names)
