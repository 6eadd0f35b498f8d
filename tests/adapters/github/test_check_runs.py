"""A run is one line in a commit's list of checks, from its start to its end."""

from datetime import UTC, datetime

import pytest

from patchwright.core.forge import CheckReport, CheckState
from patchwright.core.types.errors import InvalidRequestError, PermissionDeniedError
from patchwright.integrations.github.adapter import GitHub
from tests.adapters.github.conftest import SHOP
from tests.fakes.github.acts.checks import checks_on
from tests.fakes.github.bare import find_commit
from tests.fakes.github.check_state import CheckRun
from tests.fakes.github.fake import FakeGitHub

AT = datetime(2030, 1, 1, 12, tzinfo=UTC)
STARTED = CheckReport(
    key="run-1",
    title="Working on it",
    summary="Requested by @ann.",
    state=CheckState.IN_PROGRESS,
    url="https://bot.test/runs/1",
    at=AT,
)
ENDED = STARTED.replace(state=CheckState.SUCCESS, title="Done, and proven")


@pytest.fixture
def sha(fake: FakeGitHub) -> str:
    found = find_commit(fake.git_folder("acme/shop"), "refs/heads/trunk")
    assert found is not None
    return found


def checks(fake: FakeGitHub, sha: str) -> list[CheckRun]:
    return checks_on(fake.world, "acme/shop", sha)


def test_a_check_begins_and_ends_as_one(
    fake: FakeGitHub, as_app: GitHub, sha: str
) -> None:
    as_app.forge.report_check(SHOP, sha, STARTED)
    [begun] = checks(fake, sha)
    assert (begun.status, begun.conclusion) == ("in_progress", None)
    assert (begun.started_at, begun.details_url) == (AT, STARTED.url)
    as_app.forge.report_check(SHOP, sha, ENDED)
    [ended] = checks(fake, sha)
    assert (ended.status, ended.conclusion) == ("completed", "success")
    assert (ended.title, ended.started_at) == ("Done, and proven", AT)


def test_another_run_has_a_check_of_its_own(
    fake: FakeGitHub, as_app: GitHub, sha: str
) -> None:
    for key in ("run-1", "run-2", "run-1"):
        report = STARTED.replace(key=key)
        as_app.forge.report_check(SHOP, sha, report)
    assert [one.external_id for one in checks(fake, sha)] == ["run-1", "run-2"]


@pytest.mark.parametrize("state", CheckState)
def test_every_state_is_one_that_github_knows(
    fake: FakeGitHub, as_app: GitHub, sha: str, state: CheckState
) -> None:
    report = STARTED.replace(state=state, url="")
    as_app.forge.report_check(SHOP, sha, report)
    [check] = checks(fake, sha)
    assert state in (check.status, check.conclusion)


def test_a_long_report_is_cut_to_what_github_takes(
    fake: FakeGitHub, as_app: GitHub, sha: str
) -> None:
    long = STARTED.replace(summary="x" * 90_000, title="y" * 900)
    as_app.forge.report_check(SHOP, sha, long)
    [check] = checks(fake, sha)
    assert len(check.summary or "") <= 65_535
    assert len(check.title or "") == 255


def test_only_an_app_may_report(as_user: GitHub, sha: str) -> None:
    with pytest.raises(PermissionDeniedError, match="GitHub App"):
        as_user.forge.report_check(SHOP, sha, STARTED)


def test_a_commit_that_is_not_there_has_no_checks(as_app: GitHub) -> None:
    with pytest.raises(InvalidRequestError, match="No commit found"):
        as_app.forge.report_check(SHOP, "0" * 40, STARTED)
