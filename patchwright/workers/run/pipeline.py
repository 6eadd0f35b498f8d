"""The first half of a job: its steps in order, from the request to the outcome."""

import structlog
from sqlalchemy.exc import InterfaceError, OperationalError

from patchwright.core.agent.run_log import ReleaseSignal
from patchwright.core.forge import Checks
from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.types.errors import LeaseLostError, PatchwrightError, ServiceError
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.threads import TalkThread, ThreadKind
from patchwright.core.types.triggers import TriggerKind
from patchwright.core.types.work import Outcome, error_outcome, service_outcome
from patchwright.resolver.admission import Declined
from patchwright.resolver.effects import AskPrivately
from patchwright.resolver.publish.destination import CrossPostTarget
from patchwright.resolver.publish.live import acknowledge, decline
from patchwright.resolver.visibility import Question
from patchwright.workers.run.admission import (
    JobAttempt,
    admit_request,
    begin_attempt,
    fetch_config,
    find_closed_thread,
    find_stop,
    last_run,
    lost_too_often,
)
from patchwright.workers.run.commands import answer_command, answer_without_rights
from patchwright.workers.run.linked_threads import (
    CrossPosts,
    link_threads,
    move_after_merge,
    move_at_start,
    move_request,
)
from patchwright.workers.run.plan import (
    PLAN_ARTIFACT,
    AttemptResult,
    EarlyResult,
    MovedResult,
    RunPlan,
)
from patchwright.workers.run.repository import RepositoryResolver
from patchwright.workers.run.resolution import JobResolution
from patchwright.workers.run.rounds import find_round_trigger
from patchwright.workers.run.sandboxes import check_disk_space
from patchwright.workers.run.services import RunServices
from patchwright.workers.run.setup import find_earlier_post, open_status, open_steering
from patchwright.workers.run.status import (
    StatusComment,
    make_message_header,
    without_ticket_key,
)
from patchwright.workers.run.visibility import find_visibility
from patchwright.workers.store.job import Job, Lease

log = structlog.get_logger(__name__)


class Pipeline:
    """One attempt at one job.

    `run` raises `LeaseLostError`, or whatever broke; `end` makes an end of that.
    """

    def __init__(
        self,
        services: RunServices,
        job: Job,
        lease: Lease,
        release_signal: ReleaseSignal,
    ) -> None:
        self._services, self._job, self._lease = services, job, lease
        self._release_signal = release_signal
        self._trigger = job.trigger
        self._channel = services.channel
        self._events = services.stores.events.open(job.conversation_id, lease)
        self._plan = RunPlan(
            frame=make_message_header(services, job, RepositoryConfig())
        )
        self._start_id = 0
        self._has_begun = False
        self._checks: Checks | None = None
        self._placing = RepositoryResolver(services, job, lease)

    def run(self) -> AttemptResult | MovedResult:
        self._begin()
        if lost := lost_too_often(self._lease.attempt):
            return self.end(lost)
        if self._trigger.kind is TriggerKind.MERGED:
            return self._end_early(move_after_merge(self._services, self._job))
        if not self._has_begun and (
            early := self._end_if(find_stop(self._events, self._job, self._start_id))
            or self._resolve_repository()
            or self._read_configuration()
        ):
            return early
        judged = admit_request(self._services, self._job, self._plan.config)
        if isinstance(judged, Declined):
            return self._decline(judged)
        if self._has_begun:
            return self._work()
        self._plan = self._plan.replace(admitted=judged.why)
        return (
            self._answer()
            or self._end_if(
                find_closed_thread(self._services.stores.threads, self._job)
            )
            or self._skip_round_if_not_due()
            or self._link_threads()
            or self._end_if(check_disk_space(self._services.settings))
            or self._start()
        )

    def end(self, outcome: Outcome, *, quiet: bool = False) -> AttemptResult:
        """End the job with what is known so far.

        Nothing that was said meanwhile was read but answers to what was asked before
        the work could begin: it gets a job of its own.
        """
        read_up_to = self._placing.answered_up_to()
        return AttemptResult(outcome, self._plan, read_up_to=read_up_to, quiet=quiet)

    def _end_if(self, outcome: Outcome | None) -> AttemptResult | None:
        return None if outcome is None else self.end(outcome)

    def _begin(self) -> None:
        """Mark that this attempt starts, and go on where an earlier one has been."""
        attempt = begin_attempt(self._events, self._job.id, self._lease.attempt)
        self._start_id = attempt.start_id
        if attempt.earlier:
            self._plan = self._plan.replace(
                status_post=find_earlier_post(self._services, self._job)
            )
            self._resume_attempt(attempt)

    def _resume_attempt(self, attempt: JobAttempt) -> None:
        """Go on with what an earlier attempt has planned, if it came so far."""
        kept = self._services.stores.outcomes.load_artifact(self._job.id, PLAN_ARTIFACT)
        started = frozenset({"run_started"})
        begun = self._events.read(attempt.earlier[0], kinds=started)
        if kept is None or not begun:
            return
        self._start_id = attempt.start_of(begun[0].id)
        plan = RunPlan.model_validate_json(kept)
        self._plan = plan.replace(status_post=self._plan.status_post)
        self._has_begun = True

    def _resolve_repository(self) -> AttemptResult | None:
        """Find out where the code is, and who asks there, where that is not said."""
        thread = self._trigger.thread
        if not isinstance(thread, TalkThread):
            return None
        if answered := answer_without_rights(self._services, self._job):
            return self._end_early(answered)
        acknowledge(self._services.live, self._channel, self._trigger)
        try:
            placed = self._placing.resolve(thread)
        except ServiceError as error:
            return self._fail(error)
        if isinstance(placed, EarlyResult):
            return self._end_early(placed)
        self._trigger = placed
        self._job = self._job.replace(trigger=placed)
        return None

    def _link_threads(self) -> AttemptResult | MovedResult | None:
        """Make one conversation of all the threads, where it may be shown there."""
        services, job, lease = self._services, self._job, self._lease
        there = link_threads(services, job, lease)
        if waits := self._check_visibility():
            return waits
        if there is None:
            return None
        moved = move_request(services, job, lease, there, self._plan.openness)
        # It was moved on meanwhile: look where it is.
        if moved is None:
            return self._link_threads()
        if isinstance(moved, MovedResult):
            return moved
        return self._end_early(moved).read(self._placing.answered_up_to())

    def _check_visibility(self) -> AttemptResult | None:
        """Ask before anything private may be shown to everybody."""
        try:
            found = find_visibility(self._services, self._job, self._placing.answers())
        except ServiceError as error:
            return self._fail(error)
        if isinstance(found, Question):
            return self._end_early(self._placing.ask(found))
        self._plan = self._plan.replace(
            openness=found, frame=without_ticket_key(self._plan.frame, found)
        )
        return None

    def _end_early(self, found: EarlyResult) -> AttemptResult:
        done = AttemptResult(
            found.outcome, self._plan, found.read_up_to, effects=found.effects
        )
        return done.read(self._placing.answered_up_to())

    def _read_configuration(self) -> AttemptResult | None:
        """Learn what the repository wishes; without that nothing can be judged.

        Only who may ask by the service's own rules is told that it failed: two bots
        must not keep each other busy.
        """
        try:
            config = fetch_config(self._services, self._job)
        except ServiceError as error:
            judged = admit_request(self._services, self._job, self._plan.config)
            if isinstance(judged, Declined):
                return self._decline(judged)
            return self._fail(error, quiet=self._trigger.kind.is_automatic)
        frame = make_message_header(self._services, self._job, config)
        self._plan = self._plan.replace(config=config, frame=frame)
        return None

    def _fail(self, error: PatchwrightError, *, quiet: bool = False) -> AttemptResult:
        return self.end(error_outcome(error), quiet=quiet)

    def _decline(self, judged: Declined) -> AttemptResult:
        log.info("request_declined", reason=judged.reason, text=judged.text)
        outcome = service_outcome(
            OutcomeKind.REFUSED, judged.reason, judged.text, by=judged.by
        )
        # What nobody asked for needs no refusal either.
        nobody_asked = self._trigger.kind.is_automatic
        if judged.quiet and not (judged.silent or nobody_asked):
            decline(self._services.live, self._channel, self._trigger)
        if self._trigger.thread.kind is ThreadKind.CHAT and not judged.silent:
            # Nobody else need know what somebody may not do.
            return self._end_early(
                EarlyResult(outcome, (AskPrivately(text=judged.text),))
            )
        # A ticket has no reactions that could say it without words.
        has_words = self._trigger.thread.kind is ThreadKind.TICKET and not judged.silent
        is_quiet = judged.quiet and not has_words
        return self.end(outcome, quiet=is_quiet or nobody_asked)

    def _answer(self) -> AttemptResult | None:
        """Answer a command that needs no run."""
        handle = self._plan.frame.handle
        conversation_id, thread = self._job.conversation_id, self._trigger.thread
        last = last_run(self._services, conversation_id, thread)
        known = self._services.overrides.answer
        return self._end_if(known or answer_command(self._trigger, handle, last))

    def _skip_round_if_not_due(self) -> AttemptResult | None:
        """End at once where there is no occasion for a run that nobody asked for."""
        if not self._trigger.kind.is_automatic:
            return None
        found = find_round_trigger(
            self._services, self._job, self._lease, self._plan.config
        )
        self._checks = found.checks
        if found.end is None:
            return None
        return self.end(found.end, quiet=not found.end.summary)

    def _start(self) -> AttemptResult:
        if not self._trigger.kind.is_automatic:
            acknowledge(self._services.live, self._channel, self._trigger)
        self._plan = self._plan.replace(
            remarks=move_at_start(self._services, self._job)
        )
        return self._work()

    def _work(self) -> AttemptResult:
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
        answered = self._placing.answered_up_to()
        return done.with_last(status.last, _current_cross_posts(mirrors)).read(answered)

    def _resolving(self) -> JobResolution:
        return JobResolution(
            self._services,
            self._job,
            self._lease,
            log=self._events,
            steering=open_steering(
                self._services, self._job, self._lease, self._plan, self._events
            ),
            release_signal=self._release_signal,
            plan=self._plan,
            start_id=self._start_id,
            checks=self._checks,
        )

    def _mirrors(self) -> CrossPosts:
        """Keep the other threads of the conversation up to date as well."""
        mirrors = CrossPosts(self._services, self._job, self._plan)
        self._plan = self._plan.replace(mirrors=mirrors.saved)
        return mirrors

    def _status_comment(self) -> StatusComment:
        status = open_status(self._services, self._job, self._plan)
        self._plan = self._plan.replace(status_post=status.post_id)
        return status


def _current_cross_posts(mirrors: CrossPosts) -> tuple[CrossPostTarget, ...]:
    """Return who else is told; not to know of some must not lose finished work."""
    try:
        return mirrors.list_current()
    except (LeaseLostError, OperationalError, InterfaceError):
        raise
    except Exception:  # whatever is wrong with what was tied to the conversation
        log.exception("mirrors_not_read")
        return mirrors.saved
