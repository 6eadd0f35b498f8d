"""The step that runs: from the inputs and the event to a result in a file."""

from collections.abc import Mapping
from dataclasses import replace

import structlog

from patchwright.core.ci.inputs import Inputs, read_text
from patchwright.core.ci.result import Result, crash_result, error_result
from patchwright.core.ci.system import (
    ActionRequest,
    CiJob,
    CiSystem,
    JobRequests,
    NoTrigger,
    secrets_in,
)
from patchwright.core.commands import StartRun, Verb, definition_of, parse_command
from patchwright.core.settings.model import secret_values
from patchwright.core.system.logs import set_up_logging
from patchwright.core.text.redaction import Redactor
from patchwright.core.types.errors import PatchwrightError, SettingsError
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import service_outcome
from patchwright.integrations.registry import list_forges
from patchwright.resolver.services import RunOverrides
from patchwright.workers.action.artifacts import read_ended_run
from patchwright.workers.action.configuration import (
    find_settings,
    make_run_overrides,
    plugins_of,
)
from patchwright.workers.action.job import JobRun, store_request
from patchwright.workers.action.outputs import result_of
from patchwright.workers.action.prove_only import PROVE_ONLY, ProofJob
from patchwright.workers.action.thread_history import (
    RunPlace,
    answer_about_previous_run,
    find_previous_run,
    with_approved_plan,
)
from patchwright.workers.compose import ServiceParts, make_worker, open_service_parts
from patchwright.workers.preflight import as_request, review_models

log = structlog.get_logger(__name__)


def find_ci(environ: Mapping[str, str]) -> CiSystem:
    """Return the CI that we run in; outside of any the first one, to say so."""
    known = [one.ci for one in list_forges() if one.ci]
    here = (one for one in known if environ.get(one.variable) == "true")
    system: CiSystem = next(here, known[0]).load()
    return system


def run_job(environ: Mapping[str, str]) -> int:
    """Run, tell the CI the result, and return the exit code."""
    ci = find_ci(environ)
    ci.begin(environ)
    with ci.quoted_log():
        run(environ)
    return ci.conclude(environ)


def close_job(environ: Mapping[str, str]) -> None:
    """Report what `run_job` could not, after everything else in the job."""
    find_ci(environ).close(environ)


def run(environ: Mapping[str, str]) -> None:
    """Run, and write the result, whatever it is; raises outside of a CI."""
    ci = find_ci(environ)
    job = ci.read_job(environ)
    hidden = secrets_in(environ)
    redact = Redactor(hidden).redact
    crash_result({}).write(job.result, redact)
    notices: tuple[str, ...] = ()
    try:
        inputs = ci.read_inputs(job, environ)
        redact = Redactor((*hidden, *inputs.secrets.values())).redact
        notices = inputs.notices
        use = ProofJob if inputs.is_true(PROVE_ONLY) else _Action
        action = use(ci, job, inputs, ci.settings_environment(environ))
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
    result.write(job.result, redact)


class _InternalError(PatchwrightError):
    """Something broke that should not have."""

    reason = "internal"


class _Action:
    def __init__(
        self, ci: CiSystem, job: CiJob, inputs: Inputs, environ: Mapping[str, str]
    ) -> None:
        self._ci, self._job, self._inputs, self._environ = ci, job, inputs, environ
        self._task = read_text(inputs, "task", job.workspace)
        place = ci.patch_place(inputs)
        self._overrides = make_run_overrides(inputs, job.workspace, place)
        self.settings = find_settings(job, inputs, environ)
        secrets = (*secret_values(self.settings), *secrets_in(environ))
        self.redactor = Redactor((*secrets, *inputs.secrets.values()))

    def run(self) -> Result:
        settings, plugins = self.settings, plugins_of(self._job.service)
        set_up_logging(self.redactor.redact_json, as_json=settings.log_json)
        with open_service_parts(
            settings, self.redactor, lambda _job: None, plugins=plugins
        ) as opened:
            requests = self._ci.open_requests(
                opened.forge, self.settings, self._job, self._inputs, self._environ
            )
            base = replace(opened, forge=requests.connection)
            return replace(self._run(base, requests), notices=requests.notices)

    def _run(self, base: ServiceParts, requests: JobRequests) -> Result:
        asked = requests.find(self._task)
        if isinstance(asked, NoTrigger):
            return requests.refuse(asked.reason)
        asked, overrides = self._with_history(requests, asked)
        overrides = self._without_model(asked, overrides)
        runner = make_worker(base, overrides)
        job_id = store_request(base, asked)
        crash_result({"run-id": job_id}).write(self._job.result, self.redactor.redact)
        job = JobRun(base, runner, job_id, self._ci.words).run()
        return result_of(read_ended_run(base, self._job, requests, self._inputs, job))

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

    def _with_history(
        self, requests: JobRequests, asked: ActionRequest
    ) -> tuple[ActionRequest, RunOverrides]:
        """Take what the thread says of earlier runs: nothing else is left of them."""
        command = parse_command(asked.trigger.request)
        if command is None or asked.task:
            return asked, self._overrides
        channel = requests.connection.channel
        thread = channel.fetch_thread(asked.trigger.forge_thread)
        redact = self.redactor.redact_json
        previous = find_previous_run(thread, requests.own_text, redact)
        words = self._ci.words
        place = RunPlace(words.run, self._job.runs_url, words.known_by)
        answer = answer_about_previous_run(previous, command, place)
        if answer is not None:
            return asked, replace(self._overrides, answer=answer)
        if command.verb is not Verb.APPROVE or previous is None:
            return asked, self._overrides
        config = {**self._overrides.config, "plan_approval": "none"}
        trigger = with_approved_plan(asked.trigger, previous)
        return ActionRequest(trigger), replace(self._overrides, config=config)
