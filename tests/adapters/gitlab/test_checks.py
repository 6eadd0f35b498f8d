"""How the jobs and statuses of a commit stand, and how ours is told."""

import pytest

from patchwright.core.forge import CheckReport, Checks, CheckState, FailedCheck
from patchwright.core.types.errors import NotFoundError, PermissionDeniedError
from patchwright.integrations.gitlab.adapter import GitLab
from patchwright.integrations.gitlab.checks import CHECK_NAME, MAX_TRACES
from tests.adapters.gitlab.conftest import PATH, SHOP, connect
from tests.fakes.clock import FakeClock
from tests.fakes.gitlab.acts import builds
from tests.fakes.gitlab.acts.builds import Report
from tests.fakes.gitlab.acts.merges import Proposal
from tests.fakes.gitlab.build_state import Pipeline
from tests.fakes.gitlab.fake import FakeGitLab
from tests.fakes.gitlab.state import Level

TRACE = "\x1b[32;1m$ make test\x1b[0;m\nFAILED test_sum\nERROR: Job failed\n"
CLEAN = "$ make test\nFAILED test_sum\nERROR: Job failed"


@pytest.fixture
def sha(fake: FakeGitLab) -> str:
    return fake.commit_files(PATH, "bot/fix", {"a.py": "2\n"}, author="ann")


def run(fake: FakeGitLab, *reports: Report) -> Pipeline:
    return fake.run_pipeline(PATH, "bot/fix", reports, "ann")


def report(state: CheckState, title: str = "Proven") -> CheckReport:
    return CheckReport(
        key="run-1",
        title=title,
        summary="All of it",
        state=state,
        url="https://bot.example/runs/1",
        at=FakeClock().now(),
    )


def test_failed_jobs_come_with_the_end_of_their_trace(
    fake: FakeGitLab, gitlab: GitLab, sha: str
) -> None:
    run(
        fake,
        Report(name="lint", status="success"),
        Report(name="test", trace=TRACE),
        Report(name="flaky", allow_failure=True),
        Report(name="deploy", status="manual"),
        Report(name="stopped", status="canceled"),
        Report(name="slow", status="running"),
        Report(name="next", status="created"),
    )
    found = gitlab.forge.fetch_checks(SHOP, sha)
    [failed] = found.failed
    assert (failed.name, failed.log) == ("test", CLEAN)
    assert failed.url.startswith(f"{fake.base_url}/{PATH}/-/jobs/")
    assert found.pending == ("slow", "next")


def test_what_other_programs_say_of_a_commit_counts_as_well(
    fake: FakeGitLab, gitlab: GitLab, sha: str
) -> None:
    with fake.world.lock:
        project, ann = fake.world.project(PATH), fake.world.user("ann").id
        for name, state in (("scan", "failed"), ("wait", "pending"), ("ok", "success")):
            wanted = {
                "name": name,
                "state": state,
                "description": f"It is {state}",
                "target_url": f"https://ci.example/{name}",
            }
            builds.set_status(fake.world, project, sha, wanted, ann)
    assert gitlab.forge.fetch_checks(SHOP, sha) == Checks(
        failed=(
            FailedCheck(
                name="scan", url="https://ci.example/scan", summary="It is failed"
            ),
        ),
        pending=("wait",),
    )


def test_jobs_for_the_merged_result_of_our_commit_count_as_well(
    fake: FakeGitLab, gitlab: GitLab, sha: str
) -> None:
    wanted = Proposal(title="Fix", source="bot/fix", target="trunk")
    number = fake.open_merge_request(PATH, "ann", wanted)
    merged = fake.commit_files(PATH, "result", {"a.py": "3\n"}, author="ann")
    with fake.world.lock:
        project = fake.world.project(PATH)
        pipeline = builds.begin_pipeline(
            fake.world, project, "bot/fix", merged, actor=project.creator
        )
        builds.add_job(fake.world, pipeline, Report(name="test", trace=TRACE))
    assert number == 1
    [failed] = gitlab.forge.fetch_checks(SHOP, sha).failed
    assert (failed.name, failed.log) == ("test", CLEAN)
    assert failed.summary == "script failure"


def test_only_some_traces_are_read(fake: FakeGitLab, gitlab: GitLab, sha: str) -> None:
    run(fake, *(Report(name=f"job {n}", trace=TRACE) for n in range(MAX_TRACES + 2)))
    failed = gitlab.forge.fetch_checks(SHOP, sha).failed
    assert [bool(one.log) for one in failed] == [True] * MAX_TRACES + [False] * 2


def test_an_erased_trace_is_empty(fake: FakeGitLab, gitlab: GitLab, sha: str) -> None:
    run(fake, Report(name="test", trace=TRACE))
    fake.fail_next("GET", r"/trace$", 404, body={"message": "404 Not Found"})
    [failed] = gitlab.forge.fetch_checks(SHOP, sha).failed
    assert failed.log == ""


def test_checks_that_may_not_be_read_are_none(
    fake: FakeGitLab, gitlab: GitLab, sha: str
) -> None:
    run(fake, Report(name="test"))
    fake.fail_next("GET", r"/statuses$", 403, body={"message": "403 Forbidden"})
    assert gitlab.forge.fetch_checks(SHOP, sha) == Checks()


@pytest.mark.parametrize(
    ("state", "shown"),
    [
        (CheckState.IN_PROGRESS, "running"),
        (CheckState.SUCCESS, "success"),
        (CheckState.NEUTRAL, "success"),
        (CheckState.FAILURE, "failed"),
        (CheckState.ACTION_REQUIRED, "pending"),
        (CheckState.CANCELLED, "canceled"),
    ],
)
def test_our_check_is_a_status_of_the_commit(
    fake: FakeGitLab, gitlab: GitLab, sha: str, state: CheckState, shown: str
) -> None:
    gitlab.forge.report_check(SHOP, sha, report(state, "The pull request is proven"))
    [status] = fake.world.builds.statuses.values()
    assert (status.name, status.status, status.sha) == (CHECK_NAME, shown, sha)
    assert status.description == "The merge request is proven"
    assert status.target_url == "https://bot.example/runs/1"


def test_our_check_follows_the_run_and_may_be_told_twice(
    fake: FakeGitLab, gitlab: GitLab, sha: str
) -> None:
    for state in (
        CheckState.IN_PROGRESS,
        CheckState.IN_PROGRESS,
        CheckState.SUCCESS,
        CheckState.SUCCESS,
    ):
        gitlab.forge.report_check(SHOP, sha, report(state, "x" * 300))
    [status] = fake.world.builds.statuses.values()
    assert (status.status, len(status.description or "")) == ("success", 255)
    assert gitlab.forge.fetch_checks(SHOP, sha) == Checks()


def test_a_commit_that_is_not_there_has_no_status(gitlab: GitLab) -> None:
    with pytest.raises(NotFoundError):
        gitlab.forge.report_check(SHOP, "f" * 40, report(CheckState.SUCCESS))


def test_a_reporter_sets_no_status(fake: FakeGitLab, sha: str) -> None:
    token = fake.add_user("low")
    fake.grant(PATH, "low", Level.REPORTER)
    low = connect(fake, token)
    with pytest.raises(PermissionDeniedError):
        low.forge.report_check(SHOP, sha, report(CheckState.SUCCESS))
    low.close()
