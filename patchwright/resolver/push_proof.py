"""Prove our pull request again after somebody else has pushed to it; no model."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

import structlog

from patchwright.core.forge import PullRequestText
from patchwright.core.text.escape import inline_code
from patchwright.core.types.errors import (
    GitError,
    LeaseLostError,
    PatchwrightError,
    RuntimeLostError,
    SandboxError,
    ServiceError,
)
from patchwright.core.types.evidence import Proof, ProofReason, ProofReport
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.threads import PullRequest
from patchwright.core.types.triggers import TriggerKind
from patchwright.core.types.work import CONTRADICTED, Outcome, Task
from patchwright.integrations.git.objects import ObjectStore
from patchwright.resolver.clean import WholeChange, judge_whole
from patchwright.resolver.configuration import apply_configuration
from patchwright.resolver.delivery import proof_run
from patchwright.resolver.messages.body_parts import (
    BodyState,
    find_state,
    replace_verdict,
)
from patchwright.resolver.preparation import fetch_mirror
from patchwright.resolver.proof.evidence import ProofResult, earlier_commands
from patchwright.resolver.prove import proof_dependencies, proof_request, prove
from patchwright.resolver.publish.effects import (
    Effect,
    FinalMessage,
    FlagEvidence,
    RefreshEvidence,
)
from patchwright.resolver.publish.live import without_trace
from patchwright.resolver.run import End, Run, end, fail
from patchwright.resolver.run_plan import AttemptResult
from patchwright.resolver.services import StepServices
from patchwright.resolver.set_up.plan import with_inferred_set_up

PROVEN_AGAIN: Final = "proven-again"
_SHOWN: Final = (Proof.PROVEN, Proof.SHOWN_BY_COMMAND)
_SHA_CHARS: Final = 10

log = structlog.get_logger(__name__)


def prove_new_head(services: StepServices, run: Run) -> End:
    """Prove the new head of our pull request, and say in it what holds now.

    Nobody has asked for it, and nothing is written but what we say of our own work: so
    nobody's permission counts. Errors are not shown to people.
    """
    try:
        return _PushProof(services, run).prove()
    except LeaseLostError:
        raise
    except PatchwrightError as error:
        log.warning("push_not_proven", reason=error.reason, error=str(error))
        return fail(services, run, error, quiet=True)


def stale_text(said: BodyState, head_sha: str, why_not: str = "") -> str:
    """Say that the evidence is of another commit; `why_not` ends a sentence."""
    follows = (
        "it is being run again" if not why_not else f"it is not run again: {why_not}"
    )
    return (
        f"> [!WARNING]\n> The evidence below is of `{said.head_sha[:_SHA_CHARS]}`, not "
        f"of the current head `{head_sha[:_SHA_CHARS]}`; {follows}."
    )


def is_worth_saying(before: Proof, now: Proof) -> bool:
    """Tell whether people must hear of a push: it has broken what was shown before.

    Everything else stands in the description of the pull request.
    """
    if now is Proof.CONTRADICTED:
        return before is not Proof.CONTRADICTED
    return before in _SHOWN and now not in _SHOWN


@dataclass(frozen=True)
class _NewHead:
    """The head of a pull request, which has left its base branch at `base_sha`.

    `target_sha` is where the base branch is now.
    """

    code: ObjectStore
    sha: str
    base_sha: str
    target_sha: str


class _PushProof:
    """One run after a push: says at once that the evidence is old, then runs it."""

    def __init__(self, services: StepServices, run: Run) -> None:
        self._services, self._run = services, run
        self._forge = services.code_host.forge
        self._thread = run.trigger.forge_thread
        self._plan, self._config = run.plan, run.plan.config

    def prove(self) -> AttemptResult:
        repo, number = self._thread.repo, self._thread.number
        pull = self._forge.fetch_pull_request(repo, number)
        said = find_state(pull.body)
        if not pull.is_open or not pull.same_repository:
            return self._nothing("closed")
        if said is None:
            return self._nothing("not-described")
        head = self._fetch(pull)
        if said.head_sha == head.sha:
            return self._nothing("known-head")
        why_not = self._why_not()
        self._flag(pull, said, head.sha, why_not)
        if why_not:
            return self._nothing("not-run-again")
        outcome = self._outcome(head, pull)
        effects: list[Effect] = [RefreshEvidence(number=number, sha=head.sha)]
        if is_worth_saying(said.level, outcome.proof):
            effects.append(FinalMessage())
        return AttemptResult(outcome, self._plan, 0, effects=tuple(effects))

    def _fetch(self, pull: PullRequest) -> _NewHead:
        """Return the head as it is now, and where it has left the base branch."""
        repository = self._forge.fetch_repository(self._thread.repo)
        head, base = f"refs/heads/{pull.head_branch}", f"refs/heads/{pull.base_branch}"
        mirror = fetch_mirror(self._services.sources, repository, head, base)
        head_sha, target_sha = mirror.resolve(head), mirror.resolve(base)
        base_sha = mirror.objects.merge_base(head_sha, target_sha) or target_sha
        self._plan = self._plan.replace(repository=repository)
        return _NewHead(mirror.objects, head_sha, base_sha, target_sha)

    def _nothing(self, reason: str) -> AttemptResult:
        outcome = Outcome(kind=OutcomeKind.NO_CHANGE, reason=reason)
        return end(self._services, self._run, outcome, quiet=True)

    def _why_not(self) -> str:
        """Return why nothing is run, as the end of a sentence; usually empty."""
        if self._config.evidence == "off":
            return f"`evidence` is off in {inline_code(self._config.file)}"
        since = self._services.clock.now() - timedelta(hours=1)
        most = self._services.settings.limits.runs_per_thread_hour
        runs = self._run.store.count_automatic_runs(TriggerKind.PUSHED, since)
        if runs <= most:
            return ""
        return f"{runs - 1} pushes were looked at within an hour, which is the limit"

    def _flag(
        self, pull: PullRequest, said: BodyState, head_sha: str, why_not: str
    ) -> None:
        """Say at once what the evidence is of; without that it is still run again."""
        body = replace_verdict(pull.body, stale_text(said, head_sha, why_not))
        text = PullRequestText(title=pull.title, body=body, draft=pull.draft)
        number = pull.number

        def write() -> None:
            self._forge.update_pull_request(self._thread.repo, number, text)

        effect = FlagEvidence(number=number, sha=head_sha)
        try:
            self._services.live.publish(effect, without_trace(write))
        except ServiceError as error:
            log.warning("evidence_not_flagged", reason=error.reason, error=str(error))

    def _outcome(self, head: _NewHead, pull: PullRequest) -> Outcome:
        clock = self._services.clock
        started = clock.monotonic()
        whole = judge_whole(head.code, head.base_sha, head.sha)
        proof = self._prove(head, whole)
        is_contradicted = proof.level is Proof.CONTRADICTED
        text = (
            "Somebody else has pushed to this pull request, and its proof does not "
            f"hold for the new head `{head.sha[:_SHA_CHARS]}`. The evidence is in the "
            "description of the pull request."
        )
        outcome = Outcome(
            kind=OutcomeKind.NEEDS_INPUT if is_contradicted else OutcomeKind.ANSWERED,
            reason=CONTRADICTED if is_contradicted else PROVEN_AGAIN,
            summary=text,
            service_text=text,
            title=pull.title,
            base_branch=pull.base_branch,
            base_sha=head.base_sha,
            head_sha=head.sha,
            tree=head.code.tree_of(head.sha),
            changed=whole.size,
            warnings=whole.warnings,
            seconds=round(clock.monotonic() - started, 1),
        )
        return proof.applied_to(outcome)

    def _prove(self, head: _NewHead, whole: WholeChange) -> ProofResult:
        run, services = self._run, self._services
        dependencies = proof_run(
            services,
            run.job,
            run.store,
            self._config,
            head.code,
            repository=self._plan.repository,
        )
        task = self._task(head)
        wanted = proof_request(
            task, dependencies, head.sha, (), is_doubtful=whole.rules_out_proof
        )
        # Nobody has named a test of what was pushed.
        wanted = replace(wanted, is_rerun=bool(task.earlier_tests))
        try:
            return prove(wanted, proof_dependencies(dependencies))
        except (GitError, RuntimeLostError, SandboxError) as error:
            if run.release_signal.done():
                raise LeaseLostError("the job was released") from error
            log.warning("push_not_proven", reason=error.reason, error=str(error))
            report = ProofReport(
                reason=ProofReason.NO_SANDBOX,
                base_sha=head.base_sha,
                head_sha=head.sha,
            )
            return ProofResult(Proof.NOT_PROVEN, report)

    def _task(self, head: _NewHead) -> Task:
        """Return what the proof is for; the set-up is that of the base branch."""
        config = self._config
        task = Task(
            text="",
            base_sha=head.base_sha,
            setup=config.setup,
            tests=config.test,
            setup_may_fail=config.on_setup_failure == "continue",
            trusted_sha=head.target_sha,
            earlier_tests=earlier_commands(self._run.store.list_outcomes()),
        )
        sandbox = apply_configuration(self._services.settings, config).settings.sandbox
        return with_inferred_set_up(task, head.code, config, sandbox)
