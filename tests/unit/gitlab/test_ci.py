"""What a job of GitLab's runner is told, from variables alone."""

import json
from pathlib import Path

import pytest

from patchwright.core.ci.inputs import Inputs
from patchwright.core.types.errors import SettingsError
from patchwright.integrations.gitlab.ci.system import (
    GITLAB_INPUTS,
    ForkPipelineError,
    GitLabCi,
    PipelineJob,
    variable_of,
)

CI = GitLabCi()


def variables(folder: Path, **more: str) -> dict[str, str]:
    return {
        "GITLAB_CI": "true",
        "CI_PROJECT_DIR": str(folder / "shop"),
        "CI_PROJECT_ID": "7",
        "CI_PROJECT_PATH": "acme/web/shop",
        "CI_PROJECT_URL": "https://git.corp.example/gitlab/acme/web/shop",
        "CI_SERVER_URL": "https://git.corp.example/gitlab",
        "CI_PIPELINE_ID": "900",
        "CI_PIPELINE_SOURCE": "web",
        "CI_JOB_ID": "4711",
        "GITLAB_USER_LOGIN": "alice",
        "GITLAB_USER_ID": "12",
        "PATCHWRIGHT_LLM_MODEL": "openai/x",
        "PATCHWRIGHT_GITLAB__TOKEN": "glpat-of-the-bot",
        **more,
    }


def read(folder: Path, **more: str) -> tuple[PipelineJob, Inputs]:
    environ = variables(folder, **more)
    job = CI.read_job(environ)
    return job, CI.read_inputs(job, environ)


def test_a_job_knows_where_it_runs(tmp_path: Path) -> None:
    job, inputs = read(tmp_path, PATCHWRIGHT_TASK="Mend it.")
    assert str(job.repo) == "gitlab:acme/web/shop"
    assert (job.actor, job.actor_id, job.event_name) == ("alice", "12", "web")
    assert job.runs_url == ("https://git.corp.example/gitlab/acme/web/shop/-/pipelines")
    assert job.artifacts == tmp_path / "shop" / ".patchwright-run"
    assert inputs.text("task") == "Mend it."
    assert inputs.text("max-cost-usd") == "3.00"
    assert not inputs.is_true("prove-only")


def test_what_is_no_artifact_is_out_of_reach_of_the_checkout(tmp_path: Path) -> None:
    job, _ = read(tmp_path)
    assert not job.folder.is_relative_to(job.workspace)
    (job.folder / "state").mkdir()
    CI.close(variables(tmp_path))
    assert not job.folder.exists()
    assert (job.artifacts / "outputs.env").exists()


def test_nothing_of_an_earlier_job_is_taken_for_ours(tmp_path: Path) -> None:
    job, _ = read(tmp_path)
    (job.artifacts / "outputs.env").write_text("PATCHWRIGHT_OUTPUT_OUTCOME=resolved")
    CI.begin(variables(tmp_path))
    assert list(job.artifacts.iterdir()) == []


def test_a_link_in_the_place_of_the_artifacts_is_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").touch()
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / ".patchwright-run").symlink_to(elsewhere)
    CI.begin(variables(tmp_path))
    assert not (tmp_path / "shop" / ".patchwright-run").is_symlink()
    assert (elsewhere / "kept").exists()


def test_bots_are_known_by_the_names_that_gitlab_gives_them(tmp_path: Path) -> None:
    job, _ = read(tmp_path)
    assert job.is_bot("project_7_bot_2a")
    assert job.is_bot("group_9_bot")
    assert not job.is_bot("alice")


def test_the_pipeline_of_a_merge_request_proves_it(tmp_path: Path) -> None:
    of_branch = {
        "CI_MERGE_REQUEST_IID": "5",
        "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "7",
        "PATCHWRIGHT_LLM_MODEL": "",
    }
    job, inputs = read(tmp_path, **of_branch)
    assert inputs.is_true("prove-only")
    assert CI.find_pull_number(job, inputs) == 5


@pytest.mark.parametrize("source", ["8", ""])
def test_a_fork_gets_nothing_of_ours(tmp_path: Path, source: str) -> None:
    fork = {"CI_MERGE_REQUEST_IID": "5", "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": source}
    with pytest.raises(ForkPipelineError) as refused:
        read(tmp_path, **fork)
    assert str(refused.value) == (
        "merge request !5 comes from a fork, whose pipeline must not use this "
        "project's variables; start a pipeline of the default branch with "
        "PATCHWRIGHT_MERGE_REQUEST_NUMBER=5 and PATCHWRIGHT_PROVE_ONLY=true"
    )


def test_a_webhook_names_the_merge_request_to_prove(tmp_path: Path) -> None:
    payload = {
        "object_kind": "merge_request",
        "project": {"id": 7},
        "object_attributes": {"iid": 3},
    }
    file = tmp_path / "payload.json"
    file.write_text(json.dumps(payload), "utf-8")
    job, inputs = read(
        tmp_path, TRIGGER_PAYLOAD=str(file), CI_PIPELINE_SOURCE="trigger"
    )
    assert CI.find_pull_number(job, inputs) == 3


def test_without_a_merge_request_there_is_nothing_to_prove(tmp_path: Path) -> None:
    job, inputs = read(tmp_path, PATCHWRIGHT_PROVE_ONLY="true")
    with pytest.raises(SettingsError) as refused:
        CI.find_pull_number(job, inputs)
    assert str(refused.value) == (
        "the pipeline (`web`) has no merge request to prove: set "
        "PATCHWRIGHT_MERGE_REQUEST_NUMBER"
    )


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    wrong = {
        "PATCHWRIGHT_ISSUE_NUMBER": "1",
        "PATCHWRIGHT_MERGE_REQUEST_NUMBER": "2",
        "PATCHWRIGHT_MODE": "quick",
        "PATCHWRIGHT_GITLAB__TOKEN": "",
    }
    with pytest.raises(SettingsError) as refused:
        read(tmp_path, **wrong)
    assert str(refused.value) == WRONG


WRONG = """\
inputs `issue-number` and `merge-request-number` cannot be set together; keep one of \
them
PATCHWRIGHT_GITLAB__TOKEN: not set; make a project access token with the role \
Developer and the scopes `api` and `write_repository`, and add it under Settings, \
CI/CD, Variables, masked and protected. The job's own CI_JOB_TOKEN will not do: it \
cannot open merge requests or write notes. A protected variable is there only in \
pipelines of protected branches.
input `mode` must be one of `auto`, `fix`, `answer`, `plan`, `review-feedback`, \
`ci-fix`"""


def test_the_settings_have_this_gitlab_unless_another_is_given(tmp_path: Path) -> None:
    ca_file = {"CI_SERVER_TLS_CA_FILE": "/builds/acme.tmp/CI_SERVER_TLS_CA_FILE"}
    own = CI.settings_environment(variables(tmp_path, **ca_file))
    assert own["PATCHWRIGHT_GITLAB__BASE_URL"] == "https://git.corp.example/gitlab"
    assert own["PATCHWRIGHT_GITLAB__CA_BUNDLE"] == ca_file["CI_SERVER_TLS_CA_FILE"]
    given = {"PATCHWRIGHT_GITLAB__BASE_URL": "https://gitlab.inside.example"}
    assert (
        CI.settings_environment(variables(tmp_path, **given)).items() >= given.items()
    )


def test_inputs_and_outputs_are_no_settings(tmp_path: Path) -> None:
    ours = {variable_of(name): "x" for name in GITLAB_INPUTS}
    earlier = {"PATCHWRIGHT_OUTPUT_BRANCH": "patchwright/1-x"}
    left = CI.settings_environment(variables(tmp_path, **ours, **earlier))
    assert [name for name in left if name.startswith("PATCHWRIGHT_")] == [
        "PATCHWRIGHT_GITLAB__TOKEN",
        "PATCHWRIGHT_GITLAB__BASE_URL",
    ]


def test_outside_of_a_job_it_says_what_is_missing() -> None:
    with pytest.raises(SettingsError) as refused:
        CI.read_job({"GITLAB_CI": "true", "CI_JOB_ID": "1"})
    assert str(refused.value) == (
        "CI_PROJECT_DIR, CI_PROJECT_PATH: not set, though GITLAB_CI is; `patchwright "
        "action run` works only in a job of GitLab's runner. On this machine, use "
        "`patchwright resolve`."
    )


def test_a_payload_that_is_no_json_is_told_by_its_variable(tmp_path: Path) -> None:
    file = tmp_path / "payload"
    file.write_text("{", "utf-8")
    told = {"TRIGGER_PAYLOAD": str(file)}
    with pytest.raises(SettingsError, match=r"^TRIGGER_PAYLOAD: .* cannot be read"):
        read(tmp_path, **told)
    CI.close(variables(tmp_path, **told))
    assert (tmp_path / "shop" / ".patchwright-run" / "outputs.env").exists()
