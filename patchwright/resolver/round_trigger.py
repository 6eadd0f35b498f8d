"""Follow-up rounds that nobody asked for, and competing pull requests."""

from dataclasses import dataclass, replace
from typing import Final, assert_never

import structlog

from patchwright.core.forge import Checks
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
from patchwright.resolver.run import End, Run, end, skipped_on_resume
from patchwright.resolver.run_store import EarlierRun, RunStore
from patchwright.resolver.services import StepServices

COMPETING: Final = "rival"

log = structlog.get_logger(__name__)


def find_competing_pull_request(services: StepServices, run: Run) -> Outcome | None:
    """Return the outcome if there is a competing pull request.

    A person who was told about it and asks again wants ours too: then the run goes on.
    """
    thread = run.trigger.thread
    if not isinstance(thread, ForgeThread) or thread.kind is not ThreadKind.ISSUE:
        return None
    capability = services.code_host.forge.pull_metadata
    if capability is None:
        return None
    ended = run.store.list_outcomes()
    try:
        competing_pulls = capability.fetch_competing_pulls(thread.repo, thread.number)
    except ServiceError as error:
        # An old version of the forge does not know this query.
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
    """The result of the search for a trigger: with `end` there is none.

    Then the run ends. An end without a text is not shown to people.
    """

    end: Outcome | None = None
    checks: Checks | None = None


def find_round_trigger(services: StepServices, run: Run) -> RoundTrigger:
    """Read the pull request as it is now; if that fails, there is no trigger."""
    try:
        if run.trigger.kind is TriggerKind.CONFLICT:
            return _find_conflict(services, run)
        return _find_failure(services, run)
    except ServiceError as error:
        return _none(error.reason)


def _find_conflict(services: StepServices, run: Run) -> RoundTrigger:
    thread = run.trigger.forge_thread
    pull = fetch_with_mergeability(
        services.code_host.forge, thread.repo, thread.number, services.clock
    )
    earlier = len(_merged_since_asked(run.store))
    quiet = judge_conflict(pull, earlier, run.plan.config.ci_rounds)
    return RoundTrigger() if quiet is None else _none(quiet.reason)


def _merged_since_asked(store: RunStore) -> list[EarlierRun]:
    """Return the runs that worked on conflicts since the last request of a person."""
    runs = store.list_since_last_request(TriggerKind.CONFLICT)
    return [one for one in runs if one.outcome and one.outcome.iterations]


def _find_failure(services: StepServices, run: Run) -> RoundTrigger:
    forge, thread = services.code_host.forge, run.trigger.forge_thread
    pull = forge.fetch_pull_request(thread.repo, thread.number)
    sha, config = run.trigger.head_sha, run.plan.config
    if not pull.is_open or pull.head_sha != sha or forge.checks is None:
        return _none("head-moved")
    checks = forge.checks.fetch_checks(thread.repo, sha)
    earlier = _earlier(run)
    verdict = judge_round(checks, sha, earlier, config.ci_rounds, config.file)
    match verdict:
        case SkipRound():
            return _none(verdict.reason)
        case StartRound():
            _keep(run.store, verdict.found)
            return RoundTrigger(checks=checks)
        case StopRounds():
            _keep(run.store, verdict.found)
            return RoundTrigger(
                service_outcome(OutcomeKind.STUCK, verdict.reason, verdict.text)
            )
        case _:
            assert_never(verdict)


def _earlier(run: Run) -> tuple[CheckRound, ...]:
    """Return the rounds since the last request of a person, oldest first."""
    runs = run.store.list_since_last_request(TriggerKind.CHECKS)
    others = [one.id for one in runs if one.id != run.job.id]
    stored = (run.store.load_kept(ROUND, one) for one in others)
    return tuple(CheckRound.model_validate_json(one) for one in stored if one)


def _keep(store: RunStore, found: CheckRound) -> None:
    store.keep(ROUND, found.model_dump_json().encode())


def _none(reason: str) -> RoundTrigger:
    return RoundTrigger(Outcome(kind=OutcomeKind.NO_CHANGE, reason=reason))


@skipped_on_resume
def skip_round_if_not_due(services: StepServices, run: Run) -> Run | End:
    """End an automatic run immediately if it has no trigger any more."""
    if not run.trigger.kind.is_automatic:
        return run
    found = find_round_trigger(services, run)
    run = replace(run, checks=found.checks)
    if found.end is None:
        return run
    return end(services, run, found.end, quiet=not found.end.summary)
