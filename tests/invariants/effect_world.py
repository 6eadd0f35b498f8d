"""One run's effects: what it shows while it works, and what is due at its end."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Final

from patchwright.core.channel import ChannelRouter
from patchwright.core.types.base import JobId
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.threads import (
    TalkThread,
    ThreadKind,
    ThreadRef,
)
from patchwright.core.types.work import Outcome
from patchwright.resolver.job import JobState, Lease
from patchwright.resolver.progress import ProgressTracker
from patchwright.resolver.publish.destination import CrossPostTarget
from patchwright.resolver.publish.effects import (
    Acknowledge,
    BeginCheck,
    Effect,
    RunEffect,
    SetStartLabels,
    ShowStatus,
    StartTicket,
)
from patchwright.resolver.publish.live import acknowledge, without_trace
from patchwright.resolver.run_plan import PLAN_ARTIFACT, RunPlan
from patchwright.resolver.status_comment import StatusComment, begin_check
from patchwright.workers.jobs.guarded_services import with_lease_checks
from patchwright.workers.jobs.lease import LeaseGuard
from patchwright.workers.jobs.outcome_publisher import OutcomePublisher
from patchwright.workers.store.effects import (
    BegunEffect,
    EffectStore,
    StoredEffect,
)
from patchwright.workers.store.run_store import RunServices
from tests.adapters.store.world import ISSUE, LEASE_S, REPO, World, trigger
from tests.invariants.counting_service import (
    CountingChannel,
    CountingForge,
    CountingService,
)
from tests.invariants.mortal import Fate, KilledError
from tests.unit.resolver.endings import FRAME

TICKET: Final = TalkThread(
    service="jira", place="jira.test/SHOP", kind=ThreadKind.TICKET, id="SHOP-7"
)
CHAT: Final = TalkThread(
    service="slack", place="T1/C1", kind=ThreadKind.CHAT, id="1700000000.000100"
)
OUTCOME: Final = Outcome(
    kind=OutcomeKind.RESOLVED, title="Count every piece", summary="Counted."
)


class MortalEffects(EffectStore):
    """The real outbox; a worker may die before and after each use of it."""

    def __init__(self, world: World, service: CountingService) -> None:
        super().__init__(world.database)
        self._service = service

    def begin(self, lease: Lease, effect: RunEffect) -> BegunEffect:
        self._service.meet()
        begun = super().begin(lease, effect)
        self._service.doing = begun.key
        self._service.meet()
        return begun

    def next_due(self, job_id: JobId) -> StoredEffect | None:
        due = super().next_due(job_id)
        self._service.doing = due.key if due else ""
        self._service.meet()
        return due

    def mark_done(self, lease: Lease, key: str, receipt: str) -> None:
        self._service.meet()
        super().mark_done(lease, key, receipt)
        # Whatever happens from now on, it must not be done again.
        self._service.doing = ""
        self._service.meet()

    def mark_failed(self, lease: Lease, key: str, error: str, wait: timedelta) -> None:
        raise AssertionError(f"{lease} {key} {error} {wait}")

    def mark_refused(self, lease: Lease, key: str, error: str) -> None:
        raise AssertionError(f"{lease} {key} {error}")


class EffectRun:
    """One run: what it shows while it works, and what is due at its end."""

    def __init__(
        self,
        world: World,
        services: RunServices,
        live: Sequence[RunEffect],
        at_end: Sequence[Effect],
    ) -> None:
        self.service = CountingService()
        self._world, self._live, self._at_end = world, live, at_end
        self.job_id = world.ask(f"k{len(world.dispatched)}")
        self.frame = FRAME.replace(run_id=self.job_id, label="patchwright")
        channel = CountingChannel(self.service)
        self._services = replace(
            services,
            clock=world.clock,
            stores=replace(
                services.stores,
                effects=MortalEffects(world, self.service),
                leases=world.leases,
                jobs=world.jobs,
                outcomes=world.outcomes,
                threads=world.threads,
            ),
            code_host=replace(
                services.code_host,
                forge=CountingForge(services.code_host.forge, self.service),
            ),
            channel=ChannelRouter(channel, {"jira": channel, "slack": channel}),
        )

    def work(self, fate: Fate) -> bool:
        """Let a worker go on with it until it dies; return whether all is done."""
        asked_at = self._world.clock.monotonic()
        lease = self._world.claim(self.job_id)
        guard = LeaseGuard(
            self._world.leases,
            self._world.jobs,
            lease,
            self._world.clock,
            LEASE_S,
            asked_at=asked_at,
        )
        self.service.fate, self.service.doing = fate, ""
        try:
            return self._go_on(with_lease_checks(self._services, guard), lease)
        except KilledError:
            self._world.clock.advance(2 * LEASE_S)
            return False

    def stored(self) -> tuple[StoredEffect, ...]:
        return self._world.effects.of_job(self.job_id)

    def _go_on(self, services: RunServices, lease: Lease) -> bool:
        if lease.state is JobState.RUNNING:
            plan = self._show(services)
            self.service.meet()
            lease = self._world.outcomes.store(
                lease,
                OUTCOME,
                self._at_end,
                read_up_to=0,
                now=self._world.clock.now(),
                artifacts={PLAN_ARTIFACT: plan.model_dump_json().encode()},
            )
            self.service.meet()
        job = self._world.job(self.job_id)
        return OutcomePublisher(services, job, OUTCOME, lease).run()

    def _show(self, services: RunServices) -> RunPlan:
        posted: dict[str, str] = {}
        for effect in self._live:
            if isinstance(effect, ShowStatus):
                status = self._status(services, effect.thread)
                posted[str(effect.thread)] = status.post_id
            else:
                self._show_besides(services, effect)
        mirrors = tuple(
            CrossPostTarget(thread=one, post=posted.get(str(one), ""))
            for one in (TICKET, CHAT)
        )
        post = posted.get(str(ISSUE), "")
        return RunPlan(frame=self.frame, status_post=post, mirrors=mirrors)

    def _show_besides(self, services: RunServices, effect: RunEffect) -> None:
        live, channel, forge = (
            services.live,
            services.channel,
            services.code_host.forge,
        )
        match effect:
            case Acknowledge():
                acknowledge(live, channel, trigger())
            case SetStartLabels():
                swap = partial(channel.swap_labels, ISSUE, ("running",), ())
                live.publish(effect, without_trace(swap))
            case StartTicket():
                tracker = channel.tracker(effect.thread)
                move = partial(tracker.move, effect.thread, effect.status)
                live.publish(effect, without_trace(move))
            case BeginCheck():
                sha, clock = effect.sha, services.clock
                begin_check(forge, REPO, sha, self.frame, clock, publisher=live)
            case _:
                raise NotImplementedError(effect.kind)

    def _status(self, services: RunServices, thread: ThreadRef) -> StatusComment:
        watch = ProgressTracker("local", services.clock.now())
        frame = self.frame.replace(label="")
        status = StatusComment(
            services.channel,
            thread,
            frame,
            watch,
            services.clock,
            publisher=services.live,
        )
        status.begin("")
        return status
