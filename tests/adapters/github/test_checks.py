"""How the checks of a commit stand, and what the failed ones printed."""

from dataclasses import replace

import pytest

from patchwright.core.forge import Checks
from patchwright.core.types.errors import ServiceUnavailableError
from patchwright.integrations.github.adapter import GitHub
from patchwright.integrations.github.checks import (
    CHECK_NAME,
    MAX_LOGS,
    clean_log,
)
from patchwright.integrations.http.log_tail import MAX_TAIL_CHARS
from tests.adapters.github.conftest import SHOP, connect
from tests.fakes.github.acts.builds import Report, run_check, run_job, set_status
from tests.fakes.github.acts.checks import change_check
from tests.fakes.github.auth import CallerKind
from tests.fakes.github.ci_state import Annotation
from tests.fakes.github.fake import FakeGitHub

REPO = "acme/shop"
LOG = (
    "\ufeff2026-01-02T03:04:05.1234567Z ##[group]Run make test\r\n"
    "2026-01-02T03:04:06.1234567Z \x1b[31mFAILED\x1b[0m test_sum\r\n"
    "2026-01-02T03:04:07.1234567Z ##[error]Process completed with exit code 1.\r\n"
    "2026-01-02T03:04:08.1234567Z Post job cleanup.\r\n"
)
CLEAN = (
    "##[group]Run make test\nFAILED test_sum\n"
    "##[error]Process completed with exit code 1."
)


@pytest.fixture
def sha(fake: FakeGitHub) -> str:
    return fake.commit_files(REPO, "fix", {"a.py": "2\n"})


def test_a_commit_without_checks_has_neither_failed_nor_pending_ones(
    as_app: GitHub, sha: str
) -> None:
    assert as_app.forge.fetch_checks(SHOP, sha) == Checks()


def test_a_failed_job_comes_with_the_end_of_its_log(
    fake: FakeGitHub, as_app: GitHub, sha: str
) -> None:
    run = run_job(fake.world, REPO, sha, Report(name="test"), LOG)
    [failed] = as_app.forge.fetch_checks(SHOP, sha).failed
    assert (failed.name, failed.log) == ("test", CLEAN)
    assert failed.url == f"{fake.web_url}/acme/shop/runs/{run.id}"


def test_the_log_is_fetched_without_our_token(
    fake: FakeGitHub, as_user: GitHub, sha: str
) -> None:
    run_job(fake.world, REPO, sha, Report(name="test"), LOG)
    as_user.forge.fetch_checks(SHOP, sha)
    [asked] = [one for one in fake.requests if "signed-logs" in one.path]
    assert (asked.status, asked.authorization) == (200, CallerKind.ANONYMOUS)


def test_a_log_that_is_gone_leaves_what_the_check_says_itself(
    fake: FakeGitHub, as_app: GitHub, sha: str
) -> None:
    report = Report(name="test", title="1 failed", summary="test_sum failed")
    run_job(fake.world, REPO, sha, report)
    [failed] = as_app.forge.fetch_checks(SHOP, sha).failed
    assert (failed.summary, failed.log) == ("1 failed\ntest_sum failed", "")


@pytest.mark.parametrize("status", [403, 410])
def test_a_log_that_may_not_be_read_is_no_failure(
    fake: FakeGitHub, as_app: GitHub, sha: str, status: int
) -> None:
    run_job(fake.world, REPO, sha, Report(name="test"), LOG)
    fake.fail_next("GET", "/logs$", status, body={"message": "No."})
    [failed] = as_app.forge.fetch_checks(SHOP, sha).failed
    assert failed.log == ""


@pytest.mark.parametrize(
    "address", ["http://169.254.169.254/latest", "file:///etc/passwd", ""]
)
def test_a_log_is_fetched_from_no_odd_place(
    fake: FakeGitHub, as_app: GitHub, sha: str, address: str
) -> None:
    run_job(fake.world, REPO, sha, Report(name="test"), LOG)
    fake.fail_next("GET", "/logs$", 302, headers={"Location": address}, body=None)
    [failed] = as_app.forge.fetch_checks(SHOP, sha).failed
    assert failed.log == ""


def test_a_store_that_is_broken_is_no_failure(
    fake: FakeGitHub, as_app: GitHub, sha: str
) -> None:
    run_job(fake.world, REPO, sha, Report(name="test"), LOG)
    fake.fail_next("GET", "/signed-logs/", 503)
    [failed] = as_app.forge.fetch_checks(SHOP, sha).failed
    assert failed.log == ""


def test_checks_that_cannot_be_listed_are_a_failure(
    fake: FakeGitHub, as_app: GitHub, sha: str
) -> None:
    fake.fail_next("GET", "/check-runs", 502, times=4)
    with pytest.raises(ServiceUnavailableError):
        as_app.forge.fetch_checks(SHOP, sha)


def test_what_we_may_not_see_is_left_out(fake: FakeGitHub, sha: str) -> None:
    fake.world.put_repo(replace(fake.world.repo(REPO), private=True))
    run_job(fake.world, REPO, sha, Report(name="test"), LOG)
    set_status(fake.world, REPO, sha, "old/ci", state="failure")
    token = fake.mint_actions_token(REPO, {"statuses": "read"})
    github = connect(fake, token)
    [failed] = github.forge.fetch_checks(SHOP, sha).failed
    assert failed.name == "old/ci"
    github.close()


def test_another_apps_check_comes_with_its_annotations(
    fake: FakeGitHub, as_app: GitHub, sha: str
) -> None:
    found = Annotation(path="a.py", line=3, level="failure", message="Bad name")
    report = Report(name="lint", summary="One problem")
    run_check(fake.world, REPO, sha, report, app_slug="linter", annotations=[found])
    [failed] = as_app.forge.fetch_checks(SHOP, sha).failed
    assert (failed.summary, failed.log) == (
        "One problem",
        "a.py:3: failure: Bad name",
    )


@pytest.mark.parametrize(
    ("conclusion", "fails"),
    [
        ("failure", True),
        ("timed_out", True),
        ("success", False),
        ("neutral", False),
        ("cancelled", False),
        ("skipped", False),
        ("action_required", False),
    ],
)
def test_only_what_code_may_cure_has_failed(
    fake: FakeGitHub, as_app: GitHub, sha: str, conclusion: str, *, fails: bool
) -> None:
    run_job(fake.world, REPO, sha, Report(name="test", conclusion=conclusion))
    found = as_app.forge.fetch_checks(SHOP, sha)
    assert [check.name for check in found.failed] == (["test"] if fails else [])
    assert found.pending == ()


def test_a_job_that_still_runs_is_pending_and_what_waits_for_a_person_is_not(
    fake: FakeGitHub, as_app: GitHub, sha: str
) -> None:
    run_job(fake.world, REPO, sha, Report(name="slow", conclusion=None))
    gated = run_job(fake.world, REPO, sha, Report(name="deploy", conclusion=None))
    change_check(fake.world, gated, {"status": "waiting"})
    set_status(fake.world, REPO, sha, "old/ci", state="pending")
    assert as_app.forge.fetch_checks(SHOP, sha) == Checks(pending=("slow", "old/ci"))


def test_plain_statuses_count_by_their_newest_word(
    fake: FakeGitHub, as_app: GitHub, sha: str
) -> None:
    for context, state in (("old/ci", "failure"), ("new/ci", "error")):
        set_status(fake.world, REPO, sha, context, state=state, text="It broke")
    set_status(fake.world, REPO, sha, "old/ci", state="success")
    [failed] = as_app.forge.fetch_checks(SHOP, sha).failed
    assert (failed.name, failed.summary) == ("new/ci", "It broke")
    assert failed.url.startswith(f"{fake.web_url}/builds/")


def test_our_own_check_is_left_out(fake: FakeGitHub, as_app: GitHub, sha: str) -> None:
    report = Report(name=CHECK_NAME)
    run_check(fake.world, REPO, sha, report, app_slug="patchwright")
    assert as_app.forge.fetch_checks(SHOP, sha) == Checks()


def test_hundreds_of_checks_are_all_seen_and_few_logs_fetched(
    fake: FakeGitHub, as_app: GitHub, sha: str
) -> None:
    for number in range(130):
        run_job(fake.world, REPO, sha, Report(name=f"test {number}"), LOG)
    found = as_app.forge.fetch_checks(SHOP, sha).failed
    assert len(found) == 130
    assert sum(bool(check.log) for check in found) == MAX_LOGS


def test_only_the_end_of_a_long_log_is_kept() -> None:
    lines = "".join(f"2026-01-02T03:04:05.1Z line {n}\n" for n in range(20_000))
    log = clean_log(lines.encode())
    assert len(log) <= MAX_TAIL_CHARS
    assert log.startswith("line ")
    assert log.endswith("\nline 19999")


def test_bytes_that_are_no_text_are_no_obstacle() -> None:
    assert clean_log(b"caf\xe9 \x00\x1b]0;title\x07ok\n") == "caf\ufffd ok"
