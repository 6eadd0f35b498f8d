"""What GitLab is told of a run: whole, as text."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from patchwright.core.ci.result import Grade, Result, crash_result
from patchwright.integrations.gitlab.ci.report import dotenv_text, fold_end, fold_start
from patchwright.integrations.gitlab.ci.system import GitLabCi
from tests.unit.gitlab.test_ci import variables

CI = GitLabCi()
DONE = {
    "outcome": "resolved",
    "summary": "The sum is right now.\nIt costs $3.",
    "pr-number": "5",
    "pr-url": "https://git.corp.example/gitlab/acme/web/shop/-/merge_requests/5",
    "branch": "patchwright/1-wrong-sum",
    "base-sha": "a" * 40,
    "head-sha": "b" * 40,
    "comment-url": "https://git.corp.example/gitlab/acme/web/shop/-/issues/1#note_9",
    "tests-before": "failed (exit 1)",
    "tests-after": "passed",
    "proof": "proven",
    "evidence": '{"proof": "proven"}',
    "cost-usd": "0.4100",
    "tokens-in": "400",
    "tokens-out": "80",
    "model": "anthropic/claude-sonnet-4-5",
    "iterations": "4",
    "duration-seconds": "61",
    "run-id": "0f3a",
    "removed-content-count": "0",
    "blocked-requests-count": "0",
}

DOTENV = (
    "PATCHWRIGHT_OUTPUT_OUTCOME=resolved\n"
    "PATCHWRIGHT_OUTPUT_ERROR_CODE=\n"
    "PATCHWRIGHT_OUTPUT_SUMMARY=The sum is right now. It costs \uff043.\n"
    "PATCHWRIGHT_OUTPUT_PR_NUMBER=5\n"
    "PATCHWRIGHT_OUTPUT_PR_URL="
    "https://git.corp.example/gitlab/acme/web/shop/-/merge_requests/5\n"
    "PATCHWRIGHT_OUTPUT_BRANCH=patchwright/1-wrong-sum\n"
    f"PATCHWRIGHT_OUTPUT_BASE_SHA={'a' * 40}\n"
    f"PATCHWRIGHT_OUTPUT_HEAD_SHA={'b' * 40}\n"
    "PATCHWRIGHT_OUTPUT_COMMENT_URL="
    "https://git.corp.example/gitlab/acme/web/shop/-/issues/1#note_9\n"
    "PATCHWRIGHT_OUTPUT_TESTS_BEFORE=failed (exit 1)\n"
    "PATCHWRIGHT_OUTPUT_TESTS_AFTER=passed\n"
    "PATCHWRIGHT_OUTPUT_PROOF=proven\n"
    "PATCHWRIGHT_OUTPUT_EVIDENCE_FILE=\n"
    "PATCHWRIGHT_OUTPUT_PATCH_FILE=.patchwright-run/change.patch\n"
    "PATCHWRIGHT_OUTPUT_TRAJECTORY_FILE=\n"
    "PATCHWRIGHT_OUTPUT_RECEIPT_FILE=\n"
    "PATCHWRIGHT_OUTPUT_COST_USD=0.4100\n"
    "PATCHWRIGHT_OUTPUT_TOKENS_IN=400\n"
    "PATCHWRIGHT_OUTPUT_TOKENS_OUT=80\n"
    "PATCHWRIGHT_OUTPUT_MODEL=anthropic/claude-sonnet-4-5\n"
    "PATCHWRIGHT_OUTPUT_ITERATIONS=4\n"
    "PATCHWRIGHT_OUTPUT_DURATION_SECONDS=61\n"
    "PATCHWRIGHT_OUTPUT_RUN_ID=0f3a\n"
    "PATCHWRIGHT_OUTPUT_REMOVED_CONTENT_COUNT=0\n"
    "PATCHWRIGHT_OUTPUT_BLOCKED_REQUESTS_COUNT=0\n"
)


def leave(folder: Path, result: Result) -> Path:
    job = CI.read_job(variables(folder))
    result.write(job.result, lambda text: text)
    return job.artifacts


def test_the_result_of_a_run_is_told_in_variables_files_and_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    patch = str(tmp_path / "shop" / ".patchwright-run" / "change.patch")
    notice = "input `pr-type` is now `deliver`."
    done = Result(Grade.GOOD, {**DONE, "patch-file": patch}, "**Done**", (notice,))
    artifacts = leave(tmp_path, done)
    assert CI.conclude(variables(tmp_path)) == 0
    assert (artifacts / "outputs.env").read_text() == DOTENV
    whole = json.loads((artifacts / "outputs.json").read_text())
    assert whole["summary"] == DONE["summary"]
    assert whole["evidence"] == '{"proof": "proven"}'
    assert (artifacts / "summary.md").read_text() == "**Done**\n"
    assert capsys.readouterr().out == (
        "outcome: resolved\n"
        "merge request: "
        "https://git.corp.example/gitlab/acme/web/shop/-/merge_requests/5\n"
        "note: https://git.corp.example/gitlab/acme/web/shop/-/issues/1#note_9\n"
        "\n"
        "The sum is right now.\n"
        "It costs $3.\n"
        "warning: input `pr-type` is now `deliver`.\n"
    )


FORGED = (
    "fine\nPATCHWRIGHT_OUTPUT_PROOF=proven\r\nPATH=/evil\u2028X=$LLM_API_KEY\x1b[0m"
)


def test_no_text_is_another_variable_or_the_value_of_one() -> None:
    told = dotenv_text({"outcome": "failed", "summary": FORGED, "branch": FORGED})
    lines = told.splitlines()
    assert len({line.partition("=")[0] for line in lines}) == len(lines) == 25
    assert lines[2] == (
        "PATCHWRIGHT_OUTPUT_SUMMARY=fine PATCHWRIGHT_OUTPUT_PROOF=proven PATH=/evil "
        "X=\uff04LLM_API_KEY [0m"
    )
    assert "$" not in told


@pytest.mark.parametrize("letter", ["x", "ü", "🟢"])
def test_what_gitlab_would_refuse_as_too_large_is_cut_in_the_summary(
    letter: str,
) -> None:
    told = dotenv_text({**DONE, "summary": letter * 9_000, "branch": "b" * 9_000})
    assert 5 * 1024 - 4 < len(told.encode()) <= 5 * 1024
    assert "PATCHWRIGHT_OUTPUT_BRANCH=\n" in told
    assert f"PATCHWRIGHT_OUTPUT_PR_URL={DONE['pr-url']}\n" in told


@pytest.mark.parametrize(
    ("grade", "fail_on", "code"),
    [
        (Grade.GOOD, "unproven", 0),
        (Grade.UNPROVEN, "", 0),
        (Grade.UNPROVEN, "unproven", 1),
        (Grade.UNRESOLVED, "error", 0),
        (Grade.UNRESOLVED, "unresolved", 1),
        (Grade.ERROR, "", 1),
        (Grade.ERROR, "never", 0),
    ],
)
def test_the_job_fails_as_the_step_of_the_action_does(
    grade: Grade, fail_on: str, code: int, tmp_path: Path
) -> None:
    leave(tmp_path, Result(grade, {"outcome": "stuck"}))
    assert CI.conclude(variables(tmp_path, PATCHWRIGHT_FAIL_ON=fail_on)) == code


@pytest.mark.parametrize("told", ["", "{", "[]", '{"grade": "good"}'])
def test_a_run_that_was_killed_is_told_as_that(
    told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = CI.read_job(variables(tmp_path))
    if told:
        job.result.write_text(told)
    assert CI.conclude(variables(tmp_path)) == 1
    assert capsys.readouterr().out == (
        "outcome: failed (crashed)\n\n"
        "The run ended without a result: its process was killed, or the machine ran "
        "out of memory or time.\n"
    )


def test_a_cancelled_pipeline_is_no_crash(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    leave(tmp_path, crash_result({"run-id": "0f3a"}))
    CI.close(variables(tmp_path, CI_JOB_STATUS="canceled"))
    assert capsys.readouterr().out == (
        "outcome: stopped (cancelled)\n\n"
        "The pipeline was cancelled before the run could report its result.\n"
    )


def test_what_was_reported_is_not_reported_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    leave(tmp_path, Result(Grade.GOOD, {"outcome": "answered"}))
    CI.conclude(variables(tmp_path))
    assert capsys.readouterr().out
    CI.close(variables(tmp_path))
    assert capsys.readouterr().out == ""


def test_our_words_are_gitlabs(tmp_path: Path) -> None:
    said = "It has no pull request."
    artifacts = leave(tmp_path, Result(Grade.GOOD, {"summary": said}, said))
    CI.conclude(variables(tmp_path))
    assert (artifacts / "summary.md").read_text() == "It has no merge request.\n"
    outputs = json.loads((artifacts / "outputs.json").read_text())
    assert outputs["summary"] == "It has no merge request."


def test_the_log_of_the_run_is_a_folded_section() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    assert fold_start(at) == (
        "\x1b[0Ksection_start:1767225600:patchwright[collapsed=true]\r\x1b[0K"
        "The run of Patchwright\n"
    )
    assert fold_end(at) == ("\x1b[0Ksection_end:1767225600:patchwright\r\x1b[0K\n")
