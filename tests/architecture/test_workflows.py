"""Workflows and actions are what GitHub takes, and ask for no more than they need."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT
from tests.runner.action import read_action
from tests.runner.workflow import read_workflow

WORKFLOWS = sorted(ROOT.glob(".github/workflows/*.yml"))
EXAMPLES = sorted(ROOT.glob("docs/examples/workflows/*.yml"))
ACTIONS = [ROOT / "action.yml", *sorted(ROOT.glob(".github/actions/*/action.yml"))]
REUSABLE = ROOT / ".github" / "workflows" / "patchwright.yml"
BIN = Path(sys.executable).parent
# What the called workflow decides itself, and a caller cannot change.
# Proving alone asks nobody: a workflow for it needs no gate, and no key of a model.
OUR_OWN = {"github-token", "github-api-url", "github-server-url", "prove-only"}
WITHOUT_CALL = {"enterprise-server.yml", "prove.yml"}
CALLERS = [file for file in EXAMPLES if file.name not in WITHOUT_CALL]


def name_of(file: Path) -> str:
    return str(file.relative_to(ROOT))


def run(program: str, *arguments: str | Path) -> str:
    argv = [BIN / program, *arguments]
    ended = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    return "" if ended.returncode == 0 else ended.stdout + ended.stderr


def test_workflows_fit_githubs_schema() -> None:
    schema = ["--builtin-schema", "vendor.github-workflows"]
    assert run("check-jsonschema", *schema, *WORKFLOWS, *EXAMPLES) == ""


def test_actions_fit_githubs_schema() -> None:
    schema = ["--builtin-schema", "vendor.github-actions"]
    assert run("check-jsonschema", *schema, *ACTIONS) == ""


def test_zizmor_finds_nothing() -> None:
    how = ["--offline", "--quiet", "--persona", "pedantic"]
    how += ["--config", str(ROOT / ".github" / "zizmor.yml")]
    assert run("zizmor", *how, *WORKFLOWS, *EXAMPLES, *ACTIONS) == ""


@pytest.mark.parametrize("file", ACTIONS, ids=name_of)
def test_s80_no_script_holds_what_others_write(file: Path) -> None:
    assert read_action(file.parent).steps


@pytest.mark.parametrize("file", [*WORKFLOWS, *EXAMPLES], ids=name_of)
def test_every_job_says_what_it_may(file: Path) -> None:
    workflow = read_workflow(file)
    assert workflow.permissions is not None
    unsaid = [name for name, job in workflow.jobs.items() if not job.permissions]
    # The job of a workflow with a single one may have it from above.
    assert unsaid == [] or (workflow.permissions and len(workflow.jobs) == 1)


def test_the_reusable_workflow_passes_every_input_on() -> None:
    workflow, action = read_workflow(REUSABLE), read_action(ROOT)
    assert action.inputs.keys() - workflow.inputs.keys() == OUR_OWN
    step = workflow.jobs["run"].steps[-1]
    passed = {
        name: f"${{{{ inputs.{name} }}}}" for name in action.inputs.keys() - OUR_OWN
    }
    assert passed.items() <= step.arguments.items()
    assert step.arguments.keys() - passed.keys() == {"github-token"}


def test_its_defaults_are_those_of_the_action() -> None:
    workflow, action = read_workflow(REUSABLE), read_action(ROOT)
    shared = workflow.inputs.keys() & action.inputs.keys()
    ours = {name: workflow.inputs[name].get("default", "") for name in shared}
    assert ours == {name: action.inputs[name].default for name in shared}


def test_it_hands_every_output_back() -> None:
    workflow = read_workflow(REUSABLE)
    told = read_action(ROOT).outputs.keys()
    assert workflow.outputs == told
    assert workflow.jobs["run"].outputs == {
        name: f"${{{{ steps.patchwright.outputs.{name} }}}}" for name in told
    }


@pytest.mark.parametrize("file", CALLERS, ids=name_of)
def test_s78_callers_grant_exactly_what_is_asked_for(file: Path) -> None:
    """GitHub refuses to start what asks for more than its caller grants.

    https://docs.github.com/en/actions/reference/workflows-and-actions/reusing-workflow-configurations
    """
    asked: dict[str, str] = {}
    for job in read_workflow(REUSABLE).jobs.values():
        asked |= {n: v for n, v in job.permissions.items() if asked.get(n) != "write"}
    [caller] = read_workflow(file).jobs.values()
    assert caller.permissions == asked


@pytest.mark.parametrize("file", CALLERS, ids=name_of)
def test_callers_use_inputs_and_secrets_that_there_are(file: Path) -> None:
    called = read_workflow(REUSABLE)
    [caller] = read_workflow(file).jobs.values()
    assert caller.given.keys() <= called.inputs.keys()
    assert caller.secrets.keys() <= called.secrets.keys()
    required = {n for n, one in called.inputs.items() if one.get("required") == "true"}
    assert required <= caller.given.keys()
