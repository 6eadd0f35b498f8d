"""The first half of a job: judge, look, work, and keep what came of it."""

from collections.abc import Callable

import structlog
from sqlalchemy.exc import InterfaceError, OperationalError

from patchwright.core.agent.attention import GivenBack
from patchwright.core.errors import LeaseLostError, PatchwrightError, ServiceError
from patchwright.core.forge import Checks
from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.types.threads import TalkThread, ThreadKind
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import Outcome, OutcomeKind, explained, failed
from patchwright.resolver.admission import Declined
from patchwright.resolver.delivering.destination import Mirrored
from patchwright.resolver.effects import AskPrivately
from patchwright.resolver.placing.asking import Ask
from patchwright.workers.run.attempts import Attempt, begin_attempt, lost_too_often
from patchwright.workers.run.calling_off import closed_before, stopped_before
from patchwright.workers.run.commands import answer_anybody, answer_command
from patchwright.workers.run.consenting import find_openness
from patchwright.workers.run.done import Done, Moved
from patchwright.workers.run.framing import make_frame, without_key
from patchwright.workers.run.gate import (
    fetch_config,
    judge_request,
    last_run,
)
from patchwright.workers.run.mirrors import Mirrors
from patchwright.workers.run.opening import (
    find_earlier_post,
    open_status,
    open_steering,
)
from patchwright.workers.run.placing import Placing
from patchwright.workers.run.plan import ARTIFACT, Plan
from patchwright.workers.run.resolving import Resolving
from patchwright.workers.run.room import find_want_of_room
from patchwright.workers.run.rounds import find_occasion
from patchwright.workers.run.services import Services
from patchwright.workers.run.status import StatusComment
from patchwright.workers.run.tickets import after_merge, move_at_start
from patchwright.workers.run.tying import move_there, tie_threads
from patchwright.workers.run.wait import Wait
from patchwright.workers.store.job import Job, Lease

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
        if lost := lost_too_often(self._lease.attempt):
            return self.end(lost)
        if self._trigger.kind is TriggerKind.MERGED:
            return self._end_as(after_merge(self._services, self._job))
        if not self._has_begun and (
            early := self._end_if(
                stopped_before(self._events, self._job, self._start_id)
            )
            or self._resolve_repository()
            or self._read_wishes()
        ):
            return early
        judged = judge_request(self._services, self._job, self._plan.config)
        if isinstance(judged, Declined):
            return self._decline(judged)
        if self._has_begun:
            return self._work()
        self._plan = self._plan.replace(admitted=judged.why)
        return (
            self._answer()
            or self._end_if(closed_before(self._services.stores.threads, self._job))
            or self._stand_down()
            or self._tie()
            or self._end_if(find_want_of_room(self._services.settings))
            or self._start()
        )

    def end(self, outcome: Outcome, *, quiet: bool = False) -> Done:
        """End the job with what is known so far.

        Nothing that was said meanwhile was read but answers to what was asked before
        the work could begin: it gets a job of its own.
        """
        read_up_to = self._placing.answered_up_to()
        return Done(outcome, self._plan, read_up_to=read_up_to, quiet=quiet)

    def _end_if(self, outcome: Outcome | None) -> Done | None:
        return None if outcome is None else self.end(outcome)

    def _begin(self) -> None:
        """Mark that this attempt starts, and go on where an earlier one has been."""
        attempt = begin_attempt(self._events, self._job.id, self._lease.attempt)
        self._start_id = attempt.start_id
        if attempt.earlier:
            self._plan = self._plan.replace(
                status_post=find_earlier_post(self._services, self._job)
            )
            self._take_up(attempt)

    def _take_up(self, attempt: Attempt) -> None:
        """Go on with what an earlier attempt has planned, if it came so far."""
        kept = self._services.stores.outcomes.load_artifact(self._job.id, ARTIFACT)
        started = frozenset({"run_started"})
        begun = self._events.read(attempt.earlier[0], kinds=started)
        if kept is None or not begun:
            return
        self._start_id = attempt.start_of(begun[0].id)
        plan = Plan.model_validate_json(kept)
        self._plan = plan.replace(status_post=self._plan.status_post)
        self._has_begun = True

    def _resolve_repository(self) -> Done | None:
        """Find out where the code is, and who asks there, where that is not said."""
        thread = self._trigger.thread
        if not isinstance(thread, TalkThread):
            return None
        if answered := answer_anybody(self._services, self._job):
            return self._end_as(answered)
        self._react(self._channel.acknowledge)
        try:
            placed = self._placing.resolve(thread)
        except ServiceError as error:
            return self._fail(error)
        if isinstance(placed, Wait):
            return self._end_as(placed)
        self._trigger = placed
        self._job = self._job.replace(trigger=placed)
        return None

    def _tie(self) -> Done | Moved | None:
        """Make one conversation of all the threads, where it may be shown there."""
        services, job, lease = self._services, self._job, self._lease
        there = tie_threads(services, job, lease)
        if waits := self._keep_private():
            return waits
        if there is None:
            return None
        moved = move_there(services, job, lease, there, self._plan.openness)
        # It was moved on meanwhile: look where it is.
        if moved is None:
            return self._tie()
        if isinstance(moved, Moved):
            return moved
        return self._end_as(moved).read(self._placing.answered_up_to())

    def _keep_private(self) -> Done | None:
        """Ask before anything private may be shown to everybody."""
        try:
            found = find_openness(self._services, self._job, self._placing.answers())
        except ServiceError as error:
            return self._fail(error)
        if isinstance(found, Ask):
            return self._end_as(self._placing.ask(found))
        self._plan = self._plan.replace(
            openness=found, frame=without_key(self._plan.frame, found)
        )
        return None

    def _end_as(self, found: Wait) -> Done:
        done = Done(found.outcome, self._plan, found.read_up_to, effects=found.effects)
        return done.read(self._placing.answered_up_to())

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
        self._plan = self._plan.replace(config=config, frame=frame)
        return None

    def _fail(self, error: PatchwrightError, *, quiet: bool = False) -> Done:
        return self.end(failed(error), quiet=quiet)

    def _decline(self, judged: Declined) -> Done:
        log.info("request_declined", reason=judged.reason, text=judged.text)
        outcome = explained(
            OutcomeKind.REFUSED, judged.reason, judged.text, by=judged.by
        )
        # What nobody asked for needs no refusal either.
        nobody_asked = self._trigger.kind.is_automatic
        if judged.quiet and not (judged.silent or nobody_asked):
            self._react(self._channel.decline)
        if self._trigger.thread.kind is ThreadKind.CHAT and not judged.silent:
            # Nobody else need know what somebody may not do.
            return self._end_as(Wait(outcome, (AskPrivately(text=judged.text),)))
        # A ticket has no reactions that could say it without words.
        has_words = self._trigger.thread.kind is ThreadKind.TICKET and not judged.silent
        is_quiet = judged.quiet and not has_words
        return self.end(outcome, quiet=is_quiet or nobody_asked)

    def _answer(self) -> Done | None:
        """Answer a command that needs no run."""
        handle = self._plan.frame.handle
        conversation_id, thread = self._job.conversation_id, self._trigger.thread
        last = last_run(self._services, conversation_id, thread)
        known = self._services.overrides.answer
        return self._end_if(known or answer_command(self._trigger, handle, last))

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
        self._plan = self._plan.replace(
            remarks=move_at_start(self._services, self._job)
        )
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
        answered = self._placing.answered_up_to()
        return done.with_last(status.last, _told_by_now(mirrors)).read(answered)

    def _resolving(self) -> Resolving:
        return Resolving(
            self._services,
            self._job,
            self._lease,
            log=self._events,
            steering=open_steering(
                self._services, self._job, self._lease, self._plan, self._events
            ),
            given_back=self._given_back,
            plan=self._plan,
            start_id=self._start_id,
            checks=self._checks,
        )

    def _mirrors(self) -> Mirrors:
        """Keep the other threads of the conversation up to date as well."""
        mirrors = Mirrors(self._services, self._job, self._plan)
        self._plan = self._plan.replace(mirrors=mirrors.saved)
        return mirrors

    def _status_comment(self) -> StatusComment:
        status = open_status(self._services, self._job, self._plan)
        self._plan = self._plan.replace(status_post=status.post_id)
        return status

    def _react(self, react: Callable[[Trigger], None]) -> None:
        try:
            react(self._trigger)
        except ServiceError as error:
            log.warning("reaction_not_shown", reason=error.reason)


def _told_by_now(mirrors: Mirrors) -> tuple[Mirrored, ...]:
    """Return who else is told; not to know of some must not lose finished work."""
    try:
        return mirrors.by_now()
    except (LeaseLostError, OperationalError, InterfaceError):
        raise
    except Exception:  # whatever is wrong with what was tied to the conversation
        log.exception("mirrors_not_read")
        return mirrors.saved
