"""A composite action runs here as on GitHub's runner.

https://docs.github.com/en/actions/reference/workflows-and-actions/metadata-syntax#runs-for-composite-actions
"""

import threading
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from tests.provision.waiting import wait_until
from tests.runner.action import ActionError, read_action
from tests.runner.composite import Result, use
from tests.runner.expressions.evaluate import Status
from tests.runner.expressions.values import Value
from tests.runner.job import Job, Machine

TOKEN = "ghs_0123456789"
ENDS_WHEN_TOLD = """
import signal, sys
signal.signal(signal.SIGINT, lambda *_: sys.exit(5))
print("ready", flush=True)
signal.pause()
"""
HEAD = """
name: Example
inputs:
  colour: {default: blue}
  token: {default: "${{ github.token }}"}
  shape: {required: false}
outputs:
  said: {value: "${{ steps.first.outputs.said || 'nothing' }}"}
runs:
  using: composite
  steps:
"""


@pytest.fixture
def job(tmp_path: Path) -> Job:
    github: dict[str, Value] = {
        "event": {"issue": {"title": "$(touch pwned)"}},
        "event_name": "issues",
        "token": TOKEN,
    }
    return Job(Machine(tmp_path / "runner"), github, {"KEY": "hunter2"})


def run(
    job: Job,
    steps: str,
    given: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
) -> Result:
    folder = job.machine.root / "action"
    folder.mkdir(exist_ok=True)
    (folder / "action.yml").write_text(HEAD + dedent(steps).replace("\n", "\n    "))
    return use(job, read_action(folder), given or {}, env or {})


def test_inputs_have_their_defaults_and_outputs_go_out(job: Job) -> None:
    steps = """
    - id: first
      shell: bash
      env: {COLOUR: "${{ inputs.colour }}${{ inputs.shape }}"}
      run: echo "said=$COLOUR" >> "$GITHUB_OUTPUT"
    """
    assert run(job, steps) == Result(Status.SUCCESS, {"said": "blue"})
    assert run(job, steps, {"colour": "red"}).outputs == {"said": "red"}


def test_a_failing_step_ends_all_but_those_that_always_run(job: Job) -> None:
    steps = """
    - {shell: bash, run: "false | cat"}
    - {shell: bash, run: echo never}
    - {shell: bash, if: failure(), run: echo sorry}
    - {id: first, shell: bash, if: always(), run: echo said=x >> "$GITHUB_OUTPUT"}
    """
    assert run(job, steps) == Result(Status.FAILURE, {"said": "x"})
    assert "sorry" in job.log.lines
    assert "never" not in job.log.lines


def test_a_step_may_be_forgiven(job: Job) -> None:
    steps = """
    - {id: first, shell: bash, run: exit 3, continue-on-error: true}
    - shell: bash
      env: {SEEN: "${{ steps.first.outcome }} ${{ steps.first.conclusion }}"}
      run: echo "$SEEN"
    """
    assert run(job, steps).status is Status.SUCCESS
    assert "failure success" in job.log.lines


def test_variables_and_programs_are_handed_on(job: Job) -> None:
    steps = """
    - shell: bash
      run: |
        mkdir "$RUNNER_TEMP/bin"
        printf '#!/bin/sh\\necho "$SIZE from a program"\\n' > "$RUNNER_TEMP/bin/tell"
        chmod +x "$RUNNER_TEMP/bin/tell"
        echo "$RUNNER_TEMP/bin" >> "$GITHUB_PATH"
        echo SIZE=large >> "$GITHUB_ENV"
    - {shell: bash, if: env.SIZE == 'large', run: tell}
    """
    assert run(job, steps).status is Status.SUCCESS
    assert "large from a program" in job.log.lines


def test_secrets_are_masked_in_log_and_summary(job: Job) -> None:
    steps = """
    - shell: bash
      env: {T: "${{ inputs.token }}"}
      run: echo "$T $K" | tee -a "$GITHUB_STEP_SUMMARY"
    """
    run(job, steps, env={"K": "hunter2"})
    assert "*** ***" in job.log.lines
    assert job.summary == "*** ***\n"
    assert TOKEN not in job.log.text
    assert "hunter2" not in job.log.text


@pytest.mark.parametrize(
    "expression",
    [
        "github.event.issue.title",
        "inputs.colour",
        "steps.first.outputs.said",
        "github.head_ref",
        "env.TITLE",
        "format('{0}', github.event.issue['title'])",
        "toJSON(github)",
    ],
)
def test_s80_a_script_with_what_others_write_is_refused(
    job: Job, expression: str
) -> None:
    steps = f"""
    - shell: bash
      run: echo ${{{{ {expression} }}}}
    """
    with pytest.raises(ActionError, match="pass it by the environment"):
        run(job, steps)


def test_what_nobody_outside_decides_may_be_in_a_script(job: Job) -> None:
    steps = """
    - {shell: bash, run: "ls ${{ github.action_path }} ${{ runner.temp }}"}
    """
    assert run(job, steps).status is Status.SUCCESS


def test_unknown_actions_and_inputs_are_refused(job: Job) -> None:
    with pytest.raises(ActionError, match="has no actions/cache"):
        run(job, "\n- {uses: actions/cache@v4}\n")
    with pytest.raises(ActionError, match="Unexpected"):
        run(job, "\n- {shell: bash, run: ls}\n", {"colours": "red"})


def test_a_script_without_a_shell_is_refused(job: Job) -> None:
    with pytest.raises(ActionError, match="shell"):
        run(job, "\n- {run: ls}\n")


def test_a_bad_output_file_fails_the_step(job: Job) -> None:
    steps = """
    - {shell: bash, run: 'echo "a<<END" >> "$GITHUB_OUTPUT"'}
    """
    assert run(job, steps).status is Status.FAILURE
    assert "delimiter not found" in job.log.text


def test_a_cancelled_job_tells_the_entry_process_alone(job: Job) -> None:
    steps = """
    - shell: bash
      run: exec python3 -c "$ENDS_WHEN_TOLD"
    - {shell: bash, run: echo never}
    - {id: first, shell: bash, if: cancelled(), run: echo said=told >> "$GITHUB_OUTPUT"}
    """
    canceller = threading.Thread(target=_cancel_when_ready, args=(job,))
    canceller.start()
    result = run(job, steps, env={"ENDS_WHEN_TOLD": ENDS_WHEN_TOLD})
    canceller.join()
    assert result == Result(Status.CANCELLED, {"said": "told"})
    assert "never" not in job.log.lines


def _cancel_when_ready(job: Job) -> None:
    wait_until(lambda: "ready" in job.log.lines, "the step", 10)
    job.cancel()
