"""The step that runs: from the inputs and the event to a result in a file."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import structlog

from patchwright.core.commands import StartRun, Verb, definition_of, parse_command
from patchwright.core.settings.model import secret_values
from patchwright.core.settings.names import FORMER_LABEL
from patchwright.core.system.logs import set_up_logging
from patchwright.core.text.redaction import Redactor
from patchwright.core.types.errors import PatchwrightError, ServiceError, SettingsError
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.threads import RepoRef
from patchwright.core.types.work import service_outcome
from patchwright.integrations.github.settings import GitHubSettings
from patchwright.integrations.github.webhooks.triggers import (
    SERVICE,
    GitHubTriggerRules,
)
from patchwright.resolver.services import RunOverrides
from patchwright.workers.action.artifacts import read_ended_run
from patchwright.workers.action.configuration import find_settings, make_run_overrides
from patchwright.workers.action.inputs import (
    Inputs,
    check_version,
    read_inputs,
    read_text,
)
from patchwright.workers.action.job import JobRun, github_of, store_request, with_github
from patchwright.workers.action.outputs import result_of
from patchwright.workers.action.prove_only import PROVE_ONLY, ProofJob
from patchwright.workers.action.result import (
    Result,
    crash_result,
    error_result,
    no_trigger_result,
)
from patchwright.workers.action.thread_history import (
    JOB_LOGIN,
    answer_about_previous_run,
    find_comment_signer,
    find_previous_run,
    with_approved_plan,
)
from patchwright.workers.action.trigger import ActionRequest, NoTrigger, TriggerReader
from patchwright.workers.action.workflow import (
    PREFIX,
    WorkflowCheck,
    WorkflowJob,
    check_workflow,
    read_workflow_job,
    secrets_in,
    settings_environment,
)
from patchwright.workers.compose import ServiceParts, make_worker, open_service_parts
from patchwright.workers.preflight import as_request, review_models

_RENAMED_LABEL: Final = (
    f"the label `{FORMER_LABEL}` started this run, but the default is now "
    f"`patchwright`: use that label, or set `label: {FORMER_LABEL}`; the old default "
    "works for one more release."
)

log = structlog.get_logger(__name__)


def run(environ: Mapping[str, str]) -> None:
    """Run, and write the result, whatever it is; raises outside of a workflow."""
    workflow_job = read_workflow_job(environ)
    hidden = secrets_in(environ)
    redact = Redactor(hidden).redact
    crash_result({}).write(workflow_job.result, redact)
    notices: tuple[str, ...] = ()
    try:
        inputs = read_inputs(environ[f"{PREFIX}INPUTS"])
        redact = Redactor((*hidden, inputs.text("github-token"))).redact
        notices = inputs.notices
        use = ProofJob if inputs.is_true(PROVE_ONLY) else _Action
        action = use(workflow_job, inputs, settings_environment(environ))
        redact = action.redactor.redact
        notices += tuple(map(str, action.settings.notices))
        result = action.run()
    except PatchwrightError as error:
        log.warning("not_run", reason=error.reason, error=redact(str(error)))
        result = error_result(error)
    except Exception:  # the edge of the run: whatever broke, the result says so
        log.exception("run_broke")
        text = (
            "Patchwright had an internal error; the log of this step has the details."
        )
        result = error_result(_InternalError(text))
    result = replace(result, notices=(*notices, *result.notices))
    result.write(workflow_job.result, redact)


class _InternalError(PatchwrightError):
    """Something broke that should not have."""

    reason = "internal"


class _Action:
    def __init__(
        self, workflow_job: WorkflowJob, inputs: Inputs, environ: Mapping[str, str]
    ) -> None:
        check_version(inputs.text("version"))
        self._workflow_job, self._inputs = workflow_job, inputs
        self._repo = RepoRef(forge=SERVICE, full_name=workflow_job.repository)
        self._task = read_text(inputs, "task", workflow_job.workspace)
        self._overrides = make_run_overrides(inputs, workflow_job.workspace)
        self.settings = find_settings(workflow_job, inputs, environ)
        self._signer = find_comment_signer(
            self.settings, environ, has_job_token=workflow_job.has_job_token
        )
        secrets = (*secret_values(self.settings), *secrets_in(environ))
        self.redactor = Redactor((*secrets, inputs.text("github-token")))

    def run(self) -> Result:
        settings = self.settings
        set_up_logging(self.redactor.redact_json, as_json=settings.log_json)
        with open_service_parts(settings, self.redactor, lambda _job: None) as opened:
            # What a job's own token does starts no other workflow; an App's does.
            github = replace(
                github_of(opened), starts_no_checks=self._workflow_job.has_job_token
            )
            if self._signer is not None:
                signing = github.channel.with_signature(self._signer.sign)
                github = replace(github, channel=signing)
            result = self._run(with_github(opened, github))
        if self._has_former_label():
            return replace(result, notices=(_RENAMED_LABEL,))
        return result

    def _run(self, base: ServiceParts) -> Result:
        trigger_rules = self._trigger_rules(base)
        workflow_check = self._check_workflow(base, trigger_rules.mention)
        asking = TriggerReader(
            self._workflow_job, self._inputs, trigger_rules, github_of(base)
        )
        asked = asking.find(self._task)
        if isinstance(asked, NoTrigger):
            return no_trigger_result(
                asked.reason, self._workflow_job, trigger_rules, workflow_check
            )
        asked, overrides = self._with_history(base, trigger_rules, asked)
        overrides = self._without_model(asked, overrides)
        runner = make_worker(base, overrides)
        job_id = store_request(base, asked)
        crash_result({"run-id": job_id}).write(
            self._workflow_job.result, self.redactor.redact
        )
        job = JobRun(base, runner, job_id).run()
        return result_of(read_ended_run(base, self._workflow_job, self._inputs, job))

    def _check_workflow(self, base: ServiceParts, mention: str) -> WorkflowCheck | None:
        """Hold the workflow's own condition against what we listen to, and tell both.

        Nothing depends on it, so that it may be left out where the file is not shown.
        """
        if self._workflow_job.workflow is None:
            return None
        path, commit = self._workflow_job.workflow
        try:
            found = github_of(base).forge.fetch_file(self._repo, path, commit)
        except ServiceError as error:
            log.info("workflow_not_read", reason=error.reason)
            return None
        workflow_check = check_workflow(
            (found or b"").decode("utf-8", "replace"), mention
        )
        tell = log.info if workflow_check.is_sound else log.warning
        tell(
            "phrases",
            gate=workflow_check.workflow_phrases,
            listens_for=mention,
            is_sound=workflow_check.is_sound,
        )
        return workflow_check

    def _without_model(
        self, asked: ActionRequest, overrides: RunOverrides
    ) -> RunOverrides:
        """Where no model can be called, that is the answer to what needs one."""
        command = parse_command(asked.trigger.request)
        is_work = command is None or isinstance(
            definition_of(command.verb).when_idle, StartRun
        )
        if overrides.answer is not None or not is_work:
            return overrides
        review = review_models(self.settings, as_request)
        wrong = (*review.errors, *review.unreachable)
        if not wrong:
            return overrides
        answer = service_outcome(
            OutcomeKind.FAILED, SettingsError.reason, "\n\n".join(wrong)
        )
        return replace(overrides, answer=answer)

    def _trigger_rules(self, base: ServiceParts) -> GitHubTriggerRules:
        github = GitHubSettings.of(base.settings)
        return GitHubTriggerRules(
            mention=github.mention,
            label=FORMER_LABEL if self._has_former_label() else github.label,
            own_login=self._own_login(base),
            assignee=self._inputs.text("assignee"),
        )

    def _has_former_label(self) -> bool:
        """Tell whether the former default label asks, and no other was chosen."""
        if self._inputs.is_chosen("label"):
            return False
        label = self._workflow_job.event.get("label")
        return isinstance(label, dict) and label.get("name") == FORMER_LABEL

    def _own_login(self, base: ServiceParts) -> str:
        """Return who we are; where that cannot be known, no comment counts as ours."""
        if self._workflow_job.has_job_token:
            return JOB_LOGIN
        try:
            identity = github_of(base).fetch_identity()
        except ServiceError as error:
            log.warning("own_identity_unknown", reason=error.reason)
            return ""
        return identity.login if identity else ""

    def _with_history(
        self,
        base: ServiceParts,
        trigger_rules: GitHubTriggerRules,
        asked: ActionRequest,
    ) -> tuple[ActionRequest, RunOverrides]:
        """Take what the thread says of earlier runs: nothing else is left of them."""
        command = parse_command(asked.trigger.request)
        if command is None or asked.task:
            return asked, self._overrides
        thread = github_of(base).channel.fetch_thread(asked.trigger.forge_thread)
        redact = self.redactor.redact_json
        previous = find_previous_run(thread, trigger_rules, self._signer, redact)
        answer = answer_about_previous_run(
            previous, command, self._workflow_job.runs_url
        )
        if answer is not None:
            return asked, replace(self._overrides, answer=answer)
        if command.verb is not Verb.APPROVE or previous is None:
            return asked, self._overrides
        config = {**self._overrides.config, "plan_approval": "none"}
        trigger = with_approved_plan(asked.trigger, previous)
        return ActionRequest(trigger), replace(self._overrides, config=config)
