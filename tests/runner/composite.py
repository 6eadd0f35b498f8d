"""Run a composite action in a job, step by step."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from tests.runner.action import Action, ActionError, Step
from tests.runner.artifacts import NAME as UPLOAD
from tests.runner.artifacts import UploadError
from tests.runner.expressions.evaluate import Scene, Status
from tests.runner.expressions.templates import fill, is_met
from tests.runner.expressions.values import Value
from tests.runner.files import (
    FileCommandError,
    StepFiles,
    read_environment,
    read_outputs,
    read_path,
    read_summary,
)
from tests.runner.job import Job
from tests.runner.log import CommandError
from tests.runner.processes import SHELLS

SKIPPED: Final = "skipped"


@dataclass(frozen=True)
class Result:
    """How a step of a workflow ended, and what it hands on."""

    status: Status
    outputs: Mapping[str, str]


def use(
    job: Job, action: Action, given: Mapping[str, str], env: Mapping[str, str]
) -> Result:
    """Run the action as a workflow's step does, with these inputs and this `env:`."""
    outside = Scene(job.contexts(env), job.status)
    inputs = action.inputs_from(given, outside)
    course = _Course(job, action, inputs, dict(env))
    for step in action.steps:
        course.take(step)
    scene = course.scene(env)
    outputs = {name: fill(value, scene) for name, value in action.outputs.items()}
    return Result(course.status, outputs)


@dataclass
class _Course:
    job: Job
    action: Action
    inputs: dict[str, Value]
    env: dict[str, str]
    status: Status = Status.SUCCESS
    steps: dict[str, Value] = field(default_factory=dict)

    def take(self, step: Step) -> None:
        env = {
            name: fill(text, self.scene(self.env)) for name, text in step.env.items()
        }
        scene = self.scene({**self.env, **env})
        if not is_met(step.condition, scene):
            self._note(step, SKIPPED, SKIPPED, {})
            return
        outcome, outputs = self._outcome(step, scene, env)
        forgives = fill(step.continue_on_error, scene) == "true"
        is_forgiven = forgives and outcome is Status.FAILURE
        conclusion = Status.SUCCESS if is_forgiven else outcome
        self._note(step, outcome, conclusion, outputs)
        if conclusion is not Status.SUCCESS and self.status is Status.SUCCESS:
            self.status = conclusion

    def scene(self, env: Mapping[str, str]) -> Scene:
        contexts = self.job.contexts(env)
        contexts["github"] = {
            **self.job.github,
            "action_path": str(self.action.folder),
        }
        is_cancelled = self.job.status is Status.CANCELLED
        status = Status.CANCELLED if is_cancelled else self.status
        return Scene({**contexts, "inputs": self.inputs, "steps": self.steps}, status)

    def _note(
        self, step: Step, outcome: str, conclusion: str, outputs: Mapping[str, str]
    ) -> None:
        if step.id:
            self.steps[step.id] = {
                "outcome": str(outcome),
                "conclusion": str(conclusion),
                "outputs": dict(outputs),
            }

    def _outcome(
        self, step: Step, scene: Scene, env: Mapping[str, str]
    ) -> tuple[Status, Mapping[str, str]]:
        was_cancelled = self.job.processes.cancelled.is_set()
        self._announce(step, env)
        if step.uses:
            status, outputs = self._upload(step, scene)
        else:
            status, outputs = self._script(step, scene, env)
        if self.job.processes.cancelled.is_set() and not was_cancelled:
            self.job.log.say("error", "The operation was canceled.")
            status = Status.CANCELLED
        return status, outputs

    def _announce(self, step: Step, env: Mapping[str, str]) -> None:
        """Show what is run, and with what, as the head of each step's log does."""
        log = self.job.log
        log.take(f"::group::Run {step.uses or step.run.splitlines()[0]}")
        for name, value in {**self.env, **env}.items():
            log.lines.append(log.masked(f"  {name}: {value}"))
        log.take("::endgroup::")

    def _upload(self, step: Step, scene: Scene) -> tuple[Status, Mapping[str, str]]:
        name, _, version = step.uses.partition("@")
        if name != UPLOAD or not version:
            raise ActionError(f"this runner has no {step.uses}")
        given = {name: fill(text, scene) for name, text in step.arguments.items()}
        try:
            return Status.SUCCESS, self.job.artifacts.upload(given)
        except UploadError as problem:
            self.job.log.say("error", str(problem))
            return Status.FAILURE, {}

    def _script(
        self, step: Step, scene: Scene, env: Mapping[str, str]
    ) -> tuple[Status, Mapping[str, str]]:
        files = StepFiles.make(self.job.machine.commands)
        status = self._run(step, scene, {**self.env, **env, **files.environment})
        outputs: Mapping[str, str] = {}
        try:
            outputs = self._read(files)
        except FileCommandError as problem:
            self.job.log.say("error", f"Unable to read file command: {problem}")
            status = Status.FAILURE
        return status, outputs

    def _run(self, step: Step, scene: Scene, env: Mapping[str, str]) -> Status:
        job = self.job
        script = job.machine.temp / f"{secrets.token_hex(8)}.sh"
        script.write_text(fill(step.run, scene))
        folder = job.machine.workspace / fill(step.folder, scene)
        environment = {
            **job.environment,
            "GITHUB_ACTION_PATH": str(self.action.folder),
            **env,
        }
        argv = [*SHELLS[step.shell], str(script)]
        refused: list[CommandError] = []
        code = job.processes.run(
            argv, environment, folder, lambda line: self._take_line(line, refused)
        )
        if code != 0:
            job.log.say("error", f"Process completed with exit code {code}.")
        return Status.FAILURE if code != 0 or refused else Status.SUCCESS

    def _take_line(self, line: str, refused: list[CommandError]) -> None:
        try:
            self.job.log.take(line)
        except CommandError as problem:
            self.job.log.say("error", str(problem))
            refused.append(problem)

    def _read(self, files: StepFiles) -> Mapping[str, str]:
        job = self.job
        job.added_environment.update(read_environment(files.env))
        job.added_path.extend(read_path(files.path))
        self._keep_summary(files)
        return read_outputs(files.output)

    def _keep_summary(self, files: StepFiles) -> None:
        """One that is too large is lost, which does not fail the step."""
        try:
            if summary := read_summary(files.step_summary):
                self.job.summaries.append(summary)
        except FileCommandError as problem:
            self.job.log.say("error", str(problem))
