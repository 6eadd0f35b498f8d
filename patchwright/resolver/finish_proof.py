"""Prove a finished change while its agent can still mend what the proof lacks."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from patchwright.core.agent.endings import AgentEnding
from patchwright.core.agent.results import LEFT_OUT, PROOF_SHORT, FinishTry, HeldBack
from patchwright.core.agent.run_log import CancelToken, RunLog
from patchwright.core.events.actions import Finish
from patchwright.core.events.log import EventLog
from patchwright.core.events.observations import ErrorObservation, ProofStarted
from patchwright.core.events.payload import Source
from patchwright.core.events.types import Event, Known
from patchwright.core.system.clock import start_call
from patchwright.core.text.strings import truncate_middle
from patchwright.core.types.errors import (
    GitError,
    LeaseLostError,
    PatchwrightError,
    SandboxError,
)
from patchwright.core.types.evidence import Proof, ProofReason, ProofReport
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Outcome, Task
from patchwright.resolver.checkout import Checkout, save_checkpoint
from patchwright.resolver.messages.left_out import left_out_advice
from patchwright.resolver.outcome import (
    CommitDetails,
    SettledChange,
    settle_change,
    with_proof,
)
from patchwright.resolver.proof.advice import MAX_ROUNDS, can_be_mended, proof_advice
from patchwright.resolver.proof.evidence import ProofResult
from patchwright.resolver.prove import (
    ProofRequest,
    proof_dependencies,
    proof_request,
    prove,
)
from patchwright.resolver.services import RunDependencies
from patchwright.resolver.set_up.sandboxes import InterruptibleSandboxes
from patchwright.sandbox.workspace import Export

_MAX_NOTE_CHARS: Final = 500
# What a proof gets at the end of the time of its run.
_LEAST_TIME_S: Final = 600.0
_DOCUMENTS: Final = (".adoc", ".md", ".rst")


@dataclass(frozen=True)
class _KeptProof:
    """What came of the proof of the files `tree` by `commands`.

    They were committed at the time `when`. The `note` says why nothing could be run.
    """

    tree: str
    commands: tuple[str, ...]
    when: datetime
    result: ProofResult
    note: str = ""

    def is_about(self, tree: str, commands: tuple[str, ...]) -> bool:
        return (self.tree, self.commands) == (tree, commands)


class FinishProofs:
    """Proves the changes of one run: each that its agent finishes, and the last one.

    The proof of an unchanged change is not run again. A run may end with the finish
    that was held back last, so what that had to deliver is kept.
    """

    def __init__(
        self, task: Task, dependencies: RunDependencies, run_log: RunLog, start_id: int
    ) -> None:
        self._task, self._dependencies = task, dependencies
        self._run_log, self._start_id = run_log, start_id
        self._cancel_token = CancelToken(run_log, dependencies.release_signal)
        self._exported: tuple[Finish, Export] | None = None
        self._newest: _KeptProof | None = None

    def review(self, checkout: Checkout, attempt: FinishTry) -> HeldBack | None:
        """Return why the finish does not count yet, or None.

        First the agent hears, once, what its change lacks. Raises as `CancelToken`
        does, and `RuntimeLostError` of the agent's own sandbox.
        """
        finish, task = attempt.finish, self._task
        is_told = attempt.was_told_lacks or attempt.is_last
        export = checkout.workspace.export(
            task.base_sha,
            is_last=True,
            takes_stray_work=is_told and not finish.answer,
        )
        self._exported = finish, export
        if self._dependencies.recorded_review is not None:
            return self._repeat(self._dependencies.recorded_review(), attempt, export)
        advice = left_out_advice(export.left_out, export.conflicts)
        if advice and not is_told:
            self._exported = None
            return HeldBack(LEFT_OUT, advice)
        if not task.proves:
            return None
        # The proof takes its time, and the next worker must find the work.
        run_log, dependencies = self._run_log, self._dependencies
        save_checkpoint(checkout, task, dependencies, run_log.last_id, export)
        return self._review_proof(attempt, export)

    def _repeat(
        self, held_back: HeldBack | None, attempt: FinishTry, export: Export
    ) -> HeldBack | None:
        """Do with the finish what a recorded run did; only what counted is proven."""
        if held_back is None and self._task.proves:
            self._review_proof(attempt, export)
        if held_back is not None and held_back.reason == LEFT_OUT:
            self._exported = None
        return held_back

    def export_of(self, finish: Finish | None) -> Export | None:
        """Return the work tree as it was when the agent called this finish."""
        if self._exported is None or finish is None:
            return None
        exported, export = self._exported
        return export if _is_same(exported, finish) else None

    def commit_time(self, finish: Finish | None) -> datetime | None:
        """Return when the change of this finish was committed, if it was proven."""
        is_kept = self._newest is not None and self.export_of(finish) is not None
        return self._newest.when if self._newest and is_kept else None

    def add_proof(self, settled: SettledChange, ending: AgentEnding) -> Outcome:
        """Return the outcome with its proof, which is run unless it was already.

        Nothing is run for somebody who wants the run to stop.
        """
        outcome = settled.outcome
        commands = ending.finish.test_commands if ending.finish else ()
        kept = self._newest
        if ending.kind is OutcomeKind.STOPPED:
            kept = self._without_run(outcome, ProofReason.NO_COMMAND)
        elif kept is None or not kept.is_about(outcome.tree, commands):
            kept = self._prove(settled, commands, self._run)
        result = _moved(kept.result, outcome.head_sha)
        report = result.report.replace(rounds=self._count_rounds())
        proven = with_proof(outcome, replace(result, report=report))
        return proven.replace(notes=(*proven.notes, *filter(None, (kept.note,))))

    def _review_proof(self, attempt: FinishTry, export: Export) -> HeldBack | None:
        finish, when = attempt.finish, self._dependencies.clock.now()
        ending = AgentEnding(OutcomeKind.RESOLVED, "", finish.summary, finish)
        try:
            settled = settle_change(
                self._task,
                self._dependencies,
                ending,
                export,
                CommitDetails(when, finish),
            )
        except LeaseLostError:
            raise
        except PatchwrightError:
            return None  # The same becomes the outcome.
        if not settled.is_provable:
            return None
        commands = finish.test_commands
        before = self._newest
        if before is not None and before.is_about(settled.outcome.tree, commands):
            return None  # The agent has nothing to add.
        kept = self._prove(settled, commands, self._run_until_cancelled, when)
        self._newest = kept
        if attempt.rounds >= MAX_ROUNDS or not self._can_be_mended(kept.result):
            return None
        return HeldBack(PROOF_SHORT, proof_advice(kept.result, attempt.rounds))

    def _can_be_mended(self, result: ProofResult) -> bool:
        """Tell whether the agent could come to a better proof.

        The tests of a merge need not have failed before, and no test shows a change
        of documents only: an agent that named none is not asked for one.
        """
        if not can_be_mended(result):
            return False
        if result.level is Proof.CONTRADICTED:
            return True
        report = result.report
        if self._task.merge_sha or report.reason is not ProofReason.NO_COMMAND:
            return not self._task.merge_sha
        code = self._dependencies.code
        changes = code.changed_paths(self._task.base_sha, report.head_sha)
        return not all(one.path.lower().endswith(_DOCUMENTS) for one in changes)

    def _prove(
        self,
        settled: SettledChange,
        commands: tuple[str, ...],
        run: Callable[[ProofRequest], ProofResult],
        when: datetime | None = None,
    ) -> _KeptProof:
        """Prove a change; where no sandbox can be used, that is what comes of it."""
        dependencies, outcome = self._dependencies, settled.outcome
        request = proof_request(
            self._task,
            dependencies,
            outcome.head_sha,
            commands,
            is_doubtful=settled.is_doubtful,
        )
        request = replace(request, time_limit_s=self._time_limit_s())
        started = ProofStarted(head_sha=outcome.head_sha)
        dependencies.log.append(Source.SYSTEM, started)
        try:
            result, note = run(request), ""
        except (SandboxError, GitError) as error:
            # The sandboxes also end when this process must let go of the run.
            if dependencies.release_signal.done():
                raise LeaseLostError("the job was released") from error
            why = truncate_middle(str(error), _MAX_NOTE_CHARS)
            note = f"No fresh sandbox could be used: {why}"
            result = self._without_run(outcome, ProofReason.NO_SANDBOX).result
        return _KeptProof(
            outcome.tree, commands, when or dependencies.clock.now(), result, note
        )

    def _time_limit_s(self) -> float:
        """Return the time that the run has left, or enough for a proof of some kind."""
        run, limits = self._run_log.state, self._dependencies.limits
        elapsed_s = run.elapsed_s(self._dependencies.clock.now())
        left_s = run.allowed(limits).max_minutes * 60 - elapsed_s
        return max(left_s, _LEAST_TIME_S)

    def _without_run(self, outcome: Outcome, reason: ProofReason) -> _KeptProof:
        report = ProofReport(
            reason=reason, base_sha=self._task.proof_base, head_sha=outcome.head_sha
        )
        result = ProofResult(Proof.NOT_PROVEN, report)
        return _KeptProof(outcome.tree, (), self._dependencies.clock.now(), result)

    def _run(self, request: ProofRequest) -> ProofResult:
        return prove(request, proof_dependencies(self._dependencies))

    def _run_until_cancelled(self, request: ProofRequest) -> ProofResult:
        """Run the proof; it ends at once when the run is stopped, paused or lost."""
        ended: Future[None] = Future()
        usual = proof_dependencies(self._dependencies)
        log = _LogUntilEnd(usual.log)
        sandboxes = InterruptibleSandboxes(usual.sandboxes, ended)
        dependencies = replace(usual, log=log, sandboxes=sandboxes)
        future = start_call(lambda: prove(request, dependencies))
        try:
            return self._cancel_token.wait_for(future)
        except BaseException:
            # Whatever ends the wait, and be it a signal: the sandboxes end with it.
            log.end()
            ended.set_result(None)
            raise

    def _count_rounds(self) -> int:
        """Count how often the agent of this run was told to mend the proof."""
        errors = self._dependencies.log.read(self._start_id, kinds=frozenset({"error"}))
        return sum(
            isinstance(one.payload, ErrorObservation)
            and one.payload.reason == PROOF_SHORT
            for one in errors
        )


def _is_same(one: Finish, other: Finish) -> bool:
    """Compare what the agent said, and not how its call was judged on the way."""
    return one == other.replace(risk=one.risk)


def _moved(result: ProofResult, head_sha: str) -> ProofResult:
    """Return the proof as that of another commit with the same files."""
    proven = result.report.head_sha
    evidence = tuple(
        one.replace(commit=head_sha) if one.commit == proven else one
        for one in result.evidence
    )
    report = result.report.replace(head_sha=head_sha)
    return replace(result, report=report, evidence=evidence)


class _LogUntilEnd:
    """A log to which nothing is written any more after its end."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self.read, self.subscribe, self.listen = log.read, log.subscribe, log.listen
        self._lock = threading.Lock()
        self._is_open = True

    def append(self, source: Source, payload: Known, cause: int | None = None) -> Event:
        with self._lock:
            if not self._is_open:
                raise LeaseLostError("the proof was stopped")
            return self._log.append(source, payload, cause)

    def end(self) -> None:
        with self._lock:
            self._is_open = False
