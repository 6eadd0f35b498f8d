"""What inputs may be is checked before anything runs, and told by their names."""

import json
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

from patchwright.core.ci.inputs import (
    MAX_BYTES,
    Inputs,
    read_text,
)
from patchwright.core.ci.result import OUTPUTS
from patchwright.core.settings.names import FORMER_NAMES, UNTIL, Place
from patchwright.core.settings.repository import DeliveryMode, RepositoryConfig
from patchwright.core.types.errors import SettingsError
from patchwright.integrations.github.ci.system import GitHubActions
from patchwright.integrations.github.ci.workflow import GITHUB_INPUTS, read_inputs
from patchwright.integrations.github.settings import GitHubSettings
from patchwright.workers.action.configuration import make_run_overrides, make_settings
from tests.architecture.tree import ROOT

ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
FROM_THE_JOB = {"github-token", "github-api-url", "github-server-url"}


def given(**inputs: str) -> Inputs:
    needed = {
        "github-token": "ghs_x",
        "github-api-url": "https://api.github.com",
        "github-server-url": "https://github.com",
        "llm-model": "openai/gpt",
    }
    named = {name.replace("_", "-"): text for name, text in inputs.items()}
    defaults = {name: one.default for name, one in GITHUB_INPUTS.items()}
    return read_inputs(json.dumps(defaults | needed | named))


def test_the_defaults_are_those_of_the_action() -> None:
    stated = {
        name: str(one.get("default", "")) for name, one in ACTION["inputs"].items()
    }
    former = dict.fromkeys(FORMER_NAMES[Place.ACTION], "")
    known = {name: one.default for name, one in GITHUB_INPUTS.items()} | former
    assert stated.keys() == known.keys()
    assert {n: d for n, d in stated.items() if n not in FROM_THE_JOB} == {
        n: d for n, d in known.items() if n not in FROM_THE_JOB
    }


def test_the_outputs_are_those_of_the_action() -> None:
    assert tuple(ACTION["outputs"]) == OUTPUTS


def test_s80_no_script_of_the_action_holds_an_expression() -> None:
    scripts = [step["run"] for step in ACTION["runs"]["steps"] if "run" in step]
    assert scripts
    assert not any("${{" in script for script in scripts)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("mode", "guess", "input `mode` must be one of `auto`"),
        ("issue_number", "#4", "input `issue-number` must be a whole number"),
        ("max_cost_usd", "much", "input `max-cost-usd` must be a number of at least 0"),
        ("max_cost_usd", "nan", "input `max-cost-usd` must be a number"),
        ("max_iterations", "0", "input `max-iterations` must be a whole number"),
        ("llm_model", "", "input `llm-model` must be set"),
        ("dry_run", "yes", "input `dry-run` must be one of `true`, `false`"),
        ("allow_domains", "example.com", "`network: allowlist` and `allow-domains`"),
        ("network", "allowlist", "`network: allowlist` and `allow-domains`"),
    ],
)
def test_what_is_wrong_names_the_input(name: str, value: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        given(**{name: value})


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(SettingsError) as told:
        given(mode="x", evidence="y", task="a", task_file="b")
    assert len(str(told.value).splitlines()) == 3


def test_inputs_become_settings(tmp_path: Path) -> None:
    inputs = given(
        mention="/exp",
        llm_fallback_models="a/one, b/two",
        llm_api_version="2024-10-21",
        max_cost_usd="1.5",
        allow_bots="renovate[bot]",
        network="allowlist",
        allow_domains="example.com",
    )
    made = make_settings("github", inputs, {"LLM_API_KEY": "sk-1"}, tmp_path)
    assert GitHubSettings.of(made).mention == "/exp"
    assert made.limits.max_cost_usd == 1.5
    assert made.llm.fallbacks == ("fallback1", "fallback2")
    second = made.llm.find("fallback2")
    assert second is not None
    assert (second.model, second.api_version) == ("b/two", "2024-10-21")
    assert second.api_key == made.llm.api_key
    assert made.security.allow_bots == ("renovate[bot]",)
    assert (made.sandbox.network, made.sandbox.allow_domains) == (
        "allowlist",
        ("example.com",),
    )


def test_a_setting_that_is_wrong_is_told_as_the_input(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"^input `mention`: expected"):
        make_settings("github", given(mention="fix me"), {}, tmp_path)
    with pytest.raises(SettingsError, match=r"^input `mcp-config`: "):
        make_settings("github", given(), {}, tmp_path, '{"x": {"cmd": 1}}')


def test_an_input_left_alone_gives_way_to_the_repository(tmp_path: Path) -> None:
    overrides = make_run_overrides(given(), tmp_path)
    said = RepositoryConfig(
        deliver=DeliveryMode.READY, plan_approval="comment", labels=("a",)
    )
    assert overrides.applied_to(said) == said
    assert overrides.applied_to(RepositoryConfig()).deliver is DeliveryMode.DRAFT
    assert not overrides.waits_for_people


def test_an_input_that_is_chosen_counts_before_the_repository(tmp_path: Path) -> None:
    inputs = given(
        deliver="branch",
        test="make a\nmake b",
        labels="x, y",
        plan_approval="comment",
        assign_requester="false",
    )
    made = make_run_overrides(inputs, tmp_path).applied_to(
        RepositoryConfig(deliver=DeliveryMode.READY)
    )
    assert (made.deliver, made.test, made.labels) == (
        DeliveryMode.BRANCH,
        ("make a", "make b"),
        ("x", "y"),
    )
    assert made.plan_approval == "comment"
    assert not made.assign_requester


def test_a_former_name_works_and_is_told() -> None:
    inputs = given(pr_type="branch", target_branch="", trigger_phrase="/exp")
    assert (inputs.text("deliver"), inputs.text("mention")) == ("branch", "/exp")
    assert inputs.notices == (
        f"input `pr-type` is now `deliver`; {UNTIL}.",
        f"input `trigger-phrase` is now `mention`; {UNTIL}.",
    )
    assert given(deliver="branch").notices == ()


def test_an_input_by_both_names_is_refused() -> None:
    said = "inputs `pr-type` and `deliver` are the same input; keep `deliver`"
    with pytest.raises(SettingsError, match=said):
        given(pr_type="branch", deliver="patch")


def test_files_that_outlast_a_job_are_no_settings(tmp_path: Path) -> None:
    own = tmp_path / "home" / ".config" / "patchwright"
    own.mkdir(parents=True)
    (own / "config.toml").write_text('[llm]\nbase_url = "https://evil.example"\n')
    environ = {"HOME": str(tmp_path / "home")}
    assert make_settings("github", given(), environ, tmp_path).llm.base_url == ""


def test_an_answer_never_becomes_a_branch(tmp_path: Path) -> None:
    made = make_run_overrides(given(mode="answer"), tmp_path).applied_to(
        RepositoryConfig()
    )
    assert made.deliver is DeliveryMode.NONE


def test_people_are_told_where_a_change_is_that_is_on_no_branch(tmp_path: Path) -> None:
    usual, without = given(), given(upload_artifacts="false")
    ci = GitHubActions()
    assert "in the artifact" in ci.patch_place(usual)
    assert "the step's output `patch-file`" in ci.patch_place(without)
    told = make_run_overrides(usual, tmp_path, ci.patch_place(usual))
    assert told.work_at == ci.patch_place(usual)


def test_a_template_that_gives_all_requests_one_branch_is_refused(
    tmp_path: Path,
) -> None:
    with pytest.raises(SettingsError, match=r"^input `branch`: a branch"):
        make_run_overrides(given(branch="fixes"), tmp_path)


def test_a_body_with_a_variable_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"^input `body`: `\{\{sumary"):
        make_run_overrides(given(body="{{sumary}}"), tmp_path)


@pytest.mark.parametrize("text", ["{", "[]", '{"type": "text"}'])
def test_a_schema_that_is_none_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"^input `output-schema`: the JSON schema"):
        make_run_overrides(given(output_schema=text), tmp_path)
    (tmp_path / "schema.json").write_text(text, "utf-8")
    with pytest.raises(SettingsError, match=r"^input `output-schema-file`: the JSON"):
        make_run_overrides(given(output_schema_file="schema.json"), tmp_path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff", "is not UTF-8"),
        (b" \n", "is empty"),
        ("é".encode() * MAX_BYTES, "is larger than 200 kB"),
    ],
)
def test_a_file_that_is_no_such_text_is_refused(
    content: bytes, said: str, tmp_path: Path
) -> None:
    (tmp_path / "task.md").write_bytes(content)
    with pytest.raises(SettingsError, match=f"^input `task-file`: task.md {said}"):
        read_text(given(task_file="task.md"), "task", tmp_path)


def test_a_task_file_is_one_of_the_workspace(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "task.md").write_text("Do it.", "utf-8")
    (tmp_path / "secret").write_text("no", "utf-8")
    (workspace / "link").symlink_to(tmp_path / "secret")
    (workspace / ".git").mkdir()
    (workspace / ".git" / "config").write_text("a token", "utf-8")
    (workspace / "inner").symlink_to(workspace / ".git" / "config")
    assert read_text(given(task_file="task.md"), "task", workspace) == "Do it."
    for name in ("../secret", "link", "inner", ".git/config"):
        with pytest.raises(SettingsError, match=r"`task-file`: .* is not a file in"):
            read_text(given(task_file=name), "task", workspace)
    with pytest.raises(SettingsError, match="cannot be read"):
        read_text(given(task_file="none"), "task", workspace)


def test_s79_no_other_version_is_fetched() -> None:
    given(version="")
    given(version=f"v{version('patchwright')}")
    with pytest.raises(SettingsError, match="never downloads another version"):
        given(version="9.9.9")
