"""Deliveries that did not arrive are found and sent again; `doctor` sees why."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from patchwright.core.doctor import CheckContext, CheckResult, CheckStatus
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.gitlab import doctor
from patchwright.integrations.gitlab.adapter import GitLab, connect_token
from patchwright.integrations.gitlab.connection import GitLabAddresses
from patchwright.integrations.gitlab.deliveries import NO_ANSWER, find_hook
from patchwright.integrations.gitlab.webhooks.reader import GitLabReceiver
from patchwright.integrations.gitlab.webhooks.triggers import GitLabTriggerRules
from tests.adapters.doctor.cases import case_of, examined
from tests.adapters.gitlab.listening import APP, BOT, SECRET, furnish
from tests.fakes.gitlab.acts.hooks import bring, listen_at
from tests.fakes.gitlab.fake import FakeGitLab
from tests.fakes.gitlab.state import Level
from tests.provision.servers import free_port

REPO = RepoRef(forge="gitlab", full_name=APP)
HERE = "https://bot.corp.dev"
HOUR_AGO = SystemClock().now() - timedelta(hours=1)
SIGNING = "whsec_a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s="


@pytest.fixture
def gitlab() -> Iterator[FakeGitLab]:
    with FakeGitLab() as gitlab:
        furnish(gitlab)
        yield gitlab


def token_of(gitlab: FakeGitLab, name: str = BOT) -> str:
    wanted = gitlab.world.user(name).id
    return next(t.value for t in gitlab.world.tokens.values() if t.user == wanted)


@pytest.fixture
def connected(gitlab: FakeGitLab) -> Iterator[GitLab]:
    addresses, token = (
        GitLabAddresses(base_url=gitlab.base_url),
        SecretStr(token_of(gitlab)),
    )
    with closing(connect_token(addresses, token, clock=SystemClock())) as connected:
        yield connected


@pytest.fixture
def case(gitlab: FakeGitLab, tmp_path: Path) -> CheckContext:
    found = case_of(
        tmp_path,
        GITLAB__BASE_URL=gitlab.base_url,
        GITLAB__TOKEN=token_of(gitlab),
        GITLAB__WEBHOOK_SECRET=SECRET,
        SERVER__PUBLIC_URL=HERE,
    )
    return replace(found, find_repositories=lambda _forge: (REPO,))


@pytest.fixture
def nowhere(gitlab: FakeGitLab) -> str:
    """Let every hook call an address where nobody listens."""
    url = f"http://127.0.0.1:{free_port()}/hook"
    listen_at(gitlab.world, url)
    return url


def lose(gitlab: FakeGitLab) -> str:
    """Let a delivery be lost and return its id."""
    gitlab.open_issue(APP, "ann", "It breaks", "")
    bring(gitlab.world, gitlab.deliveries[-1])
    return gitlab.deliveries[-1].guid


def lines(result: CheckResult) -> list[str]:
    return [result.status, result.found, *result.fix.splitlines()]


def test_hook_is_seen_by_a_maintainer_alone(
    gitlab: FakeGitLab, connected: GitLab, nowhere: str
) -> None:
    assert find_hook(connected.api, REPO, nowhere) is None
    gitlab.grant(APP, BOT, Level.MAINTAINER)
    assert find_hook(connected.api, REPO, nowhere)
    assert find_hook(connected.api, REPO, "https://other.example/hook") is None


def test_lost_delivery_is_listed_and_sent_again_with_its_id(
    gitlab: FakeGitLab, connected: GitLab, nowhere: str
) -> None:
    gitlab.grant(APP, BOT, Level.MAINTAINER)
    guid = lose(gitlab)
    hook = find_hook(connected.api, REPO, nowhere)
    assert hook
    [lost] = hook.list_failed(HOUR_AGO)
    assert (lost.guid, lost.status_code) == (guid, NO_ANSWER)
    hook.redeliver(lost.id)
    assert [one.guid for one in hook.list_failed(HOUR_AGO)] == [guid, guid]
    assert hook.list_failed(SystemClock().now() + timedelta(seconds=2)) == ()


def test_doctor_says_whose_token_it_is(gitlab: FakeGitLab, case: CheckContext) -> None:
    in_a_year = next(iter(gitlab.world.tokens.values())).expires_on
    assert lines(doctor.check_gitlab(case)) == [
        "ok",
        f"{BOT}; the token expires on {in_a_year:%d %B %Y}",
    ]
    gitlab.revoke(token_of(gitlab))
    status, found, fix = lines(doctor.check_gitlab(case))
    assert (status, fix) == (
        "failed",
        "set gitlab.token to a new token: see docs/gitlab.md",
    )
    assert found.startswith("GitLab answered 401: ")


def test_doctor_leaves_out_the_forge_that_is_not_used(case: CheckContext) -> None:
    for name in ("github", "github-webhook"):
        assert lines(examined(name, case)) == ["skipped", "the code is on GitLab"]
    assert examined("gitlab", case).status is CheckStatus.OK


def test_doctor_sees_scopes_and_the_end_of_a_token(
    gitlab: FakeGitLab, tmp_path: Path
) -> None:
    tomorrow = SystemClock().now().date() + timedelta(days=1)
    token = gitlab.add_user("weak", scopes=("read_api",), expires_on=tomorrow)
    case = case_of(tmp_path, GITLAB__BASE_URL=gitlab.base_url, GITLAB__TOKEN=token)
    assert lines(doctor.check_gitlab(case)) == [
        "failed",
        (
            "the token has not the scope `api`, but read_api; the token expires on "
            f"{tomorrow:%d %B %Y}"
        ),
        "set gitlab.token to a new token: see docs/gitlab.md",
    ]
    later = date(2999, 1, 31)
    token = gitlab.add_user("strong", expires_on=later)
    case = case_of(tmp_path, GITLAB__BASE_URL=gitlab.base_url, GITLAB__TOKEN=token)
    assert lines(doctor.check_gitlab(case)) == [
        "ok",
        "strong; the token expires on 31 January 2999",
    ]


def test_doctor_sees_what_the_bot_cannot_do(
    gitlab: FakeGitLab, case: CheckContext
) -> None:
    assert lines(doctor.check_permissions(case)) == [
        "ok",
        "Developer or more in 1 project",
    ]
    gitlab.grant(APP, BOT, Level.REPORTER)
    assert lines(doctor.check_permissions(case)) == [
        "failed",
        f"{APP}: {BOT} cannot push",
        f"make {BOT} a Developer of {APP}, or of a group above it",
    ]


def test_doctor_sees_the_webhook(gitlab: FakeGitLab, case: CheckContext) -> None:
    assert doctor.check_webhook(case).status is CheckStatus.SKIPPED
    gitlab.grant(APP, BOT, Level.MAINTAINER)
    listen_at(gitlab.world, HERE + doctor.WEBHOOK_PATH)
    assert lines(doctor.check_webhook(case)) == [
        "ok",
        "the webhook of 1 project points here",
    ]
    number = next(one.id for one in gitlab.world.hooks.values() if one.project)
    hook = gitlab.world.hooks[number]
    deaf = {**hook.events, "note_events": False, "confidential_issues_events": False}
    gitlab.world.hooks[number] = replace(hook, events=deaf)
    assert lines(doctor.check_webhook(case)) == [
        "warning",
        f"{APP}: the webhook does not send Confidential issue events, Comments",
        f"enable them: {gitlab.base_url}/{APP}/-/hooks",
    ]


def test_doctor_sees_deliveries(gitlab: FakeGitLab, case: CheckContext) -> None:
    assert doctor.check_deliveries(case) == doctor.NO_WEBHOOK_VISIBLE
    gitlab.grant(APP, BOT, Level.MAINTAINER)
    listen_at(gitlab.world, HERE + doctor.WEBHOOK_PATH)
    assert lines(doctor.check_deliveries(case)) == ["ok", "none was sent recently"]


def test_doctor_says_what_is_wrong_with_deliveries(
    gitlab: FakeGitLab, connected: GitLab, nowhere: str
) -> None:
    gitlab.grant(APP, BOT, Level.MAINTAINER)
    lose(gitlab)
    hook = find_hook(connected.api, REPO, nowhere)
    assert hook
    status, found, fix = lines(doctor.judge_deliveries(hook.list_newest()))
    assert (status, fix) == (
        "failed",
        "GitLab cannot reach the webhook's address: see the check `public-url`",
    )
    assert found.startswith("1 of the newest 1 did not arrive; the last one with no ")


def test_clock_is_asked_without_a_token(gitlab: FakeGitLab, case: CheckContext) -> None:
    at = doctor.fetch_time(case.settings, SystemClock())
    assert at
    assert abs(at - SystemClock().now()) < timedelta(minutes=1)
    assert gitlab.requests[-1].path == "/api/v4/projects"


@pytest.mark.parametrize("signing", ["", SIGNING])
def test_probe_is_believed_and_asks_nothing(tmp_path: Path, signing: str) -> None:
    case = case_of(
        tmp_path,
        GITLAB__TOKEN="t",
        GITLAB__WEBHOOK_SECRET=SECRET,
        **({"GITLAB__WEBHOOK_SIGNING_KEY": signing} if signing else {}),
    )
    probe = doctor.make_probe(case.settings)
    assert probe
    rules = GitLabTriggerRules(mention="@patchwright")
    keys = [b"k" * 32] if signing else []
    receiver = GitLabReceiver([SecretStr(SECRET)], keys, rules, SystemClock().now)
    with pytest.raises(Exception, match="names no event"):
        receiver.read(probe.headers, probe.body)
