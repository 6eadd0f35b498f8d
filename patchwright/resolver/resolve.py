"""Resolve one task: sandbox, agent, commits out, checks, proof."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Final

import structlog

from patchwright.core.agent.asking import Asking
from patchwright.core.agent.attention import Attention, CalledOffError
from patchwright.core.agent.chronicle import Chronicle
from patchwright.core.agent.controller import Controller
from patchwright.core.agent.disowning import disown
from patchwright.core.agent.endings import Ending
from patchwright.core.agent.kit import AgentKit, let_finish
from patchwright.core.agent.result_schema import read_schema
from patchwright.core.errors import (
    GitError,
    LeaseLostError,
    PatchwrightError,
    RuntimeLostError,
    SandboxError,
)
from patchwright.core.events.types import Finish, Message, OutcomeReached, Source
from patchwright.core.mcp.servers import McpServers
from patchwright.core.runtime import Runtime
from patchwright.core.text.cut import cut_middle
from patchwright.core.types.work import LeftOut, Outcome, OutcomeKind, Task
from patchwright.resolver.beginning import begin
from patchwright.resolver.blocked import close_and_tell
from patchwright.resolver.checkout import (
    Checkout,
    forget_work,
    keep_checkpoint,
    left_out_before,
    open_checkout,
    tell_of_rebuilding,
)
from patchwright.resolver.judge import needs_judge, second_opinion
from patchwright.resolver.messages.left_out import advice_on
from patchwright.resolver.settle import settle
from patchwright.resolver.setup import set_up, was_broken_off
from patchwright.resolver.summing_up import sum_up
from patchwright.resolver.toolkit import Toolkit, set_up_of
from patchwright.sandbox.workspace import Export

MAX_SANDBOXES: Final = 3
NOTHING: Final = Export(None)
CHECKPOINT_EVERY: Final = timedelta(seconds=60)

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Resolution:
    """How a task ended; events after `read_up_to` were not taken notice of."""

    outcome: Outcome
    read_up_to: int


def resolve(task: Task | None, kit: Toolkit, start_id: int = 1) -> Resolution:
    """Work on a task until it ends or waits for a person, and return how.

    A run that the log from `start_id` on has begun is taken up, with the task it was
    begun with; then none need be given. What people said from there on is heard. When
    the outcome has a `head_sha`, that commit is in `kit.code`. Raises `LeaseLostError`;
    everything else is an outcome.
    """
    return _Run(task, kit, start_id).resolve()


class _Run:
    """One attempt at a task, in one sandbox after the other if it must be."""

    def __init__(self, task: Task | None, kit: Toolkit, start_id: int) -> None:
        self._kit, self._start_id = kit, start_id
        self._task = begin(task, kit, start_id)
        self._started = kit.clock.monotonic()
        self._checkpoint_at = kit.clock.now()
        self._notes: tuple[str, ...] = ()
        self._exported: Export | None = None
        self._left_out: tuple[LeftOut, ...] = ()
        wanted = self._task.result_schema
        self._schema = read_schema(wanted) if wanted else None

    def resolve(self) -> Resolution:
        kit, task = self._kit, self._task
        with kit.log.listen() as bell:
            chronicle = Chronicle(kit.log, bell, kit.hear, self._start_id)
            chronicle.catch_up()
            if still := self._still_waits(chronicle):
                return still
            before_s = chronicle.state.worked_s
            ending, export = self._attempt(chronicle)
            waits = self._can_wait(ending)
            outcome = (
                _question(ending)
                if waits
                else self._look_over(settle(task, kit, ending, export), chronicle)
            )
        took_s = round(before_s + kit.clock.monotonic() - self._started, 1)
        outcome = outcome.replace(seconds=took_s, notes=(*self._notes, *outcome.notes))
        outcome = sum_up(outcome, task, chronicle, ending, self._start_id)
        heard_all = waits or ending.kind is OutcomeKind.STOPPED
        # What came after the model had spoken last has had no effect on it.
        read_up_to = chronicle.last_id if heard_all else chronicle.shown_id
        return Resolution(_as_logged(kit, outcome), read_up_to)

    def _still_waits(self, chronicle: Chronicle) -> Resolution | None:
        """Return what it waits for, where nobody has said what would let it go on."""
        if chronicle.state.held_as is None:
            return None
        kinds = frozenset({"outcome_reached"})
        asked = self._kit.log.read(self._start_id, limit=1, reverse=True, kinds=kinds)
        outcomes = [e.payload for e in asked if isinstance(e.payload, OutcomeReached)]
        if not outcomes or not outcomes[0].outcome.waits:
            return None
        return Resolution(outcomes[0].outcome, chronicle.last_id)

    def _look_over(self, outcome: Outcome, chronicle: Chronicle) -> Outcome:
        """Have a second model look at what no test proves, where there is one."""
        kit, model = self._kit, self._kit.models.judge
        if model is None or not needs_judge(outcome):
            return outcome
        asking = Asking(
            chronicle,
            Attention(chronicle, kit.given_back),
            limits=kit.limits,
            purse=kit.purse,
            clock=kit.clock,
        )
        try:
            note = second_opinion(
                self._task, outcome, kit.code, partial(asking.ask_as_role, "judge", model)
            )
        except (CalledOffError, GitError) as error:
            log.warning("change_not_judged", error=str(error))
            return outcome
        return outcome.replace(notes=(*outcome.notes, note))

    def _attempt(self, chronicle: Chronicle) -> tuple[Ending, Export]:
        """Return how the agent ended, and what its work tree came to."""
        lost = RuntimeLostError("the sandbox was lost")
        for _ in range(MAX_SANDBOXES):
            try:
                return self._work(chronicle)
            except RuntimeLostError as error:
                log.warning("sandbox_lost", error=str(error))
                lost = error
        return _failure(lost), NOTHING

    def _work(self, chronicle: Chronicle) -> tuple[Ending, Export]:
        kit, task = self._kit, self._task
        had_begun = chronicle.state.has_run
        try:
            checkout = open_checkout(
                task,
                kit,
                had_begun=had_begun,
                is_half_made=was_broken_off(task.setup, kit.log, self._start_id),
                before_new=partial(disown, chronicle, self._start_id),
            )
        except (SandboxError, GitError) as error:
            return _failure(error), NOTHING
        leave: Callable[[], None] = partial(close_and_tell, checkout.runtime, kit.log)
        try:
            if had_begun and not checkout.is_the_same:
                tell_of_rebuilding(kit, chronicle.state)
                self._left_out = left_out_before(kit, chronicle.state)
            if failed := self._set_up(chronicle, checkout):
                return failed, NOTHING
            ending = self._run_agent(chronicle, checkout)
            if chronicle.state.is_planning:
                # What was tried out for a plan is no work to keep.
                forget_work(kit)
                return ending, NOTHING
            return ending, self._take_out(checkout, chronicle, ending)
        except LeaseLostError:
            leave = checkout.runtime.detach
            raise
        except RuntimeLostError:
            raise
        except (SandboxError, GitError) as error:
            return _failure(error), NOTHING
        finally:
            leave()

    def _set_up(self, chronicle: Chronicle, checkout: Checkout) -> Ending | None:
        """Prepare a new sandbox as the repository wants it."""
        if checkout.is_the_same:
            return None
        attention = Attention(chronicle, self._kit.given_back)
        wanted = set_up_of(self._task, self._kit)
        failed = set_up(wanted, checkout.runtime, self._kit.log, attention)
        if self._task.setup and failed is None:
            checkout.workspace.mark_prepared()
        return failed

    def _take_out(
        self, checkout: Checkout, chronicle: Chronicle, ending: Ending
    ) -> Export:
        """Return the work; what lies aside counts where the agent meant a change.

        It is kept before the sandbox goes: who is killed from here on loses no work.
        """
        meant = ending.finish is None or not ending.finish.answer
        takes_aside = meant and ending.kind is not OutcomeKind.REFUSED
        export = self._exported or checkout.workspace.export(
            self._task.base_sha, is_last=True, takes_aside=takes_aside
        )
        export = replace(
            export, left_out=tuple(dict.fromkeys((*self._left_out, *export.left_out)))
        )
        keep_checkpoint(checkout, self._task, self._kit, chronicle.last_id, export)
        return export

    def _look_before_finish(self, checkout: Checkout, finish: Finish) -> str:
        """Say what the change would lack; what lacks nothing is taken out at once."""
        del finish
        export = checkout.workspace.export(self._task.base_sha, is_last=True)
        said = advice_on(export.left_out, export.conflicts)
        self._exported = None if said else export
        return said

    def _can_wait(self, ending: Ending) -> bool:
        """Tell whether the run only pauses; what nobody takes up again has ended."""
        return ending.waits_as is not None and self._kit.checkpoints is not None

    def _run_agent(self, chronicle: Chronicle, checkout: Checkout) -> Ending:
        kit, conduct = self._kit, self._kit.agent_configuration
        mcp = self._open_mcp(checkout.runtime)
        agent_kit = AgentKit(
            agent=conduct.agent,
            models=kit.models,
            runtime=checkout.runtime,
            condenser=conduct.condenser,
            analyzer=conduct.analyzer,
            limits=kit.limits,
            purse=kit.purse,
            clock=kit.clock,
            confirm=conduct.confirm,
            mcp=mcp,
            library=kit.library,
            images=kit.images,
            max_delegate_depth=conduct.max_delegate_depth,
            given_back=kit.given_back,
            after_step=lambda: self._keep_if_due(checkout, chronicle),
            before_finish=(
                partial(self._look_before_finish, checkout)
                if kit.tells_left_out
                else let_finish
            ),
            result_schema=self._schema,
        )
        controller = Controller(chronicle, agent_kit, since_id=self._start_id)
        try:
            return controller.run()
        finally:
            controller.close()
            mcp.close()

    def _open_mcp(self, runtime: Runtime) -> McpServers:
        """Start the servers; what cannot be had is told, to the model and to people."""
        mcp = self._kit.open_mcp(runtime)
        for fault in mcp.faults():
            self._kit.log.append(Source.SYSTEM, Message(text=fault))
        self._notes = mcp.faults()
        return mcp

    def _keep_if_due(self, checkout: Checkout, chronicle: Chronicle) -> None:
        kit = self._kit
        is_due = kit.clock.now() - self._checkpoint_at >= CHECKPOINT_EVERY
        if kit.checkpoints is not None and is_due:
            self._keep(checkout, chronicle)

    def _keep(self, checkout: Checkout, chronicle: Chronicle) -> None:
        """Keep the work tree; a run must not fail for what it may never need."""
        self._checkpoint_at = self._kit.clock.now()
        try:
            keep_checkpoint(checkout, self._task, self._kit, chronicle.last_id)
        except RuntimeLostError:
            raise
        except (SandboxError, GitError) as error:
            log.warning("checkpoint_not_kept", error=str(error))


def _question(ending: Ending) -> Outcome:
    return Outcome(
        kind=ending.kind,
        reason=ending.reason,
        waits=True,
        summary=ending.text,
        service_text=ending.service_text,
        by=ending.by,
    )


def _as_logged(kit: Toolkit, outcome: Outcome) -> Outcome:
    """Write the outcome down, and return what people may see: without secrets."""
    payload = kit.log.append(Source.SYSTEM, OutcomeReached(outcome=outcome)).payload
    return payload.outcome if isinstance(payload, OutcomeReached) else outcome


def _failure(error: PatchwrightError) -> Ending:
    text = cut_middle(str(error), 2_000)
    return Ending(OutcomeKind.FAILED, error.reason, text, by_service=True)
