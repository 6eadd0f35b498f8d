"""GitLab CI as a `CiSystem`: what a pipeline asks of the job that we are.

https://docs.gitlab.com/ci/variables/predefined_variables/
"""

import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from patchwright.core.ci.inputs import (
    COMMON_INPUTS,
    REFERENCE,
    Input,
    Inputs,
    checked,
    find_both_given,
)
from patchwright.core.ci.system import (
    CiJob,
    CiSystem,
    CiWords,
    JobRequests,
    read_event,
)
from patchwright.core.plugin import ForgeConnection
from patchwright.core.settings.model import Settings
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.errors import PatchwrightError, SettingsError
from patchwright.core.types.threads import PullRequest
from patchwright.integrations.gitlab.ci.report import (
    DOTENV_FILE,
    OUTPUT_PREFIX,
    fold_end,
    fold_start,
    report,
)
from patchwright.integrations.gitlab.ci.requests import (
    PipelineRequests,
    merge_request_in,
)
from patchwright.integrations.gitlab.settings import SERVICE
from patchwright.integrations.gitlab.webhooks.triggers import is_bot_name

# The folder of the project that is kept; templates/patchwright.yml names it too.
ARTIFACTS: Final = ".patchwright-run"
_VARIABLE: Final = "PATCHWRIGHT_"
MERGE_REQUEST: Final = "merge-request-number"
GITLAB_INPUTS: Final[Mapping[str, Input]] = {
    **COMMON_INPUTS,
    MERGE_REQUEST: Input(check=REFERENCE),
}
_EXCLUSIVE_PAIRS: Final = (("issue-number", MERGE_REQUEST), ("task", MERGE_REQUEST))
_TOKEN: Final = "PATCHWRIGHT_GITLAB__TOKEN"  # noqa: S105 - the name of a variable
_NO_TOKEN: Final = (
    f"{_TOKEN}: not set; make a project access token with the role Developer and the "
    "scopes `api` and `write_repository`, and add it under Settings, CI/CD, Variables, "
    "masked and protected. The job's own CI_JOB_TOKEN will not do: it cannot open "
    "merge requests or write notes. A protected variable is there only in pipelines of "
    "protected branches."
)
_NEEDED: Final = ("CI_PROJECT_DIR", "CI_PROJECT_PATH", "CI_JOB_ID")
_WORDS: Final = CiWords(
    run="pipeline",
    known_by="The bot recognises its own notes by the user that its token belongs to.",
    read_only=(
        "The note could not be written: the token can only read. It needs the scope "
        "`api`, and at least the role Reporter in the project."
    ),
)


class ForkPipelineError(PatchwrightError):
    """The pipeline is about a fork's merge request, and would lend it our secrets."""

    reason = "fork"


@dataclass(frozen=True)
class PipelineJob(CiJob):
    """A job of a pipeline; `merge_request` is its number in the pipeline of one."""

    project_id: str = ""
    source_project_id: str = ""
    merge_request: int = 0

    @property
    def is_from_fork(self) -> bool:
        return bool(self.merge_request) and self.source_project_id != self.project_id


def variable_of(name: str) -> str:
    """Return the variable that an input is set by."""
    return _VARIABLE + name.upper().replace("-", "_")


class GitLabCi(CiSystem):
    """A `CiSystem`. The same process tells GitLab the result, by files and a code."""

    @property
    def words(self) -> CiWords:
        return _WORDS

    def read_job(self, environ: Mapping[str, str]) -> PipelineJob:
        if missing := [name for name in _NEEDED if not environ.get(name)]:
            raise SettingsError(
                f"{', '.join(missing)}: not set, though GITLAB_CI is; `patchwright "
                "action run` works only in a job of GitLab's runner. On this machine, "
                "use `patchwright resolve`."
            )
        project = Path(environ["CI_PROJECT_DIR"])
        folder = _private_folder(environ)
        artifacts = project / ARTIFACTS
        for one in (folder, artifacts):
            one.mkdir(parents=True, exist_ok=True)
        body: bytes = b""
        event: Mapping[str, Any] = {}
        if payload := environ.get("TRIGGER_PAYLOAD"):
            body, event = read_event("TRIGGER_PAYLOAD", Path(payload))
        number = environ.get("CI_MERGE_REQUEST_IID", "")
        return PipelineJob(
            service=SERVICE,
            folder=folder,
            artifacts=artifacts,
            workspace=project,
            repository=environ["CI_PROJECT_PATH"],
            event_name=environ.get("CI_PIPELINE_SOURCE", ""),
            event=event,
            event_bytes=body,
            actor=environ.get("GITLAB_USER_LOGIN", ""),
            actor_id=environ.get("GITLAB_USER_ID", ""),
            rerun_by="",
            run_id=environ.get("CI_PIPELINE_ID", ""),
            run_attempt=environ["CI_JOB_ID"],
            run_url=environ.get("CI_JOB_URL", ""),
            runs_url=f"{environ.get('CI_PROJECT_URL', '')}/-/pipelines",
            actor_variable="GITLAB_USER_LOGIN",
            is_bot=is_bot_name,
            junit_file=artifacts / "junit.xml",
            project_id=environ.get("CI_PROJECT_ID", ""),
            source_project_id=environ.get("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", ""),
            merge_request=int(number) if number.isdecimal() else 0,
        )

    def read_inputs(self, job: CiJob, environ: Mapping[str, str]) -> Inputs:
        """Return them; `ForkPipelineError` before a fork can have any use of ours.

        The pipeline of a merge request proves it: nobody has asked for anything there.
        """
        pipeline = _as_pipeline(job)
        if pipeline.is_from_fork:
            raise ForkPipelineError(
                f"merge request !{pipeline.merge_request} comes from a fork, whose "
                "pipeline must not use this project's variables; start a pipeline of "
                f"the default branch with {variable_of(MERGE_REQUEST)}="
                f"{pipeline.merge_request} and {variable_of('prove-only')}=true"
            )
        values = {
            name: environ.get(variable_of(name), one.default)
            for name, one in GITLAB_INPUTS.items()
        }
        if pipeline.merge_request:
            values["prove-only"] = "true"
        inputs = Inputs(values, GITLAB_INPUTS)
        problems = find_both_given(inputs, _EXCLUSIVE_PAIRS)
        if not environ.get(_TOKEN):
            problems.append(_NO_TOKEN)
        return checked(inputs, problems)

    def settings_environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Return it with this GitLab's address, where no other is given."""
        ours = set(map(variable_of, GITLAB_INPUTS))
        rest = {
            name: text
            for name, text in environ.items()
            if name not in ours and not name.startswith(OUTPUT_PREFIX)
        }
        for setting, variable in (
            ("PATCHWRIGHT_GITLAB__BASE_URL", "CI_SERVER_URL"),
            ("PATCHWRIGHT_GITLAB__CA_BUNDLE", "CI_SERVER_TLS_CA_FILE"),
        ):
            if environ.get(variable):
                rest.setdefault(setting, environ[variable])
        return rest

    def open_requests(
        self,
        connection: ForgeConnection,
        settings: Settings,
        job: CiJob,
        inputs: Inputs,
        environ: Mapping[str, str],
    ) -> JobRequests:
        del environ
        pipeline = _as_pipeline(job)
        return PipelineRequests(
            connection, settings, pipeline, inputs, pipeline.project_id
        )

    def patch_place(self, inputs: Inputs) -> str:
        del inputs
        return "It is `change.patch` among the artifacts of the job."

    def find_pull_number(self, job: CiJob, inputs: Inputs) -> int:
        given = int(inputs.text(MERGE_REQUEST) or 0)
        pipeline = _as_pipeline(job)
        told = merge_request_in(job.event, pipeline.project_id)
        found = given or pipeline.merge_request or told
        if not found:
            raise SettingsError(
                f"the pipeline (`{job.event_name}`) has no merge request to prove: set "
                f"{variable_of(MERGE_REQUEST)}"
            )
        return found

    def pull_post_url(self, pull: PullRequest, post_id: str) -> str:
        return f"{pull.url}#note_{post_id}"

    @contextmanager
    def quoted_log(self) -> Iterator[None]:
        """Fold the log of the run; there are no commands in a job's log.

        https://docs.gitlab.com/ci/jobs/job_logs/#custom-collapsible-sections
        """
        clock = SystemClock()
        _write(fold_start(clock.now()))
        yield
        _write(fold_end(clock.now()))

    def conclude(self, environ: Mapping[str, str]) -> int:
        job = self._place(environ)
        fail_on = environ.get(variable_of("fail-on"), "")
        is_cancelled = environ.get("CI_JOB_STATUS") == "canceled"
        text, code = report(job, fail_on, is_cancelled=is_cancelled)
        _write(text)
        return code

    def begin(self, environ: Mapping[str, str]) -> None:
        """Remove the artifacts of an earlier job: a runner may keep the folder.

        Where a checkout has a link at their place, only the link is removed.
        """
        job = self._place(environ)
        if job.artifacts.is_symlink():
            job.artifacts.unlink()
        else:
            shutil.rmtree(job.artifacts)
        job.artifacts.mkdir()

    def close(self, environ: Mapping[str, str]) -> None:
        job = self._place(environ)
        if not (job.artifacts / DOTENV_FILE).exists():
            self.conclude(environ)
        shutil.rmtree(job.folder, ignore_errors=True)

    def _place(self, environ: Mapping[str, str]) -> PipelineJob:
        """Return the job without what it was told, which need not make sense here."""
        return self.read_job({**environ, "TRIGGER_PAYLOAD": ""})


def _private_folder(environ: Mapping[str, str]) -> Path:
    """Return a folder beside the checkout, which nobody's commits can reach."""
    return (
        Path(f"{environ['CI_PROJECT_DIR']}.tmp") / f"patchwright-{environ['CI_JOB_ID']}"
    )


def _as_pipeline(job: CiJob) -> PipelineJob:
    if not isinstance(job, PipelineJob):
        raise TypeError("not a job of GitLab's")
    return job


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
