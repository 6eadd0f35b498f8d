"""Resolve one task: sandbox, agent, commits out, checks, proof."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from importlib.metadata import version
from typing import Final

import structlog

from patchwright.core.agent.agents import AgentDependencies
from patchwright.core.agent.controller import Controller
from patchwright.core.agent.endings import AgentEnding
from patchwright.core.agent.execution import mark_unknown
from patchwright.core.agent.model_calls import ModelCaller
from patchwright.core.agent.results import read_schema
from patchwright.core.agent.run_log import CancelToken, RunCancelledError, RunLog
from patchwright.core.events.actions import Message
from patchwright.core.events.observations import OutcomeReached, RunStarted
from patchwright.core.events.payload import Source
from patchwright.core.mcp import McpServers
from patchwright.core.runtime import Runtime
from patchwright.core.text.strings import truncate_middle
from patchwright.core.types.errors import (
    GitError,
    LeaseLostError,
    PatchwrightError,
    RuntimeLostError,
    SandboxError,
)
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import LeftOut, Outcome, Task
from patchwright.resolver.checkout import (
    Checkout,
    discard_checkpoint,
    find_earlier_left_out,
    open_checkout,
    report_rebuilt_sandbox,
    save_checkpoint,
)
from patchwright.resolver.finish_proof import FinishProofs
from patchwright.resolver.outcome import complete_outcome, settle_outcome
from patchwright.resolver.sandbox_report import report_sandbox
from patchwright.resolver.second_opinion import needs_second_opinion, second_opinion
from patchwright.resolver.services import RunDependencies, set_up_of_task
from patchwright.resolver.set_up.cache import shown_repository
from patchwright.resolver.set_up.sandboxes import (
    close_and_record_blocked,
    set_up,
    was_set_up_interrupted,
)
from patchwright.sandbox.workspace import Export


def record_start(
    task: Task | None, dependencies: RunDependencies, start_id: int
) -> Task:
    """Return the task of the run in the log from `start_id` on, or record `task`."""
    kinds = frozenset({"run_started", "message"})
    events = dependencies.log.read(start_id, kinds=kinds)
    begun = [event.payload for event in events if isinstance(event.payload, RunStarted)]
    found = begun[-1].task if begun else _append_start(task, dependencies)
    was_told = any(
        event.source is Source.SYSTEM and isinstance(event.payload, Message)
        for event in events
    )
    if not was_told:
        dependencies.log.append(Source.SYSTEM, Message(text=found.text))
    return found


def _append_start(task: Task | None, dependencies: RunDependencies) -> Task:
    """Return the task without secrets, as every later attempt reads it."""
    if task is None:
        raise ValueError("there is neither a task nor a started run")
    started = RunStarted(
        run_id=dependencies.run_id,
        task=task,
        limits=dependencies.limits,
        model=dependencies.models.main.name,
        version=version("patchwright"),
        repository=shown_repository(dependencies.repository),
    )
    stored = dependencies.log.append(Source.SYSTEM, started).payload
    return stored.task if isinstance(stored, RunStarted) else task


MAX_SANDBOXES: Final = 3
NO_EXPORT: Final = Export(None)
CHECKPOINT_EVERY: Final = timedelta(seconds=60)

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Resolution:
    """How a task ended; events after `read_up_to` were not read."""

    outcome: Outcome
    read_up_to: int


def resolve(
    task: Task | None, dependencies: RunDependencies, start_id: int = 1
) -> Resolution:
    """Work on a task until it ends or waits for a person, and return the result.

    If the log from `start_id` on has a run, that run continues with its own task; then
    `task` may be None. Messages of people from there on are read. If the outcome has a
    `head_sha`, that commit is in `dependencies.code`. Raises `LeaseLostError`; every
    other error becomes an outcome.
    """
    return _RunAttempt(task, dependencies, start_id).resolve()


class _RunAttempt:
    """One attempt at a task; it uses a new sandbox if a sandbox is lost."""

    def __init__(
        self, task: Task | None, dependencies: RunDependencies, start_id: int
    ) -> None:
        self._dependencies, self._start_id = dependencies, start_id
        self._task = record_start(task, dependencies, start_id)
        self._started = dependencies.clock.monotonic()
        self._checkpoint_at = dependencies.clock.now()
        self._notes: tuple[str, ...] = ()
        self._left_out: tuple[LeftOut, ...] = ()
        wanted = self._task.result_schema
        self._schema = read_schema(wanted) if wanted else None

    def resolve(self) -> Resolution:
        dependencies, task = self._dependencies, self._task
        with dependencies.log.listen() as wakeup:
            run_log = RunLog(
                dependencies.log, wakeup, dependencies.filter_steering, self._start_id
            )
            run_log.catch_up()
            if still := self._still_waits(run_log):
                return still
            before_s = run_log.state.worked_s
            proofs = FinishProofs(task, dependencies, run_log, self._start_id)
            ending, export = self._attempt(run_log, proofs)
            waits = self._can_wait(ending)
            outcome = (
                _waiting_outcome(ending)
                if waits
                else self._settle(run_log, proofs, ending, export)
            )
        took_s = round(before_s + dependencies.clock.monotonic() - self._started, 1)
        outcome = outcome.replace(seconds=took_s, notes=(*self._notes, *outcome.notes))
        outcome = complete_outcome(outcome, task, run_log, ending, self._start_id)
        heard_all = waits or ending.kind is OutcomeKind.STOPPED
        # Messages after the model's last answer had no effect on it.
        read_up_to = run_log.last_id if heard_all else run_log.last_seen_id
        return Resolution(_record_outcome(dependencies, outcome), read_up_to)

    def _still_waits(self, run_log: RunLog) -> Resolution | None:
        """Return what the run waits for, if nobody has answered yet."""
        if run_log.state.held_as is None:
            return None
        kinds = frozenset({"outcome_reached"})
        asked = self._dependencies.log.read(
            self._start_id, limit=1, reverse=True, kinds=kinds
        )
        outcomes = [e.payload for e in asked if isinstance(e.payload, OutcomeReached)]
        if not outcomes or not outcomes[0].outcome.waits:
            return None
        return Resolution(outcomes[0].outcome, run_log.last_id)

    def _settle(
        self,
        run_log: RunLog,
        proofs: FinishProofs,
        ending: AgentEnding,
        export: Export,
    ) -> Outcome:
        outcome = settle_outcome(
            self._task,
            self._dependencies,
            ending,
            export,
            partial(proofs.add_proof, ending=ending),
            when=proofs.commit_time(ending.finish),
        )
        return self._add_second_opinion(outcome, run_log)

    def _add_second_opinion(self, outcome: Outcome, run_log: RunLog) -> Outcome:
        """Let a second model check a change that no test proves, if there is one."""
        dependencies, model = self._dependencies, self._dependencies.models.judge
        if model is None or not needs_second_opinion(outcome):
            return outcome
        asking = ModelCaller(
            run_log,
            CancelToken(run_log, dependencies.release_signal),
            limits=dependencies.limits,
            run_budget=dependencies.run_budget,
            clock=dependencies.clock,
        )
        try:
            note = second_opinion(
                self._task,
                outcome,
                dependencies.code,
                partial(asking.ask_as_role, "judge", model),
            )
        except (RunCancelledError, GitError) as error:
            log.warning("change_not_judged", error=str(error))
            return outcome
        return outcome.replace(notes=(*outcome.notes, note))

    def _attempt(
        self, run_log: RunLog, proofs: FinishProofs
    ) -> tuple[AgentEnding, Export]:
        """Return how the agent ended, and its exported work tree."""
        lost = RuntimeLostError("the sandbox was lost")
        for _ in range(MAX_SANDBOXES):
            try:
                return self._work(run_log, proofs)
            except RuntimeLostError as error:
                log.warning("sandbox_lost", error=str(error))
                lost = error
        return _failed_ending(lost), NO_EXPORT

    def _work(
        self, run_log: RunLog, proofs: FinishProofs
    ) -> tuple[AgentEnding, Export]:
        dependencies, task = self._dependencies, self._task
        is_resumed = run_log.state.has_run
        try:
            checkout = self._open_checkout(run_log)
        except (SandboxError, GitError) as error:
            return _failed_ending(error), NO_EXPORT
        leave: Callable[[], None] = partial(
            close_and_record_blocked, checkout.runtime, dependencies.log
        )
        try:
            if is_resumed and not checkout.is_the_same:
                report_rebuilt_sandbox(dependencies, run_log.state)
                self._left_out = find_earlier_left_out(dependencies, run_log.state)
            if failed := self._set_up(run_log, checkout):
                return failed, NO_EXPORT
            report_sandbox(
                checkout.runtime, task.base_sha, dependencies, self._start_id
            )
            ending = self._run_agent(run_log, checkout, proofs)
            if run_log.state.is_planning:
                # Changes that were made only to write a plan are not kept.
                discard_checkpoint(dependencies)
                return ending, NO_EXPORT
            kept = proofs.export_of(ending.finish)
            return ending, self._export_work(checkout, run_log, ending, kept)
        except LeaseLostError:
            leave = checkout.runtime.detach
            raise
        except RuntimeLostError:
            raise
        except (SandboxError, GitError) as error:
            return _failed_ending(error), NO_EXPORT
        finally:
            leave()

    def _open_checkout(self, run_log: RunLog) -> Checkout:
        log, start_id = self._dependencies.log, self._start_id
        return open_checkout(
            self._task,
            self._dependencies,
            is_resumed=run_log.state.has_run,
            is_incomplete=was_set_up_interrupted(self._task.setup, log, start_id),
            before_rebuild=partial(mark_unknown, run_log, start_id),
        )

    def _set_up(self, run_log: RunLog, checkout: Checkout) -> AgentEnding | None:
        """Run the repository's set-up in a new sandbox."""
        if checkout.is_the_same:
            return None
        cancel_token = CancelToken(run_log, self._dependencies.release_signal)
        wanted = set_up_of_task(self._task, self._dependencies)
        failed = set_up(
            wanted,
            checkout.runtime,
            self._dependencies.log,
            cancel_token,
            checkout.commit,
        )
        if self._task.setup and failed is None:
            checkout.workspace.mark_prepared()
        return failed

    def _export_work(
        self,
        checkout: Checkout,
        run_log: RunLog,
        ending: AgentEnding,
        kept: Export | None,
    ) -> Export:
        """Return the work; stray work counts if the agent meant to change something.

        What was `kept` is what the agent had when it finished.
        It is saved before the sandbox ends: a worker killed later loses no work.
        """
        meant = ending.finish is None or not ending.finish.answer
        takes_stray_work = meant and ending.kind is not OutcomeKind.REFUSED
        export = kept or checkout.workspace.export(
            self._task.base_sha, is_last=True, takes_stray_work=takes_stray_work
        )
        export = replace(
            export, left_out=tuple(dict.fromkeys((*self._left_out, *export.left_out)))
        )
        save_checkpoint(
            checkout, self._task, self._dependencies, run_log.last_id, export
        )
        return export

    def _can_wait(self, ending: AgentEnding) -> bool:
        """Tell whether the run only pauses; a run that nobody resumes has ended."""
        return (
            ending.waits_as is not None and self._dependencies.checkpoints is not None
        )

    def _run_agent(
        self, run_log: RunLog, checkout: Checkout, proofs: FinishProofs
    ) -> AgentEnding:
        dependencies, configuration = (
            self._dependencies,
            self._dependencies.agent_configuration,
        )
        mcp = self._open_mcp(checkout.runtime)
        agent_dependencies = AgentDependencies(
            agent=configuration.agent,
            models=dependencies.models,
            runtime=checkout.runtime,
            condenser=configuration.condenser,
            analyzer=configuration.analyzer,
            limits=dependencies.limits,
            run_budget=dependencies.run_budget,
            clock=dependencies.clock,
            confirm=configuration.confirm,
            mcp=mcp,
            library=dependencies.library,
            images=dependencies.images,
            max_delegate_depth=configuration.max_delegate_depth,
            release_signal=dependencies.release_signal,
            after_step=lambda: self._checkpoint_if_due(checkout, run_log),
            review_finish=partial(proofs.review, checkout),
            result_schema=self._schema,
        )
        controller = Controller(run_log, agent_dependencies, since_id=self._start_id)
        try:
            return controller.run()
        finally:
            controller.close()
            mcp.close()

    def _open_mcp(self, runtime: Runtime) -> McpServers:
        """Start the servers; report those that fail to the model and to people."""
        mcp = self._dependencies.open_mcp(runtime)
        for fault in mcp.faults():
            self._dependencies.log.append(Source.SYSTEM, Message(text=fault))
        self._notes = mcp.faults()
        return mcp

    def _checkpoint_if_due(self, checkout: Checkout, run_log: RunLog) -> None:
        dependencies = self._dependencies
        is_due = dependencies.clock.now() - self._checkpoint_at >= CHECKPOINT_EVERY
        if dependencies.checkpoints is not None and is_due:
            self._keep(checkout, run_log)

    def _keep(self, checkout: Checkout, run_log: RunLog) -> None:
        """Save the work tree; if this fails, the run continues without a checkpoint."""
        self._checkpoint_at = self._dependencies.clock.now()
        try:
            save_checkpoint(checkout, self._task, self._dependencies, run_log.last_id)
        except RuntimeLostError:
            raise
        except (SandboxError, GitError) as error:
            log.warning("checkpoint_not_kept", error=str(error))


def _waiting_outcome(ending: AgentEnding) -> Outcome:
    return Outcome(
        kind=ending.kind,
        reason=ending.reason,
        waits=True,
        summary=ending.text,
        service_text=ending.service_text,
        by=ending.by,
    )


def _record_outcome(dependencies: RunDependencies, outcome: Outcome) -> Outcome:
    """Record the outcome, and return it without secrets, as people may see it."""
    payload = dependencies.log.append(
        Source.SYSTEM, OutcomeReached(outcome=outcome)
    ).payload
    return payload.outcome if isinstance(payload, OutcomeReached) else outcome


def _failed_ending(error: PatchwrightError) -> AgentEnding:
    text = truncate_middle(str(error), 2_000)
    return AgentEnding(OutcomeKind.FAILED, error.reason, text, by_service=True)
