"""`doctor` looks at Linear: who we are there, and the teams of the settings."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from patchwright.core.doctor import CheckStatus
from tests.adapters.doctor.cases import case_of, examined
from tests.fakes.linear.fake import FakeLinear


@pytest.fixture
def fake() -> Iterator[FakeLinear]:
    with FakeLinear() as fake:
        fake.add_team("ENG")
        fake.add_project("Checkout", "ENG")
        yield fake


def settings_of(fake: FakeLinear, **more: str) -> Mapping[str, str]:
    return {
        "LINEAR__API_URL": fake.api_url,
        "LINEAR__TOKEN": fake.token.access,
        "LINEAR__WEBHOOK_SECRET": "hook-secret-of-32-characters-or-so",
        "LINEAR__TEAMS": json.dumps({"ENG": "acme/shop", "Checkout": "acme/pay"}),
        **more,
    }


def test_the_app_and_its_teams_are_named(fake: FakeLinear, tmp_path: Path) -> None:
    case = case_of(tmp_path, **settings_of(fake))
    told, teams = examined("linear", case), examined("linear-teams", case)
    assert (told.status, told.found) == (
        CheckStatus.OK,
        "patchwright in acme: an app, with sessions, sees 1 team",
    )
    assert (teams.status, teams.found) == (CheckStatus.OK, "ENG, Checkout: known")


def test_a_person_gets_no_sessions(fake: FakeLinear, tmp_path: Path) -> None:
    key = fake.scene.key_of(fake.add_user("bot"))
    told = examined("linear", case_of(tmp_path, **settings_of(fake, LINEAR__TOKEN=key)))
    assert told.found == "bot in acme: a user, without sessions, sees 1 team"


def test_a_token_that_is_not_accepted_is_told(fake: FakeLinear, tmp_path: Path) -> None:
    case = case_of(tmp_path, **settings_of(fake, LINEAR__TOKEN="wrong"))
    told = examined("linear", case)
    assert told.status is CheckStatus.FAILED
    assert told.fix == "set linear.token to a valid API key or token of an app"
    assert examined("linear-teams", case).status is CheckStatus.FAILED


def test_an_unknown_team_is_told(fake: FakeLinear, tmp_path: Path) -> None:
    teams = json.dumps({"ENG": "acme/shop", "OPS": "acme/ops"})
    case = case_of(tmp_path, **settings_of(fake, LINEAR__TEAMS=teams))
    told = examined("linear-teams", case)
    assert (told.status, told.found) == (
        CheckStatus.FAILED,
        "no team or project: OPS",
    )


def test_without_webhooks_it_is_said_how_late_it_gets(
    fake: FakeLinear, tmp_path: Path
) -> None:
    told = examined(
        "linear", case_of(tmp_path, **settings_of(fake, LINEAR__WEBHOOK_SECRET=""))
    )
    assert told.status is CheckStatus.WARNING
    assert "requests are found every 300 seconds" in told.found


def test_an_app_that_nobody_has_installed_is_told(
    fake: FakeLinear, tmp_path: Path
) -> None:
    way = {
        "LINEAR__API_URL": fake.api_url,
        "LINEAR__CLIENT_ID": fake.app.client_id,
        "LINEAR__CLIENT_SECRET": fake.app.client_secret,
        "LINEAR__WEBHOOK_SECRET": "hook-secret-of-32-characters-or-so",
        "LINEAR__TEAMS": json.dumps({"ENG": "acme/shop"}),
    }
    case = case_of(tmp_path, **way)
    told = examined("linear", case)
    assert (told.status, told.found) == (
        CheckStatus.WARNING,
        "no workspace has installed the app",
    )
    assert told.fix.startswith("set linear.workspaces to the workspaces, then install")
    assert examined("linear-teams", case).status is CheckStatus.SKIPPED


def test_what_is_not_configured_is_skipped(tmp_path: Path) -> None:
    case = case_of(tmp_path)
    for name in ("linear", "linear-teams"):
        assert examined(name, case).status is CheckStatus.SKIPPED
