"""The checks of GitHub, each fault with its advice."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

from patchwright.core.doctor import CheckContext, CheckStatus
from patchwright.core.system.clock import SystemClock
from patchwright.integrations.github.adapter import RateLimit, TokenStatus
from patchwright.integrations.github.app import WEBHOOK_PATH
from patchwright.integrations.github.deliveries import HookConfig
from patchwright.integrations.github.doctor import judge_allowance, judge_expiry
from patchwright.integrations.github.doctor import judge_webhook as judge_hook
from patchwright.workers.doctor.network import judge_clock
from tests.adapters.doctor.cases import APP_ID, SECRET, case_of, examined, settings_of
from tests.fakes.github.acts import accounts
from tests.fakes.github.acts.hooks import bring, listen_at
from tests.fakes.github.acts.registrations import subscribe
from tests.fakes.github.contract import Contract
from tests.fakes.github.fake import FakeGitHub
from tests.provision.servers import free_port

PUBLIC = "https://bot.example"
NOW = SystemClock().now()


@dataclass(frozen=True)
class Scene:
    """A GitHub with our App, the settings that reach it, and a folder for state."""

    github: FakeGitHub
    settings: Mapping[str, str]
    folder: Path

    def case(self, **more: str) -> CheckContext:
        return case_of(self.folder, **{**self.settings, **more})

    def install(self, *names: str) -> int:
        return self.github.install_app(APP_ID, "acme", names)

    def with_token(self, token: str, **more: str) -> CheckContext:
        addresses = {k: v for k, v in self.settings.items() if k.endswith("_URL")}
        return case_of(self.folder, **{**addresses, "GITHUB__TOKEN": token, **more})


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    with FakeGitHub(contract=Contract.from_corpus()) as github:
        yield Scene(github, settings_of(github), tmp_path)


def test_the_app_is_named_with_its_accounts_and_repositories(scene: Scene) -> None:
    scene.install("acme/shop")
    told = examined("github", scene.case())
    assert told.status is CheckStatus.OK
    assert told.found == (
        "patchwright[bot], in 1 account, 1 repository; "
        "4999 of 5000 requests left this hour"
    )


def test_an_app_that_is_installed_nowhere_is_told_where_to(scene: Scene) -> None:
    told = examined("github", scene.case())
    assert told.found == "patchwright[bot] is not installed anywhere"
    page = f"{scene.github.web_url}/apps/patchwright/installations/new"
    assert told.fix == f"install it: {page}"


def test_a_suspended_installation_is_named(scene: Scene) -> None:
    accounts.suspend(scene.github.world, scene.install("acme/shop"))
    told = examined("github", scene.case())
    assert told.status is CheckStatus.WARNING
    assert told.found == "suspended in acme"
    assert "/settings/installations/" in told.fix


def test_a_key_of_another_app_is_told_from_a_github_that_is_away(scene: Scene) -> None:
    other = scene.github.add_app(5, "other", "secret")
    told = examined("github", scene.case(GITHUB__PRIVATE_KEY=other))
    assert told.found.startswith("GitHub answered 401")
    assert "must be a key of the App github.app_id" in told.fix


def test_without_github_the_way_to_an_app_is_told(tmp_path: Path) -> None:
    told = examined("github", case_of(tmp_path))
    assert told.status is CheckStatus.FAILED
    assert "`setup_needed`" in told.fix
    for name in ("github-permissions", "github-webhook", "github-deliveries"):
        assert examined(name, case_of(tmp_path)).status is CheckStatus.SKIPPED


def test_a_token_is_named_by_its_user_and_a_bad_one_is_told(scene: Scene) -> None:
    good = examined("github", scene.with_token(scene.github.add_user("bot")))
    assert good.found == "bot; 4999 of 5000 requests left this hour"
    bad = examined("github", scene.with_token("ghp_revoked"))
    assert (bad.status, "github.token" in bad.fix) == (CheckStatus.FAILED, True)


def test_a_token_that_ends_soon_is_a_warning(scene: Scene) -> None:
    token = scene.github.add_user("bot")
    world = scene.github.world
    ends_at = NOW + timedelta(days=3)
    world.tokens[token] = replace(world.tokens[token], expires_at=ends_at)
    told = examined("github", scene.with_token(token))
    assert told.status is CheckStatus.WARNING
    assert told.found == f"the token expires on {ends_at:%d %B %Y}"


def test_a_token_that_never_ends_and_one_that_ends_late_are_fine() -> None:
    late = TokenStatus(expires_at=NOW + timedelta(days=90))
    assert [one.status for one in judge_expiry(late, NOW)] == [CheckStatus.OK]
    assert list(judge_expiry(TokenStatus(), NOW)) == []


def test_a_limit_that_is_nearly_used_up_is_a_warning() -> None:
    left = RateLimit(limit=5000, remaining=12, reset_at=NOW)
    [told] = judge_allowance(left)
    assert (told.status, told.found) == (
        CheckStatus.WARNING,
        "12 of 5000 requests left this hour",
    )
    assert f"wait until {NOW:%H:%M} UTC" in told.fix


def test_a_server_that_limits_nothing_is_no_fault(scene: Scene) -> None:
    token = scene.github.add_user("bot")
    disabled = {"message": "Rate limiting is not enabled."}
    scene.github.fail_next("GET", "/rate_limit", 404, body=disabled)
    assert examined("github", scene.with_token(token)).found == "bot"


def test_each_missing_permission_is_told_with_its_use(scene: Scene) -> None:
    assert examined("github-permissions", scene.case()).status is CheckStatus.OK
    subscribe(scene.github.world, APP_ID, ["issues"])
    told = examined("github-permissions", scene.case())
    assert told.status is CheckStatus.FAILED
    assert "event issue_comment: the bot does not react to it: add it" in told.fix


def test_a_token_without_the_scope_is_told(scene: Scene) -> None:
    token = scene.github.add_user("bot")
    scene.github.world.registry.scopes[token] = "public_repo"
    told = examined("github-permissions", scene.with_token(token))
    assert told.found == (
        "1 thing missing, the first: scope repo: needed for private repositories"
    )


def test_a_webhook_that_leads_elsewhere_is_told_where_to(scene: Scene) -> None:
    listen_at(scene.github.world, PUBLIC + WEBHOOK_PATH)
    assert examined("github-webhook", scene.case()).status is CheckStatus.OK
    here = scene.case(SERVER__PUBLIC_URL=f"{PUBLIC}/")
    assert examined("github-webhook", here).status is CheckStatus.OK
    told = examined(
        "github-webhook", scene.case(SERVER__PUBLIC_URL="https://x.example")
    )
    assert told.found == f"it points to {PUBLIC}{WEBHOOK_PATH}"
    assert f"to https://x.example{WEBHOOK_PATH}" in told.fix


def test_the_webhook_may_point_to_a_relay(scene: Scene) -> None:
    relay = "https://relay.acme.dev/channel"
    listen_at(scene.github.world, relay)
    here = scene.case(SERVER__PUBLIC_URL=PUBLIC, GITHUB__WEBHOOK_URL=relay)
    told = examined("github-webhook", here)
    assert (told.status, told.found) == (CheckStatus.OK, f"it points to {relay}")


def test_no_webhook_and_one_that_trusts_everybody_are_told(scene: Scene) -> None:
    assert examined("github-webhook", scene.case()).found == "the App has no webhook"
    loose = HookConfig(url=PUBLIC + WEBHOOK_PATH, insecure_ssl="1")
    assert judge_hook(loose, PUBLIC + WEBHOOK_PATH).status is CheckStatus.WARNING


def test_deliveries_that_arrive_are_fine_and_none_is_as_well(scene: Scene) -> None:
    assert examined("github-deliveries", scene.case()).found == "none was sent recently"


def test_a_delivery_that_did_not_arrive_is_told_by_its_status(scene: Scene) -> None:
    scene.install("acme/shop")
    scene.github.open_issue("acme/shop", "ann", "Sum", "@patchwright please fix")
    listen_at(scene.github.world, f"http://127.0.0.1:{free_port()}/hook")
    bring(scene.github.world, scene.github.deliveries[-1])
    told = examined("github-deliveries", scene.case())
    assert told.status is CheckStatus.FAILED
    assert told.found.startswith(
        "1 of the newest 1 did not arrive; the last one with 502"
    )
    assert "see the check `public-url`" in told.fix


def test_with_a_token_the_webhooks_of_known_repositories_are_looked_at(
    scene: Scene,
) -> None:
    known = {
        "SERVER__PUBLIC_URL": f"http://127.0.0.1:{free_port()}",
        "SLACK__CHANNELS": '{"C1": "acme/shop"}',
    }
    listen_at(scene.github.world, known["SERVER__PUBLIC_URL"] + WEBHOOK_PATH)
    scene.github.add_hook("acme/shop", SECRET)
    token = scene.github.add_user("bot")
    hidden = scene.with_token(token, **known)
    for name in ("github-webhook", "github-deliveries"):
        assert examined(name, hidden).status is CheckStatus.SKIPPED
    scene.github.grant("acme/shop", "bot", "admin")
    seen = examined("github-webhook", scene.with_token(token, **known))
    assert seen.found == "the webhook of 1 repository points here"
    scene.github.open_issue("acme/shop", "ann", "Sum", "@patchwright please fix")
    bring(scene.github.world, scene.github.deliveries[-1])
    told = examined("github-deliveries", scene.with_token(token, **known))
    assert told.status is CheckStatus.FAILED


def test_the_clock_is_compared_with_githubs(scene: Scene) -> None:
    assert examined("clock", scene.case()).status is CheckStatus.OK


@pytest.mark.parametrize(
    ("ahead_s", "status", "found"),
    [
        (2, CheckStatus.OK, "same as GitHub's clock"),
        (-45, CheckStatus.WARNING, "45 s behind GitHub's clock"),
        (
            600,
            CheckStatus.FAILED,
            "600 s ahead of GitHub's clock: signatures will be refused",
        ),
    ],
)
def test_a_clock_that_is_wrong_is_told_by_how_much(
    ahead_s: int, status: CheckStatus, found: str
) -> None:
    told = judge_clock(NOW + timedelta(seconds=ahead_s), NOW, "GitHub")
    assert (told.status, told.found) == (status, found)


def test_a_repository_of_the_settings_that_cannot_be_read_is_told(scene: Scene) -> None:
    scene.install("acme/shop")
    named = '{"APP": "acme/shop", "OPS": "acme/gone", "ASK": ""}'
    fine = scene.case(SLACK__CHANNELS='{"C1": "acme/shop"}')
    assert examined("repositories", fine).found == "1 repository can be read"
    told = examined("repositories", scene.case(JIRA__PROJECTS=named))
    assert told.found == "acme/gone cannot be read"
    assert "or correct jira.projects.OPS" in told.fix
    assert examined("repositories", scene.case()).status is CheckStatus.SKIPPED
