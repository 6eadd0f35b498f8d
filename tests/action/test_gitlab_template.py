"""The template as GitLab's runner carries it out: with processes, signals and files."""

import json
import signal
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from patchwright.integrations.gitlab.ci.system import variable_of
from tests.action.gitlab_runner import GitLabRunner
from tests.fakes.llm.turns import TurnLike, hang
from tests.flow.action.gitlab_job import PROJECT, Pipelines, pipelines
from tests.flow.script import Request
from tests.flow.story import MODEL_KEY, fix_turns

# A machine with much else to do takes minutes for what usually takes seconds.
pytestmark = pytest.mark.timeout(600)

RUN = ".patchwright-run"


def asked(scene: Pipelines) -> GitLabRunner:
    """Return the job that a note starts by a webhook."""
    number = scene.gitlab.open_issue(PROJECT, "alice", "Wrong sum", "It is wrong.")
    scene.gitlab.comment(PROJECT, number, "alice", "@patchwright please fix the sum")
    given = scene.variables_for(scene.newest())
    limit = {variable_of("fail-on"): "unproven"}
    return GitLabRunner(scene.folder, {**given, **limit})


def status_of(scene: Pipelines) -> str:
    notes = scene.gitlab.comments(PROJECT, 1)
    [status] = [one.body for one in notes if "patchwright:state=" in one.body]
    return status


def test_a_note_ends_in_a_merge_request_and_in_reports(tmp_path: Path) -> None:
    with pipelines(tmp_path, fix_turns()) as scene:
        job = asked(scene)
        assert job.run() == 0, job.log
        [merge_request] = scene.gitlab.merge_requests(PROJECT)
        reports = job.reports()
        variables = dict(
            line.split("=", 1) for line in reports["dotenv"].decode().splitlines()
        )
        assert variables["PATCHWRIGHT_OUTPUT_HEAD_SHA"] == merge_request.head_sha
        assert variables["PATCHWRIGHT_OUTPUT_PROOF"] == "proven"
        assert ET.fromstring(reports["junit"]).tag == "testsuites"
        assert job.artifacts().keys() == {
            f"{RUN}/change.patch",
            f"{RUN}/evidence.json",
            f"{RUN}/junit.xml",
            f"{RUN}/outputs.env",
            f"{RUN}/outputs.json",
            f"{RUN}/receipt.json",
            f"{RUN}/summary.md",
            f"{RUN}/trajectory.jsonl",
        }
        said = job.log + "".join(map(str, job.artifacts().values()))
        for secret in (scene.token, MODEL_KEY, "glcbt-of-the-job-itself"):
            assert secret not in said
        assert job.log.count("outcome: resolved\n") == 1
        section, _, rest = job.log.partition("section_end:")
        assert "section_start:" in section
        assert f"merge request: {variables['PATCHWRIGHT_OUTPUT_PR_URL']}\n" in rest
        # What is no artifact is gone: a runner may keep its folders for other jobs.
        assert not list(Path(f"{job.workspace}.tmp").iterdir())


def test_a_cancelled_pipeline_says_so_in_the_thread(tmp_path: Path) -> None:
    jobs: list[GitLabRunner] = []

    def cancel(_request: Request) -> TurnLike:
        jobs[0].cancel()
        return hang()

    with pipelines(tmp_path, cancel) as scene:
        jobs.append(asked(scene))
        jobs[0].run()
        outputs = json.loads(jobs[0].artifacts()[f"{RUN}/outputs.json"])
        assert outputs["outcome"] == "stopped", jobs[0].log
        assert "state=stopped" in status_of(scene)
        assert "somebody who cancelled the pipeline" in status_of(scene)


def test_a_killed_run_is_reported_after_the_script(tmp_path: Path) -> None:
    jobs: list[GitLabRunner] = []

    def kill(_request: Request) -> TurnLike:
        jobs[0].send(signal.SIGKILL)
        return hang()

    with pipelines(tmp_path, kill) as scene:
        jobs.append(asked(scene))
        assert jobs[0].run() == 137
        outputs = json.loads(jobs[0].artifacts()[f"{RUN}/outputs.json"])
        assert (outputs["outcome"], outputs["error-code"]) == ("failed", "crashed")
        assert outputs["run-id"]
        assert "outcome: failed (crashed)" in jobs[0].log
