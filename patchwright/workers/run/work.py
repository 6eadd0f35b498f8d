"""The first half of a job: judge, look, work, and keep what came of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

import structlog

from patchwright.core.errors import LeaseLostError, PatchwrightError, ServiceError
from patchwright.core.events.types import (
    AgentState,
    ChangeState,
    Message,
    Source,
    StateChanged,
)
from patchwright.core.types.triggers import Trigger
from patchwright.core.types.work import Outcome, OutcomeKind, Task
from patchwright.resolver.admission import Declined, Facts, admit
from patchwright.resolver.messages.status import Frame, mark
from patchwright.resolver.progress import Watch
from patchwright.resolver.resolve import resolve
from patchwright.resolver.toolkit import Toolkit
from patchwright.workers.run.author import author_of
from patchwright.workers.run.commands import answer_command
from patchwright.workers.run.plan import Plan
from patchwright.workers.run.prepare import Prepared, prepare
from patchwright.workers.run.purse import SharedPurse
from patchwright.workers.run.services import Services
from patchwright.workers.run.spec import sandbox_spec
from patchwright.workers.run.status import StatusComment
from patchwright.workers.run.steering import Steering, known_permission
from patchwright.workers.store.job import Job, Lease

MAX_ATTEMPTS = 3
COMMITS = "commits"

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Done:
    """What a run left; `quiet` means that nobody is told more than a reaction."""

    outcome: Outcome
    plan: Plan
    read_up_to: int
    artifacts: Mapping[str, bytes] = field(default_factory=dict)
    quiet: bool = False


class Work:
    """One attempt at one job.

    `run` raises `LeaseLostError`, or whatever broke; `end` makes an end of that.
    """

    def __init__(self, services: Services, job: Job, lease: Lease) -> None:
        self._services, self._job, self._lease = services, job, lease
        self._trigger = job.trigger
        self._channel = services.github.channel
        self._events = services.stores.events.open(job.conversation_id, lease)
        self._plan = Plan(frame=self._frame())
        self._start_id = 0
        self._steering = Steering(
            services.github.forge,
            self._channel,
            services.policy,
            lambda after_id: services.stores.requests.joined(job.id, after_id),
        )

    def run(self) -> Done:
        self._begin()
        if self._lease.attempt > MAX_ATTEMPTS:
            return self.end(_worker_lost())
        judged = admit(self._gather_facts(), self._services.policy)
        if isinstance(judged, Declined):
            return self._decline(judged)
        answer = answer_command(self._trigger, self._services.settings.github.mention)
        if answer is not None:
            return self.end(answer)
        self._react(self._channel.acknowledge)
        return self._work()

    def end(self, outcome: Outcome, *, quiet: bool = False) -> Done:
        """End the job with what is known so far.

        Nothing that was said meanwhile was read: it gets a job of its own.
        """
        return Done(outcome, self._plan, read_up_to=0, quiet=quiet)

    def _begin(self) -> None:
        """Clear away what an earlier attempt left, and mark where this one starts."""
        run = f"run {self._job.id}, "
        had_begun = self._has_noted(run)
        reason = f"{run}attempt {self._lease.attempt}"
        loading = StateChanged(state=AgentState.LOADING, reason=reason)
        self._start_id = self._events.append(Source.SYSTEM, loading).id
        if had_begun:
            self._services.sandboxes.remove(self._job.id)
            self._note(status_post=self._find_earlier_post())

    def _has_noted(self, run: str) -> bool:
        """Tell whether an attempt began before this one.

        Their number does not say it: one that was given back in good order is not
        counted.
        """
        changes = self._events.read(kinds=frozenset({"state_changed"}))
        return any(
            isinstance(event.payload, StateChanged)
            and event.payload.reason.startswith(run)
            for event in changes
        )

    def _note(self, **found: object) -> None:
        self._plan = self._plan.model_copy(update=found)

    def _gather_facts(self) -> Facts:
        actor, repo = self._trigger.actor, self._trigger.thread.repo
        since = self._services.clock.now() - timedelta(hours=1)
        runs = self._services.stores.jobs.count_since(self._job.conversation_id, since)
        forge = self._services.github.forge
        return Facts(
            actor=actor,
            permission=known_permission(forge, repo, actor),
            runs_in_thread_last_hour=runs - 1,
        )

    def _decline(self, judged: Declined) -> Done:
        log.info("request_declined", reason=judged.reason, text=judged.text)
        outcome = Outcome(
            kind=OutcomeKind.REFUSED, reason=judged.reason, summary=judged.text
        )
        if judged.quiet:
            self._react(self._channel.decline)
        return self.end(outcome, quiet=judged.quiet)

    def _work(self) -> Done:
        status = self._status_comment()
        try:
            with self._events.subscribe(status.show, self._start_id):
                prepared = prepare(
                    self._services.github,
                    self._services.mirrors,
                    self._trigger,
                    self._job.created_at,
                    self._linked_pulls(),
                )
                self._note(repository=prepared.repository, target=prepared.target)
                return self._resolve(prepared)
        except LeaseLostError:
            raise
        except PatchwrightError as error:
            kind = OutcomeKind.FAILED
            return self.end(Outcome(kind=kind, reason=error.reason, summary=str(error)))

    def _linked_pulls(self) -> tuple[int, ...]:
        """Return the numbers of pull requests that this conversation led to."""
        own = self._trigger.thread
        keys = self._services.stores.threads.keys_of(self._job.conversation_id)
        here = [key for key in keys if key.startswith(f"{own.repo}#")]
        return tuple(int(key.rpartition("#")[2]) for key in here if key != str(own))

    def _resolve(self, prepared: Prepared) -> Done:
        task, stopped = self._with_follow_ups(prepared.task)
        if stopped is not None:
            return Done(stopped, self._plan, self._start_id)
        code = prepared.mirror.objects
        resolution = resolve(task, self._toolkit(prepared), self._start_id)
        outcome = resolution.outcome
        packed: dict[str, bytes] = {}
        if outcome.head_sha:
            packed[COMMITS] = code.parcel(outcome.base_sha, outcome.head_sha)
        code.release(self._job.id)
        return Done(outcome, self._plan, resolution.read_up_to, packed)

    def _with_follow_ups(self, task: Task) -> tuple[Task, Outcome | None]:
        """Add what was said while the job waited, or end it if that was `stop`."""
        for request in self._services.stores.requests.joined(self._job.id):
            if request.event_id > self._start_id:
                break
            heard = self._steering.judge(request.trigger)
            if isinstance(heard, ChangeState):
                text = f"Stopped by {heard.reason} before it had begun."
                kind = OutcomeKind.STOPPED
                return task, Outcome(kind=kind, reason="asked", summary=text)
            if isinstance(heard, Message):
                text = f"{task.text}\n\n{heard.text}"
                task = task.model_copy(update={"text": text})
        return task, None

    def _toolkit(self, prepared: Prepared) -> Toolkit:
        services, job = self._services, self._job
        host = services.settings.github.api_url
        account = services.stores.accounts.account_of(self._trigger.actor, host)
        structlog.contextvars.bind_contextvars(user_id=account)
        return Toolkit(
            run_id=job.id,
            model=services.model,
            sandboxes=services.sandboxes,
            spec=sandbox_spec(services.settings, job.id),
            code=prepared.mirror.objects,
            log=self._events,
            limits=services.settings.limits.of_a_run(),
            purse=SharedPurse(
                services.stores.money,
                services.settings.limits,
                services.clock,
                job_id=job.id,
                account_id=account,
                repo=self._trigger.thread.repo,
            ),
            clock=services.clock,
            author=author_of(services.settings.github),
            hear=self._steering.hear,
        )

    def _status_comment(self) -> StatusComment:
        watch = Watch(self._services.sandboxes.kind, self._services.clock.now())
        status = StatusComment(
            self._channel,
            self._trigger.thread,
            self._plan.frame,
            watch,
            self._services.clock,
        )
        status.begin(self._plan.status_post)
        self._note(status_post=status.post_id)
        return status

    def _find_earlier_post(self) -> str:
        thread = self._trigger.thread
        try:
            return self._channel.find_post(thread, mark(self._job.id)) or ""
        except ServiceError as error:
            log.warning("earlier_status_not_found", reason=error.reason)
            return ""

    def _frame(self) -> Frame:
        return Frame(
            run_id=self._job.id,
            requester=self._trigger.actor.login,
            handle=self._services.settings.github.mention,
            model=self._services.model.name,
            limits=self._services.settings.limits.of_a_run(),
            asked_at=self._job.created_at,
        )

    def _react(self, react: Callable[[Trigger], None]) -> None:
        try:
            react(self._trigger)
        except ServiceError as error:
            log.warning("reaction_not_shown", reason=error.reason)


def _worker_lost() -> Outcome:
    text = (
        f"The worker was lost {MAX_ATTEMPTS} times in the middle of this run, so it is "
        "not tried again. The service's log has the cause."
    )
    return Outcome(kind=OutcomeKind.FAILED, reason="worker-lost", summary=text)
