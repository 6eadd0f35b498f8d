"""GitHub Actions as a `CiSystem`: what a workflow asks of the step that we are."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

import structlog

from patchwright.core.ci.inputs import Inputs
from patchwright.core.ci.result import (
    Grade,
    Result,
    not_asked_result,
    start_words,
)
from patchwright.core.ci.system import (
    ActionRequest,
    CiJob,
    CiSystem,
    CiWords,
    NoTrigger,
)
from patchwright.core.plugin import ForgeConnection
from patchwright.core.settings.model import Settings
from patchwright.core.settings.names import FORMER_LABEL
from patchwright.core.types.base import RandomIds
from patchwright.core.types.errors import ServiceError, SettingsError
from patchwright.core.types.threads import (
    ForgeThread,
    PullRequest,
    RepoRef,
    ThreadKind,
    ThreadPost,
    ThreadRef,
)
from patchwright.integrations.github.adapter import GitHub
from patchwright.integrations.github.ci.signature import (
    JOB_LOGIN,
    KNOWN_BY_SIGNATURE,
    CommentSigner,
    find_comment_signer,
    read_own_text,
)
from patchwright.integrations.github.ci.trigger import (
    TriggerReader,
    number_of_checks,
    number_of_thread,
    payload_in,
)
from patchwright.integrations.github.ci.workflow import (
    PREFIX,
    WorkflowCheck,
    WorkflowJob,
    check_workflow,
    read_inputs,
    read_workflow_job,
    settings_environment,
)
from patchwright.integrations.github.compose import ConnectedGitHub
from patchwright.integrations.github.repository import fetch_head
from patchwright.integrations.github.settings import GitHubSettings
from patchwright.integrations.github.webhooks.triggers import GitHubTriggerRules

_WORDS: Final = CiWords(
    run="workflow run",
    known_by=KNOWN_BY_SIGNATURE,
    read_only=(
        "The comment could not be written: the job's token can only read. So it is for "
        "`pull_request` workflows of a fork's pull request. Start this workflow on "
        "`pull_request_target` instead, whose token can write. That is safe here: the "
        "workflow checks out nothing, and the change runs only in the sandbox."
    ),
)
_RENAMED_LABEL: Final = (
    f"the label `{FORMER_LABEL}` started this run, but the default is now "
    f"`patchwright`: use that label, or set `label: {FORMER_LABEL}`; the old default "
    "works for one more release."
)
_IN_ARTIFACT: Final = "It is `change.patch` in the artifact of the workflow run."
_ON_RUNNER: Final = (
    "It is in the file that the step's output `patch-file` names, for later steps of "
    "this job: `upload-artifacts` is off."
)
_CONDITION: Final = "The workflow's own `if:` must allow the same."
_COMMENTED: Final = (ThreadKind.ISSUE, ThreadKind.PULL_REQUEST)

log = structlog.get_logger(__name__)


class GitHubActions(CiSystem):
    """A `CiSystem`. The step after ours tells the runner the result: `finish.py`."""

    @property
    def words(self) -> CiWords:
        return _WORDS

    def read_job(self, environ: Mapping[str, str]) -> WorkflowJob:
        return read_workflow_job(environ)

    def read_inputs(self, job: CiJob, environ: Mapping[str, str]) -> Inputs:
        del job
        return read_inputs(environ[f"{PREFIX}INPUTS"])

    def settings_environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        return settings_environment(environ)

    def open_requests(
        self,
        connection: ForgeConnection,
        settings: Settings,
        job: CiJob,
        inputs: Inputs,
        environ: Mapping[str, str],
    ) -> "WorkflowRequests":
        if not isinstance(job, WorkflowJob) or not isinstance(
            connection, ConnectedGitHub
        ):
            raise TypeError("a workflow can use nothing but a repository of GitHub")
        signer = find_comment_signer(settings, environ, has_job_token=job.has_job_token)
        # What a job's own token does starts no other workflow; an App's does.
        github = replace(connection.github, starts_no_checks=job.has_job_token)
        if signer is not None:
            github = replace(github, channel=github.channel.with_signature(signer.sign))
        rules = _trigger_rules(settings, github, job, inputs)
        found = _check_workflow(github, job, rules.mention)
        signing = replace(connection, github=github)
        return WorkflowRequests(signing, job, inputs, signer, rules, found)

    def patch_place(self, inputs: Inputs) -> str:
        return _IN_ARTIFACT if inputs.is_true("upload-artifacts") else _ON_RUNNER

    def find_pull_number(self, job: CiJob, inputs: Inputs) -> int:
        payload = payload_in(job.event, job.event_name)
        given = inputs.text("issue-number") or str(payload.get("issue-number") or "")
        if given and not (given.isascii() and given.isdigit()):
            raise SettingsError("client_payload: `issue-number` is not a number")
        found = int(given or 0) or number_of_thread(job.event)
        number = found or number_of_checks(job.event)
        if not number:
            raise SettingsError(
                f"the event `{job.event_name}` has no pull request to prove: set "
                "the input `issue-number`"
            )
        return number

    def pull_post_url(self, pull: PullRequest, post_id: str) -> str:
        return f"{pull.url}#issuecomment-{post_id}"

    @contextmanager
    def quoted_log(self) -> Iterator[None]:
        """Let no line of the log be a command for the runner.

        https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#stopping-and-starting-workflow-commands
        """
        word = RandomIds().new()
        sys.stdout.write(f"::stop-commands::{word}\n")
        sys.stdout.flush()
        yield
        sys.stdout.write(f"::{word}::\n")

    def begin(self, environ: Mapping[str, str]) -> None:
        """Raise `SettingsError` outside of a workflow, before a runner is spoken to."""
        self.read_job(environ)

    def conclude(self, environ: Mapping[str, str]) -> int:
        del environ
        return 0


@dataclass(frozen=True)
class WorkflowRequests:
    """The `JobRequests` of a workflow."""

    connection: ConnectedGitHub
    job: WorkflowJob
    inputs: Inputs
    signer: CommentSigner | None
    rules: GitHubTriggerRules
    workflow_check: WorkflowCheck | None

    @property
    def github(self) -> GitHub:
        return self.connection.github

    @property
    def notices(self) -> tuple[str, ...]:
        is_former = _has_former_label(self.job, self.inputs)
        return (_RENAMED_LABEL,) if is_former else ()

    def find(self, task: str) -> ActionRequest | NoTrigger:
        reader = TriggerReader(self.job, self.inputs, self.rules, self.github)
        return reader.find(task)

    def refuse(self, reason: str) -> Result:
        """If the workflow starts on a phrase that does not count, it is a warning."""
        rules, found = self.rules, self.workflow_check
        log.info("not_asked", reason=reason, listens_for=rules.mention)
        action = str(self.job.event.get("action") or "")
        event = f"{self.job.event_name} ({action})" if action else self.job.event_name
        starts = start_words(rules.mention, rules.label, rules.assignee)
        text = (
            f"There is no request ({reason}): {event} by "
            f"{self.job.actor or 'somebody'}. This step starts on {starts}. "
            f"{f'About the phrase: {found}' if found else _CONDITION}"
        )
        is_sound = found is None or found.is_sound
        return not_asked_result(text, Grade.GOOD if is_sound else Grade.UNRESOLVED)

    def own_text(self, thread: ThreadRef, post: ThreadPost) -> str | None:
        return read_own_text(thread, post, self.rules, self.signer)

    def post_url(self, thread: ForgeThread, post_id: str) -> str:
        url = self.github.api.addresses.thread_url(thread)
        return f"{url}#issuecomment-{post_id}" if thread.kind in _COMMENTED else url

    def fetch_head(self, repo: RepoRef, branch: str) -> str:
        return fetch_head(self.github.api, repo, branch)


def _trigger_rules(
    settings: Settings, github: GitHub, job: WorkflowJob, inputs: Inputs
) -> GitHubTriggerRules:
    own = GitHubSettings.of(settings)
    is_former = _has_former_label(job, inputs)
    return GitHubTriggerRules(
        mention=own.mention,
        label=FORMER_LABEL if is_former else own.label,
        own_login=_own_login(github, job),
        assignee=inputs.text("assignee"),
    )


def _has_former_label(job: WorkflowJob, inputs: Inputs) -> bool:
    """Tell whether the former default label asks, and no other was chosen."""
    if inputs.is_chosen("label"):
        return False
    label = job.event.get("label")
    return isinstance(label, dict) and label.get("name") == FORMER_LABEL


def _own_login(github: GitHub, job: WorkflowJob) -> str:
    """Return who we are; where that cannot be known, no comment counts as ours."""
    if job.has_job_token:
        return JOB_LOGIN
    try:
        identity = github.fetch_identity()
    except ServiceError as error:
        log.warning("own_identity_unknown", reason=error.reason)
        return ""
    return identity.login if identity else ""


def _check_workflow(
    github: GitHub, job: WorkflowJob, mention: str
) -> WorkflowCheck | None:
    """Hold the workflow's own condition against what we listen to, and tell both.

    Nothing depends on it, so that it may be left out where the file is not shown.
    """
    if job.workflow is None:
        return None
    path, commit = job.workflow
    try:
        found = github.forge.fetch_file(job.repo, path, commit)
    except ServiceError as error:
        log.info("workflow_not_read", reason=error.reason)
        return None
    checked = check_workflow((found or b"").decode("utf-8", "replace"), mention)
    tell = log.info if checked.is_sound else log.warning
    tell(
        "phrases",
        gate=checked.workflow_phrases,
        listens_for=mention,
        is_sound=checked.is_sound,
    )
    return checked
