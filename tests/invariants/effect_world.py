"""A run's writes to a service that counts them, by workers that can be killed."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Final

from patchwright.core.channel import ChannelRouter, Offers
from patchwright.core.errors import InvalidRequestError
from patchwright.core.forge import (
    CheckReport,
    NewCommit,
    PullMetadata,
    PullRequestText,
)
from patchwright.core.types.base import JobId
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import (
    PullRequest,
    RepoRef,
    Repository,
    TalkThread,
    Thread,
    ThreadKind,
    ThreadRef,
)
from patchwright.core.types.triggers import Trigger
from patchwright.core.types.work import Outcome, OutcomeKind
from patchwright.resolver.effects import (
    Acknowledge,
    BeginCheck,
    Effect,
    RunEffect,
    SetStartLabels,
    ShowStatus,
    StartTicket,
)
from patchwright.resolver.progress import ProgressTracker
from patchwright.resolver.publish.destination import CrossPostTarget
from patchwright.workers.run.guarded_services import ForgeReader, with_lease_checks
from patchwright.workers.run.lease import LeaseGuard
from patchwright.workers.run.live_publisher import acknowledge, without_trace
from patchwright.workers.run.plan import PLAN_ARTIFACT, RunPlan
from patchwright.workers.run.publisher import OutcomePublisher
from patchwright.workers.run.services import RunServices
from patchwright.workers.run.status import StatusComment, begin_check
from patchwright.workers.store.effects import (
    BegunEffect,
    EffectStore,
    StoredEffect,
)
from patchwright.workers.store.job import JobState, Lease
from tests.adapters.store.world import ISSUE, LEASE_S, REPO, World, trigger
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


@dataclass
class Post:
    thread: str
    text: str


@dataclass
class CountingService:
    """What people see; `doing` is the effect for the sake of which it is written to.

    Every write is a point where its worker may die: before it, or after it.
    """

    fate: Fate = field(default_factory=lambda: Fate(None))
    doing: str = ""
    writes: list[str] = field(default_factory=list)
    deaths: Counter[str] = field(default_factory=Counter)
    posts: list[Post] = field(default_factory=list)
    pulls: list[PullRequest] = field(default_factory=list)

    def meet(self) -> None:
        try:
            self.fate.meet()
        except KilledError:
            self.deaths[self.doing] += 1
            raise

    def note(self) -> None:
        self.writes.append(self.doing)
        self.meet()


@dataclass(frozen=True)
class CountingChannel:
    """A `Tracker`, and so a `ServiceChannel`."""

    service: CountingService

    def _write(self) -> None:
        self.service.meet()
        self.service.note()

    def acknowledge(self, trigger: Trigger) -> None:
        del trigger
        self._write()

    def decline(self, trigger: Trigger) -> None:
        del trigger
        self._write()

    def fetch_thread(self, ref: ThreadRef) -> Thread:
        raise NotImplementedError(str(ref))

    def fetch_opening(self, ref: ThreadRef) -> Thread:
        raise NotImplementedError(str(ref))

    def find_post(self, ref: ThreadRef, mark: str) -> str | None:
        self.service.meet()
        fits = (
            str(number)
            for number, post in enumerate(self.service.posts)
            if post.thread == str(ref) and mark in post.text
        )
        return next(fits, None)

    def post(self, ref: ThreadRef, text: str, offers: Offers = ()) -> str:
        del offers
        self.service.meet()
        self.service.posts.append(Post(str(ref), text))
        self.service.note()
        return str(len(self.service.posts) - 1)

    def edit(
        self, ref: ThreadRef, post_id: str, text: str, offers: Offers = ()
    ) -> None:
        del offers
        self.service.meet()
        post = self.service.posts[int(post_id)]
        assert post.thread == str(ref)
        post.text = text
        self.service.note()

    def delete(self, ref: ThreadRef, post_id: str) -> None:
        raise AssertionError(f"{post_id} was posted in {ref} a second time")

    def tell_privately(
        self, ref: ThreadRef, actor: Actor, text: str, offers: Offers = ()
    ) -> None:
        del ref, actor, text, offers
        self._write()

    def swap_labels(
        self, ref: ThreadRef, add: tuple[str, ...], remove: tuple[str, ...]
    ) -> None:
        del ref, add, remove
        self._write()

    def fetch_attachment(
        self, ref: ThreadRef, url: str, max_bytes: int, post_id: str = ""
    ) -> bytes:
        raise NotImplementedError(f"{ref} {url} {max_bytes} {post_id}")

    def open_thread(self, trigger: Trigger, text: str) -> TalkThread:
        raise NotImplementedError(f"{trigger} {text}")

    def name_people(self, trigger: Trigger) -> Trigger:
        return trigger

    def attach_link(self, ref: TalkThread, url: str, title: str, key: str) -> None:
        del ref, url, title, key
        self._write()

    def move(self, ref: TalkThread, status: str) -> None:
        del ref, status
        self._write()


@dataclass(frozen=True)
class CountingForge(ForgeReader):
    """A `Forge` where everybody may write, and one branch is there to be proposed."""

    service: CountingService

    def fetch_permission(self, repo: RepoRef, actor: Actor) -> Permission:
        del repo, actor
        return Permission.WRITE

    def fetch_repository(self, repo: RepoRef) -> Repository:
        return Repository(
            ref=repo, default_branch="main", clone_url="", web_url="", private=False
        )

    def fetch_milestone(self, repo: RepoRef, issue: int) -> int | None:
        del repo, issue
        return None

    def find_pull_request(self, repo: RepoRef, head_branch: str) -> PullRequest | None:
        del repo
        self.service.meet()
        found = (one for one in self.service.pulls if one.head_branch == head_branch)
        return next(found, None)

    def open_pull_request(
        self, repo: RepoRef, head_branch: str, base_branch: str, text: PullRequestText
    ) -> PullRequest:
        self.service.meet()
        number = len(self.service.pulls) + 100
        pull = PullRequest(
            number=number,
            url=f"https://forge.test/{repo.full_name}/pull/{number}",
            head_branch=head_branch,
            base_branch=base_branch,
            head_sha="",
            draft=text.draft,
            same_repository=True,
        )
        self.service.pulls.append(pull)
        self.service.note()
        return pull

    def update_pull_request(
        self, repo: RepoRef, number: int, text: PullRequestText
    ) -> PullRequest:
        del repo, text
        self.service.meet()
        [found] = [one for one in self.service.pulls if one.number == number]
        self.service.note()
        return found

    def set_pull_metadata(
        self, repo: RepoRef, number: int, pull_metadata: PullMetadata
    ) -> tuple[str, ...]:
        del repo, number, pull_metadata
        self.service.meet()
        self.service.note()
        return ()

    def request_review(
        self, repo: RepoRef, number: int, reviewers: tuple[str, ...]
    ) -> None:
        raise NotImplementedError(f"{repo} {number} {reviewers}")

    def report_check(self, repo: RepoRef, sha: str, report: CheckReport) -> None:
        del repo, sha, report
        self.service.meet()
        self.service.note()

    def commit_on_branch(self, repo: RepoRef, branch: str, commit: NewCommit) -> str:
        raise InvalidRequestError(f"no {commit} for {branch} of {repo}")


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
            match effect:
                case Acknowledge():
                    acknowledge(services.live, services.channel, trigger())
                case SetStartLabels():
                    swap = partial(
                        services.channel.swap_labels, ISSUE, ("running",), ()
                    )
                    services.live.publish(effect, without_trace(swap))
                case ShowStatus():
                    status = self._status(services, effect.thread)
                    posted[str(effect.thread)] = status.post_id
                case StartTicket():
                    tracker = services.channel.tracker(effect.thread)
                    move = partial(tracker.move, effect.thread, effect.status)
                    services.live.publish(effect, without_trace(move))
                case BeginCheck():
                    forge, clock = services.code_host.forge, services.clock
                    begin_check(
                        forge,
                        REPO,
                        effect.sha,
                        self.frame,
                        clock,
                        publisher=services.live,
                    )
                case _:
                    raise NotImplementedError(effect.kind)
        mirrors = tuple(
            CrossPostTarget(thread=one, post=posted.get(str(one), ""))
            for one in (TICKET, CHAT)
        )
        post = posted.get(str(ISSUE), "")
        return RunPlan(frame=self.frame, status_post=post, mirrors=mirrors)

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
