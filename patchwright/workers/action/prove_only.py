"""Prove a pull request of anybody's, and say on it what was found.

The code of the change runs in sandboxes alone, which get no credential: the job's token
is used on this machine, to fetch both commits and to write the one comment. Nothing
else is written, and no model is asked.
"""

import json
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import structlog

from patchwright.core.agent.run_log import ReleaseSignal
from patchwright.core.ci.inputs import Inputs
from patchwright.core.ci.result import Grade, Result
from patchwright.core.ci.system import CiJob, CiSystem, secrets_in
from patchwright.core.events.jsonl import JsonlEventLog
from patchwright.core.plugin import ForgeConnection
from patchwright.core.settings.model import secret_values
from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.settings.repository_file import read_repository_config
from patchwright.core.system.clock import SystemClock
from patchwright.core.system.logs import set_up_logging
from patchwright.core.text.redaction import Redactor
from patchwright.core.text.strings import truncate_middle
from patchwright.core.types.base import RandomIds
from patchwright.core.types.errors import (
    NotFoundError,
    PermissionDeniedError,
    SandboxError,
    ServiceError,
    SettingsError,
)
from patchwright.core.types.evidence import (
    Evidence,
    EvidenceRole,
    Proof,
    ProofReason,
    ProofReport,
)
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.threads import (
    PullRequest,
    Repository,
)
from patchwright.core.types.work import CONTRADICTED
from patchwright.integrations.git.mirror import Mirror, MirrorCache
from patchwright.integrations.registry import describe_services
from patchwright.resolver.branch_proof import prove_change
from patchwright.resolver.configuration import apply_configuration
from patchwright.resolver.messages.proof_json import evidence_as_json, verdict_as_json
from patchwright.resolver.messages.proof_markdown import CodeLinks
from patchwright.resolver.messages.proof_words import level_sentence
from patchwright.resolver.proof.branch_change import (
    BranchChange,
    BranchProof,
    NoChangeError,
    find_change,
)
from patchwright.resolver.proof.evidence import ProofResult
from patchwright.resolver.prove import ProofDependencies
from patchwright.resolver.set_up.sandboxes import InterruptibleSandboxes, sandbox_spec
from patchwright.sandbox.factory import create_factory
from patchwright.workers.action.configuration import (
    connect,
    find_settings,
    make_run_overrides,
    plugins_of,
)
from patchwright.workers.action.job import when_cancelled
from patchwright.workers.action.junit import write_junit
from patchwright.workers.action.outputs import output_table, test_result
from patchwright.workers.branch_proof_text import (
    PROOF_MARK,
    branch_proof_as_json,
    branch_proof_text,
    mark_of_head,
)

PROVE_ONLY: Final = "prove-only"

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class _Proven:
    """A proof, and the pull request that it is about as it was then."""

    pull: PullRequest
    proof: BranchProof
    failure: str = ""


class ProofJob:
    """One use of the Action with `prove-only`."""

    def __init__(
        self, ci: CiSystem, job: CiJob, inputs: Inputs, environ: Mapping[str, str]
    ) -> None:
        self._ci, self._job, self._inputs = ci, job, inputs
        self._overrides = make_run_overrides(
            inputs, job.workspace, ci.patch_place(inputs)
        )
        self.settings = find_settings(job, inputs, environ)
        plugins = plugins_of(job.service)
        self._forge = describe_services(self.settings, plugins).forge
        self._repo = job.repo
        self._clock, self._started = SystemClock(), SystemClock().monotonic()
        secrets = (*secret_values(self.settings), *secrets_in(environ))
        self.redactor = Redactor((*secrets, *inputs.secrets.values()))

    def run(self) -> Result:
        set_up_logging(self.redactor.redact_json, as_json=self.settings.log_json)
        number = self._ci.find_pull_number(self._job, self._inputs)
        with connect(self._job.service, self.settings) as connected:
            pull = self._fetch_pull(connected, number)
            repository = connected.forge.fetch_repository(self._repo)
            mirror = self._fetch(connected, repository, pull)
            try:
                change = find_change(
                    mirror.objects,
                    mirror.resolve(_base_ref(pull)),
                    mirror.resolve(self._forge.forms.head_ref(number)),
                )
            except NoChangeError as error:
                return self._nothing_to_prove(pull, str(error))
            config = self._read_config(connected)
            proven = self._prove(mirror, pull, change, config)
            text = self._text(proven, config, repository)
            return self._report(connected, proven, text)

    def _fetch_pull(self, connected: ForgeConnection, number: int) -> PullRequest:
        try:
            return connected.forge.fetch_pull_request(self._repo, number)
        except NotFoundError as error:
            name = self._forge.forms.pull(self._repo, number).name
            raise SettingsError(
                f"{name} of {self._repo.full_name} is not a pull request that the "
                "token can read: `prove-only` works on pull requests"
            ) from error

    def _fetch(
        self, connected: ForgeConnection, repository: Repository, pull: PullRequest
    ) -> Mirror:
        mirrors = MirrorCache(
            self.settings.state_dir / "mirrors", connected.git_environment
        )
        credential = connected.forge.mint_credential(self._repo)
        refs = [_base_ref(pull), self._forge.forms.head_ref(pull.number)]
        return mirrors.fetch(repository.clone_url, credential, refs)

    def _read_config(self, connected: ForgeConnection) -> RepositoryConfig:
        """Read it from the default branch, never from the pull request."""
        path = self._overrides.config_file
        found = connected.forge.fetch_file(self._repo, path)
        return self._overrides.applied_to(read_repository_config(found, path))

    def _prove(
        self,
        mirror: Mirror,
        pull: PullRequest,
        change: BranchChange,
        config: RepositoryConfig,
    ) -> _Proven:
        applied = apply_configuration(self.settings, config.replace(model=""))
        settings = applied.settings
        path = self._job.folder / "events.jsonl"
        chosen = create_factory(
            settings.sandbox.kind, self._clock, settings.sandbox.image
        )
        with (
            JsonlEventLog(path, self.redactor.redact_json, self._clock) as events,
            self._ended_in_time() as release_signal,
        ):
            dependencies = ProofDependencies(
                InterruptibleSandboxes(chosen, release_signal),
                sandbox_spec(settings, RandomIds().new()),
                mirror.objects,
                events,
                self._clock,
            )
            commands = self._inputs.lines("test")
            failure = ""
            try:
                proof = prove_change(
                    change, commands, config, settings.sandbox, dependencies
                )
            except SandboxError as error:
                if release_signal.done():
                    raise
                failure = truncate_middle(str(error), 500)
                proof = _unproven(change, failure)
        notes = (*applied.notes, *proof.notes)
        return _Proven(pull, self._redacted(replace(proof, notes=notes)), failure)

    @contextmanager
    def _ended_in_time(self) -> Iterator[ReleaseSignal]:
        """End the sandboxes when the job is cancelled, or its time is up."""
        release_signal: ReleaseSignal = Future()
        lock = threading.Lock()

        def release() -> None:
            with lock:
                if not release_signal.done():
                    release_signal.set_result(None)

        limit_s = self.settings.limits.timeout_minutes * 60
        timer = threading.Timer(limit_s, release)
        timer.daemon = True
        timer.start()
        try:
            with when_cancelled(release):
                yield release_signal
        finally:
            timer.cancel()

    def _redacted(self, proof: BranchProof) -> BranchProof:
        clean = self.redactor.redact_json
        result = proof.result
        report = ProofReport.model_validate(
            clean(result.report.model_dump(mode="json"))
        )
        evidence = tuple(
            Evidence.model_validate(clean(one.model_dump(mode="json")))
            for one in result.evidence
        )
        return replace(proof, result=replace(result, report=report, evidence=evidence))

    def _text(
        self, proven: _Proven, config: RepositoryConfig, repository: Repository
    ) -> str:
        links = CodeLinks(repository.pages_url)
        handle = self._forge.mention
        return branch_proof_text(proven.proof, handle, config.file, links)

    def _report(self, connected: ForgeConnection, proven: _Proven, text: str) -> Result:
        proof, level = proven.proof, proven.proof.result.level
        url, remark = self._comment(connected, proven, text)
        kind, code = _outcome_of(proven)
        outputs = {
            "outcome": kind,
            "error-code": code,
            "summary": level_sentence(level, proof.result.report),
            "pr-number": str(proven.pull.number),
            "pr-url": proven.pull.url,
            "base-sha": proof.change.base_sha,
            "head-sha": proof.change.head_sha,
            "comment-url": url,
            "tests-before": test_result(proof.result.evidence, EvidenceRole.BEFORE),
            "tests-after": test_result(proof.result.evidence, EvidenceRole.AFTER),
            "proof": level,
            "evidence": _as_output(proof),
            "evidence-file": str(self._write_evidence(proof)),
            "duration-seconds": str(round(self._clock.monotonic() - self._started)),
        }
        parts = (f"[pull request]({proven.pull.url})", text, remark)
        summary = "\n\n".join(filter(None, (*parts, output_table(outputs))))
        return Result(_grade_of(proven), outputs, summary)

    def _comment(
        self, connected: ForgeConnection, proven: _Proven, text: str
    ) -> tuple[str, str]:
        """Write the one comment, or over it; return its address, and what was odd."""
        if self._inputs.is_true("dry-run"):
            return "", "**Dry run**: the comment was not written."
        thread = proven.pull.thread(self._repo)
        head_sha = proven.proof.change.head_sha
        try:
            now = connected.forge.fetch_pull_request(self._repo, proven.pull.number)
            if now.head_sha != head_sha:
                if connected.channel.find_post(thread, mark_of_head(now.head_sha)):
                    return "", "A newer proof is on the pull request already."
                text = f"{text}\n\n{_moved_on(head_sha, now.head_sha)}"
            text = f"{text}\n\n{mark_of_head(head_sha)}"
            post_id = connected.channel.find_post(thread, PROOF_MARK)
            if post_id is None:
                post_id = connected.channel.post(thread, text)
            else:
                connected.channel.edit(thread, post_id, text)
        except PermissionDeniedError as error:
            log.warning("comment_not_written", reason=error.reason, error=str(error))
            return "", self._ci.words.read_only
        except ServiceError as error:
            log.warning("comment_not_written", reason=error.reason, error=str(error))
            return "", f"The comment could not be written (`{error.reason}`)."
        return self._ci.pull_post_url(proven.pull, post_id), ""

    def _write_evidence(self, proof: BranchProof) -> Path:
        path = self._job.artifacts / "evidence.json"
        told = self.redactor.redact_json(branch_proof_as_json(proof))
        if self._job.junit_file:
            result = proof.result
            write_junit(
                self._job.junit_file, result.level, result.report, result.evidence
            )
        path.write_text(f"{json.dumps(told, indent=2, ensure_ascii=False)}\n", "utf-8")
        return path

    def _nothing_to_prove(self, pull: PullRequest, why: str) -> Result:
        outputs = {
            "outcome": OutcomeKind.NO_CHANGE,
            "error-code": NoChangeError.reason,
            "summary": why,
            "pr-number": str(pull.number),
            "pr-url": pull.url,
            "proof": Proof.NONE,
        }
        return Result(Grade.GOOD, outputs, f"Nothing was proven: {why}.")


def _base_ref(pull: PullRequest) -> str:
    return f"refs/heads/{pull.base_branch}"


def _unproven(change: BranchChange, failure: str) -> BranchProof:
    """Return what there is to say where nothing could be run."""
    report = ProofReport(
        reason=ProofReason.NO_SANDBOX,
        base_sha=change.base_sha,
        head_sha=change.head_sha,
    )
    note = f"No fresh sandbox could be used: {failure}"
    return BranchProof(change, ProofResult(Proof.NOT_PROVEN, report), (note,))


def _moved_on(head_sha: str, now_sha: str) -> str:
    return (
        f"This is about `{head_sha[:10]}`; the pull request has moved on to "
        f"`{now_sha[:10]}` since, of which this says nothing."
    )


def _outcome_of(proven: _Proven) -> tuple[OutcomeKind, str]:
    """Return outcome and code: that something is not proven is an answer, too."""
    if proven.failure:
        return OutcomeKind.FAILED, SandboxError.reason
    match proven.proof.result.level:
        case Proof.PROVEN:
            return OutcomeKind.ANSWERED, ""
        case Proof.CONTRADICTED:
            return OutcomeKind.NEEDS_INPUT, CONTRADICTED
        case Proof.SHOWN_BY_COMMAND | Proof.NOT_PROVEN | Proof.NONE:
            return OutcomeKind.ANSWERED, proven.proof.result.report.reason


def _grade_of(proven: _Proven) -> Grade:
    if proven.failure:
        return Grade.ERROR
    match proven.proof.result.level:
        case Proof.PROVEN:
            return Grade.GOOD
        case Proof.CONTRADICTED:
            return Grade.UNRESOLVED
        case Proof.SHOWN_BY_COMMAND | Proof.NOT_PROVEN | Proof.NONE:
            return Grade.UNPROVEN


def _as_output(proof: BranchProof) -> str:
    result = proof.result
    ran = [evidence_as_json(one, has_tail=False) for one in result.evidence]
    told = verdict_as_json(result.level, result.report)
    return json.dumps({**told, "evidence": ran}, ensure_ascii=False)
