"""Several workspaces install the app, each with a token of its own."""

from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest
from pydantic import SecretStr

from patchwright.core.system.clock import SystemClock
from patchwright.core.types.errors import AuthenticationError, PermissionDeniedError
from patchwright.integrations.slack.adapter import connect
from patchwright.integrations.slack.app import AppInstaller
from tests.adapters.slack.installations import KeptInstallations
from tests.fakes.slack.fake import FakeSlack
from tests.fakes.slack.scene import SCOPES

BACK = "https://bot.example/slack/installed"


def install_at(fake: FakeSlack, secret: str = "") -> AppInstaller:
    slack = connect(fake.api_url, tokens=KeptInstallations(), clock=SystemClock())
    return AppInstaller(
        api=slack.api,
        client_id=fake.app.client_id,
        client_secret=SecretStr(secret or fake.app.client_secret),
        redirect_uri=BACK,
        scopes=tuple(sorted(SCOPES)),
        is_allowed_workspace=lambda _: True,
    )


def agree(
    fake: FakeSlack, install: AppInstaller, team: str, *, for_all: bool = False
) -> str:
    """Agree as a person would, and return the code."""
    user = fake.scene.add_user(team, "ann")
    back = fake.approve(install.address("s&t"), user, team, for_all=for_all)
    query = parse_qs(urlsplit(back).query)
    assert back.startswith(f"{BACK}?")
    assert query["state"] == ["s&t"]
    return query["code"][0]


def test_a_workspace_gives_us_a_token(fake: FakeSlack) -> None:
    team = fake.scene.add_workspace("Acme")
    install = install_at(fake)
    found = install.exchange(agree(fake, install, team))
    assert (found.id, found.name) == (team, "Acme")
    assert set(found.scopes) == SCOPES


def test_each_workspace_is_asked_with_its_own_token(fake: FakeSlack) -> None:
    kept = KeptInstallations()
    install = install_at(fake)
    teams = [fake.scene.add_workspace(name) for name in ("Acme", "Other")]
    for team in teams:
        kept.save(install.exchange(agree(fake, install, team)))
    slack = connect(fake.api_url, tokens=kept, clock=SystemClock())
    hosts = [slack.fetch_identity(team).host for team in teams]
    assert hosts == teams
    del kept.kept[teams[0]]
    with pytest.raises(AuthenticationError):
        slack.fetch_identity(teams[0])


def test_an_organization_is_one_installation(fake: FakeSlack) -> None:
    team = fake.scene.add_workspace("Acme", enterprise="E1")
    install = install_at(fake)
    found = install.exchange(agree(fake, install, team, for_all=True))
    assert found.id == "E1"


def test_a_code_counts_once(fake: FakeSlack) -> None:
    team = fake.scene.add_workspace("Acme")
    install = install_at(fake)
    code = agree(fake, install, team)
    install.exchange(code)
    with pytest.raises(AuthenticationError, match="invalid_code"):
        install.exchange(code)


def test_a_wrong_client_secret_is_refused(fake: FakeSlack) -> None:
    install = install_at(fake, "another")
    with pytest.raises(AuthenticationError, match="bad_client_secret"):
        install.exchange("code-1")


def test_fewer_scopes_than_needed_are_told(fake: FakeSlack) -> None:
    team = fake.scene.add_workspace("Acme")
    install = install_at(fake)
    fewer = AppInstaller(
        api=install.api,
        client_id=install.client_id,
        client_secret=install.client_secret,
        redirect_uri=install.redirect_uri,
        scopes=("chat:write",),
        is_allowed_workspace=install.is_allowed_workspace,
    )
    code = agree(fake, fewer, team)
    with pytest.raises(PermissionDeniedError, match="users:read"):
        install.exchange(code)


def test_a_workspace_that_is_not_named_gets_no_app_of_ours(fake: FakeSlack) -> None:
    team, other = (fake.scene.add_workspace(name) for name in ("Acme", "Other"))
    install = replace(install_at(fake), is_allowed_workspace=lambda one: one == team)
    code = agree(fake, install, other)
    with pytest.raises(PermissionDeniedError) as refused:
        install.exchange(code)
    assert str(refused.value) == (
        f"{other} cannot install the app; the operator can add it to slack.workspaces"
    )
    assert install.exchange(agree(fake, install, team)).id == team
