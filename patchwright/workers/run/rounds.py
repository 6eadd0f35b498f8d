"""Follow-up rounds that nobody asked for, and competing pull requests."""

from dataclasses import dataclass
from typing import Final, assert_never

import structlog

from patchwright.core.forge import Checks
from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.types.errors import ServiceError
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.threads import ForgeThread, ThreadKind
from patchwright.core.types.triggers import TriggerKind
from patchwright.core.types.work import Outcome, service_outcome
from patchwright.resolver.rounds import (
    CheckRound,
    SkipRound,
    StartRound,
    StopRounds,
    competing_pull_text,
    fetch_with_mergeability,
    find_competing_pull,
    judge_conflict,
    judge_round,
)
from patchwright.workers.run.services import RunServices
from patchwright.workers.store.job import Job, Lease

COMPETING: Final = "rival"

log = structlog.get_logger(__name__)


def find_competing_pull_request(services: RunServices, job: Job) -> Outcome | None:
    """Return how the run ends where we would compete, unless people want us to.

    Who asks again when they were told has answered the question.
    """
    thread = job.trigger.thread
    if not isinstance(thread, ForgeThread) or thread.kind is not ThreadKind.ISSUE:
        return None
    capability = services.code_host.forge.pull_metadata
    if capability is None:
        return None
    ended = services.stores.jobs.outcomes_of(job.conversation_id)
    try:
        competing_pulls = capability.fetch_competing_pulls(thread.repo, thread.number)
    except ServiceError as error:
        # A server that is older than the question does not know the answer.
        log.info("rivals_unknown", reason=error.reason, error=str(error))
        return None
    competing_pull = find_competing_pull(
        competing_pulls, was_told=any(one.reason == COMPETING for one in ended)
    )
    if competing_pull is None:
        return None
    text = competing_pull_text(competing_pull, services.directory.forge.mention)
    return service_outcome(OutcomeKind.REFUSED, COMPETING, text)


ROUND: Final = "round"


@dataclass(frozen=True)
class RoundTrigger:
    """Whether there is one: with `end` there is none, and nothing more is done.

    An end without words is not spoken of.
    """

    end: Outcome | None = None
    checks: Checks | None = None


def find_round_trigger(
    services: RunServices, job: Job, lease: Lease, config: RepositoryConfig
) -> RoundTrigger:
    """Look at the pull request as it is now; what cannot be seen is no occasion."""
    try:
        if job.trigger.kind is TriggerKind.CONFLICT:
            return _find_conflict(services, job, config)
        return _find_failure(services, job, lease, config)
    except ServiceError as error:
        return _none(error.reason)


def _find_conflict(
    services: RunServices, job: Job, config: RepositoryConfig
) -> RoundTrigger:
    thread = job.trigger.forge_thread
    pull = fetch_with_mergeability(
        services.code_host.forge, thread.repo, thread.number, services.clock
    )
    earlier = len(_merged_since_asked(services, job))
    quiet = judge_conflict(pull, earlier, config.ci_rounds)
    return RoundTrigger() if quiet is None else _none(quiet.reason)


def _merged_since_asked(services: RunServices, job: Job) -> list[Job]:
    """Return the jobs that have worked on conflicts since somebody asked last."""
    jobs = services.stores.jobs.list_since_last_request(
        job.conversation_id, TriggerKind.CONFLICT
    )
    return [one for one in jobs if one.outcome and one.outcome.iterations]


def _find_failure(
    services: RunServices, job: Job, lease: Lease, config: RepositoryConfig
) -> RoundTrigger:
    forge, thread = services.code_host.forge, job.trigger.forge_thread
    pull = forge.fetch_pull_request(thread.repo, thread.number)
    sha = job.trigger.head_sha
    if not pull.is_open or pull.head_sha != sha or forge.checks is None:
        return _none("head-moved")
    checks = forge.checks.fetch_checks(thread.repo, sha)
    earlier = _earlier(services, job)
    verdict = judge_round(checks, sha, earlier, config.ci_rounds, config.file)
    match verdict:
        case SkipRound():
            return _none(verdict.reason)
        case StartRound():
            _keep(services, lease, verdict.found)
            return RoundTrigger(checks=checks)
        case StopRounds():
            _keep(services, lease, verdict.found)
            return RoundTrigger(
                service_outcome(OutcomeKind.STUCK, verdict.reason, verdict.text)
            )
        case _:
            assert_never(verdict)


def _earlier(services: RunServices, job: Job) -> tuple[CheckRound, ...]:
    """Return the rounds since somebody asked last, the oldest first."""
    stores = services.stores
    jobs = stores.jobs.list_since_last_request(job.conversation_id, TriggerKind.CHECKS)
    others = [one.id for one in jobs if one.id != job.id]
    kept = (stores.outcomes.load_artifact(one, ROUND) for one in others)
    return tuple(CheckRound.model_validate_json(one) for one in kept if one)


def _keep(services: RunServices, lease: Lease, found: CheckRound) -> None:
    services.stores.outcomes.keep_artifact(
        lease, ROUND, found.model_dump_json().encode()
    )


def _none(reason: str) -> RoundTrigger:
    return RoundTrigger(Outcome(kind=OutcomeKind.NO_CHANGE, reason=reason))
