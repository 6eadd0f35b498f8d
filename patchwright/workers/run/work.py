"""The first half of a job: judge, look, work, and keep what came of it."""

from collections.abc import Callable

import structlog

from patchwright.core.agent.attention import GivenBack
from patchwright.core.errors import LeaseLostError, PatchwrightError, ServiceError
from patchwright.core.events.types import AgentState, Source, StateChanged
from patchwright.core.forge import Checks
from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.types.threads import ForgeThread, TalkThread, ThreadKind
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import Outcome, OutcomeKind
from patchwright.resolver.admission import Declined
from patchwright.resolver.effects import AskPrivately
from patchwright.resolver.messages.mirrors import mirrored_progress
from patchwright.resolver.messages.status import mark, progress_comment
from patchwright.resolver.placing.asking import Ask
from patchwright.resolver.progress import Watch
from patchwright.workers.run.commands import answer_anybody, answer_command
from patchwright.workers.run.consenting import find_openness
from patchwright.workers.run.done import Done, Moved
from patchwright.workers.run.framing import make_frame
from patchwright.workers.run.gate import (
    fetch_config,
    judge_request,
    last_run,
    rules,
)
from patchwright.workers.run.mirrors import Mirrors
from patchwright.workers.run.permissions import Remembered
from patchwright.workers.run.placing import Placing
from patchwright.workers.run.plan import ARTIFACT, Plan
from patchwright.workers.run.resolving import Resolving
from patchwright.workers.run.rounds import find_occasion
from patchwright.workers.run.services import Services
from patchwright.workers.run.standing import About
from patchwright.workers.run.status import StatusComment, Write
from patchwright.workers.run.steering import Steering
from patchwright.workers.run.tickets import after_merge, move_at_start
from patchwright.workers.run.tying import tie_threads
from patchwright.workers.run.wait import Wait
from patchwright.workers.store.job import Job, Lease

MAX_ATTEMPTS = 3

log = structlog.get_logger(__name__)


class Work:
    """One attempt at one job.

    `run` raises `LeaseLostError`, or whatever broke; `end` makes an end of that.
    """

    def __init__(
        self, services: Services, job: Job, lease: Lease, given_back: GivenBack
    ) -> None:
        self._services, self._job, self._lease = services, job, lease
        self._given_back = given_back
        self._trigger = job.trigger
        self._channel = services.channel
        self._events = services.stores.events.open(job.conversation_id, lease)
        self._plan = Plan(frame=make_frame(services, job, RepositoryConfig()))
        self._start_id = 0
        self._has_begun = False
        self._checks: Checks | None = None
        self._placing = Placing(services, job, lease)

    def run(self) -> Done | Moved:
        self._begin()
        if self._lease.attempt > MAX_ATTEMPTS:
            return self.end(_worker_lost())
        if self._trigger.kind is TriggerKind.MERGED:
            return self._end_as(after_merge(self._services, self._job))
        if not self._has_begun and (early := self._place() or self._read_wishes()):
            return early
        judged = judge_request(self._services, self._job, self._plan.config)
        if isinstance(judged, Declined):
            return self._decline(judged)
        if self._has_begun:
            return self._work()
        self._note(admitted=judged.why)
        return (
            self._answer()
            or self._closed()
            or self._stand_down()
            or tie_threads(self._services, self._job, self._lease)
            or self._keep_private()
            or self._start()
        )

    def end(self, outcome: Outcome, *, quiet: bool = False) -> Done:
        """End the job with what is known so far.

        Nothing that was said meanwhile was read: it gets a job of its own.
        """
        return Done(outcome, self._plan, read_up_to=0, quiet=quiet)

    def _begin(self) -> None:
        """Mark that this attempt starts, and find where the first one did."""
        run = f"run {self._job.id}, "
        reason = f"{run}attempt {self._lease.attempt}"
        earlier = self._starts(run)
        loading = StateChanged(state=AgentState.LOADING, reason=reason)
        started = self._events.append(Source.SYSTEM, loading)
        self._start_id = started.id
        if earlier:
            self._note(status_post=self._find_earlier_post())
            self._take_up(earlier)

    def _starts(self, run: str) -> list[int]:
        """Return where attempts began before this one.

        Their number does not say it: one that was given back in good order is not
        counted.
        """
        changes = self._events.read(kinds=frozenset({"state_changed"}))
        return [
            event.id
            for event in changes
            if isinstance(event.payload, StateChanged)
            and event.payload.reason.startswith(run)
        ]

    def _take_up(self, starts: list[int]) -> None:
        """Go on with what an earlier attempt has planned, if it came so far.

        What was said before that one began was an answer to what it had asked.
        """
        kept = self._services.stores.outcomes.load_artifact(self._job.id, ARTIFACT)
        begun = self._events.read(starts[0], kinds=frozenset({"run_started"}))
        if kept is None or not begun:
            return
        self._start_id = max(one for one in starts if one < begun[0].id)
        plan = Plan.model_validate_json(kept)
        self._plan = plan.model_copy(update={"status_post": self._plan.status_post})
        self._has_begun = True

    def _place(self) -> Done | None:
        """Find out where the code is, and who asks there, where that is not said."""
        thread = self._trigger.thread
        if not isinstance(thread, TalkThread):
            return None
        if answered := answer_anybody(self._services, self._job):
            return self._end_as(answered)
        self._react(self._channel.acknowledge)
        placed = self._placing.place(thread)
        if isinstance(placed, Wait):
            return self._end_as(placed)
        self._trigger = placed
        self._job = self._job.model_copy(update={"trigger": placed})
        return None

    def _keep_private(self) -> Done | None:
        """Ask before anything private may be shown to everybody."""
        try:
            found = find_openness(self._services, self._job, self._placing.answers())
        except ServiceError as error:
            return self._fail(error)
        if isinstance(found, Ask):
            return self._end_as(self._placing.ask(found))
        self._note(openness=found)
        return None

    def _end_as(self, found: Wait) -> Done:
        return Done(found.outcome, self._plan, found.read_up_to, effects=found.effects)

    def _note(self, **found: object) -> None:
        self._plan = self._plan.model_copy(update=found)

    def _read_wishes(self) -> Done | None:
        """Learn what the repository wishes; without that nothing can be judged.

        Only who may ask by the service's own rules is told that it failed: two bots
        must not keep each other busy.
        """
        try:
            config = fetch_config(self._services, self._job)
        except ServiceError as error:
            judged = judge_request(self._services, self._job, self._plan.config)
            if isinstance(judged, Declined):
                return self._decline(judged)
            return self._fail(error, quiet=self._trigger.kind.is_automatic)
        frame = make_frame(self._services, self._job, config)
        self._note(config=config, frame=frame)
        return None

    def _fail(self, error: PatchwrightError, *, quiet: bool = False) -> Done:
        outcome = Outcome(
            kind=OutcomeKind.FAILED, reason=error.reason, summary=str(error)
        )
        return self.end(outcome, quiet=quiet)

    def _decline(self, judged: Declined) -> Done:
        log.info("request_declined", reason=judged.reason, text=judged.text)
        outcome = Outcome(
            kind=OutcomeKind.REFUSED, reason=judged.reason, summary=judged.text
        )
        # What nobody asked for needs no refusal either.
        nobody_asked = self._trigger.kind.is_automatic
        if judged.quiet and not (judged.silent or nobody_asked):
            self._react(self._channel.decline)
        if self._trigger.thread.kind is ThreadKind.CHAT:
            # Nobody else need know what somebody may not do.
            return self._end_as(Wait(outcome, (AskPrivately(text=judged.text),)))
        return self.end(outcome, quiet=judged.quiet or nobody_asked)

    def _answer(self) -> Done | None:
        """Answer a command that needs no run."""
        handle = self._plan.frame.handle
        last = last_run(self._services, self._job.conversation_id)
        answer = answer_command(self._trigger, handle, last)
        return None if answer is None else self.end(answer)

    def _closed(self) -> Done | None:
        """Do not begin where the thread was closed meanwhile."""
        closed_at = self._services.stores.threads.closed_at(self._trigger.thread)
        if closed_at is None or closed_at <= self._job.created_at:
            return None
        text = "The thread was closed before the run had begun."
        kind = OutcomeKind.STOPPED
        return self.end(Outcome(kind=kind, reason="thread-closed", summary=text))

    def _stand_down(self) -> Done | None:
        """End at once where there is no occasion for a run that nobody asked for."""
        if not self._trigger.kind.is_automatic:
            return None
        found = find_occasion(self._services, self._job, self._lease, self._plan.config)
        self._checks = found.checks
        if found.end is None:
            return None
        return self.end(found.end, quiet=not found.end.summary)

    def _start(self) -> Done:
        if not self._trigger.kind.is_automatic:
            self._react(self._channel.acknowledge)
        move_at_start(self._services, self._job)
        return self._work()

    def _work(self) -> Done:
        with self._status_comment() as status, self._mirrors() as mirrors:
            try:
                with (
                    self._events.subscribe(status.show, self._start_id),
                    self._events.subscribe(mirrors.show, self._start_id),
                ):
                    resolving = self._resolving()
                    done = resolving.resume() if self._has_begun else resolving.begin()
            except LeaseLostError:
                raise
            except PatchwrightError as error:
                done = self._fail(error)
        return done.with_last(status.last)

    def _resolving(self) -> Resolving:
        return Resolving(
            self._services,
            self._job,
            self._lease,
            log=self._events,
            steering=self._steering(),
            given_back=self._given_back,
            plan=self._plan,
            start_id=self._start_id,
            checks=self._checks,
        )

    def _steering(self) -> Steering:
        services, job = self._services, self._job
        forge = services.github.forge
        about = About(
            frame=self._plan.frame,
            trigger=self._trigger,
            admitted=self._plan.admitted,
            sandbox=services.sandboxes.kind,
        )
        return Steering(
            forge,
            self._channel,
            rules(services, self._plan.config),
            self._events,
            lambda after_id: services.stores.requests.joined(job.id, after_id),
            about=lambda: about,
            permission_of=Remembered(forge, services.clock.monotonic).permission,
            find_person=services.talk.find_person,
            invite=services.talk.invite,
        )

    def _mirrors(self) -> Mirrors:
        """Keep the other threads of the conversation up to date as well."""
        mirrors = Mirrors(self._services, self._job, self._plan)
        self._note(mirrors=mirrors.kept)
        return mirrors

    def _status_comment(self) -> StatusComment:
        watch = Watch(self._services.sandboxes.kind, self._services.clock.now())
        status = StatusComment(
            self._channel,
            self._trigger.thread,
            self._plan.frame,
            watch,
            self._services.clock,
            write=self._words(),
        )
        status.begin(self._plan.status_post)
        self._note(status_post=status.post_id)
        return status

    def _words(self) -> Write:
        """Choose how much is shown: the agent's plan may repeat what was private."""
        is_seen = isinstance(self._trigger.thread, ForgeThread)
        hides = is_seen and self._plan.openness.keeps_out
        return mirrored_progress if hides else progress_comment

    def _find_earlier_post(self) -> str:
        thread = self._trigger.thread
        try:
            return self._channel.find_post(thread, mark(self._job.id)) or ""
        except ServiceError as error:
            log.warning("earlier_status_not_found", reason=error.reason)
            return ""

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
