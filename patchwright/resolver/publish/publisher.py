"""Perform the effects of a task, each of which may be asked for again."""

from collections.abc import Callable, Sequence
from typing import Final, assert_never

from patchwright.core.types.errors import (
    AuthenticationError,
    GitError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    UnknownEffectError,
)
from patchwright.core.types.evidence import Proof, ProofReason, ProofReport
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import RepoRef
from patchwright.core.types.work import CONTRADICTED, NOT_DELIVERED, Outcome
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.publish.branches import push_branch
from patchwright.resolver.publish.destination import (
    Destination,
    PublisherDependencies,
    redact_for_public,
    redact_for_thread,
)
from patchwright.resolver.publish.effects import (
    AnswerReviews,
    AskPrivately,
    AttachLink,
    CrossPost,
    Effect,
    FinalMessage,
    Invite,
    MoveTicket,
    NotificationEffect,
    OpenPullRequest,
    Ping,
    PushBranch,
    RefreshEvidence,
    ReportCheck,
    RepositoryEffect,
    RunEffect,
    SetPullMetadata,
    SwapLabels,
    UnknownEffect,
    UpdatePullRequest,
)
from patchwright.resolver.publish.notifications import (
    ask_privately,
    attach_link,
    cross_post,
    move_ticket,
    ping_requester,
    post_result,
    report_check,
    send_invitation,
    swap_labels,
)
from patchwright.resolver.publish.pull_requests import (
    answer_reviews,
    open_pull_request,
    refresh_evidence,
    set_pull_metadata,
    update_pull_request,
)


def as_delivered(outcome: Outcome, delivered: DeliveryResult) -> Outcome:
    """Return the outcome as people find it.

    What nobody can see anywhere has failed, whatever the run came to. Otherwise the
    evidence is of the commit that stands on the branch, which may be the forge's. It
    holds the very tree of the one that the commands were run on: a commit with
    another tree is not left standing. One that was put on top of other commits has
    the evidence of what was run there. Without it nothing is proven, and neither is it
    by a proof that is about another commit.
    """
    if outcome.kind is OutcomeKind.RESOLVED and delivered.is_nowhere:
        failed = {"kind": OutcomeKind.FAILED, "reason": NOT_DELIVERED}
        return Outcome.model_validate(outcome.model_dump() | failed)
    if delivered.is_rebased:
        report = delivered.proof_report
        outcome = outcome.replace(
            proof=delivered.proof,
            evidence=delivered.evidence or outcome.evidence,
            proof_report=report or ProofReport(reason=ProofReason.OTHER_COMMIT),
        )
        return _without_old_proof(_contradicted(outcome), delivered.head_sha)
    ours, theirs = outcome.head_sha, delivered.head_sha or outcome.head_sha
    if not ours:
        return outcome
    if ours != theirs:
        outcome = _renamed_head(outcome, ours, theirs)
    return _without_old_proof(outcome, theirs)


def _renamed_head(outcome: Outcome, ours: str, theirs: str) -> Outcome:
    """Call our commit as the forge calls the one of the same tree that it made."""
    report = outcome.proof_report
    if report is not None and report.head_sha == ours:
        report = report.replace(head_sha=theirs)
    evidence = tuple(
        one.replace(commit=theirs) if one.commit == ours else one
        for one in outcome.evidence
    )
    return outcome.replace(evidence=evidence, proof_report=report)


def _contradicted(outcome: Outcome) -> Outcome:
    """Return it as a change that tests speak against, if they do where it is now."""
    is_resolved = outcome.kind is OutcomeKind.RESOLVED
    if not is_resolved or outcome.proof is not Proof.CONTRADICTED:
        return outcome
    return outcome.replace(kind=OutcomeKind.NEEDS_INPUT, reason=CONTRADICTED)


_CLAIMS: Final = frozenset({Proof.PROVEN, Proof.SHOWN_BY_COMMAND})


def _without_old_proof(outcome: Outcome, head_sha: str) -> Outcome:
    """Take back what a proof claims that is about another commit than this one."""
    report = outcome.proof_report
    if report is None or not report.head_sha or report.head_sha == head_sha:
        return outcome
    if outcome.proof not in _CLAIMS or not head_sha:
        return outcome
    older = report.replace(reason=ProofReason.OTHER_COMMIT, is_rerun=False)
    return outcome.replace(proof=Proof.NOT_PROVEN, proof_report=older)


def with_refusal(
    effect: RepositoryEffect, why: str, so_far: DeliveryResult
) -> DeliveryResult:
    """Note what was refused; where only the trimmings are missing the rest is there."""
    match effect:
        case SetPullMetadata():
            missing = f"Reviewers, labels and assignees may be missing: {why}"
        case AnswerReviews():
            missing = f"The review threads could not be answered: {why}"
        case _:
            return so_far.replace(refusal=why)
    remark = f"{missing.rstrip('.')}."
    return so_far.replace(remarks=(*so_far.remarks, remark))


_UNKNOWN: Final = "another version has planned this; upgrade the worker to carry it out"

FindRefusal = Callable[[RepoRef, Sequence[Actor]], str | None]


class Publisher:
    """Performs one run's effects, each of which may be asked for again.

    `find_refusal` says why one of those who asked may not write to a repository. What
    we have said of a commit is ours to correct, whoever has asked for the work.
    """

    def __init__(
        self, dependencies: PublisherDependencies, find_refusal: FindRefusal
    ) -> None:
        self._means, self._find_refusal = dependencies, find_refusal

    def perform(
        self, effect: Effect, outcome: Outcome, to: Destination, so_far: DeliveryResult
    ) -> DeliveryResult:
        """Do one effect and return what there is to show now.

        A refusal that asking again would not change is part of the result; the errors
        that leaves are worth another try later.
        """
        if isinstance(effect, UnknownEffect):
            raise UnknownEffectError(_UNKNOWN)
        if isinstance(effect, RunEffect):
            # The run has ended, and what shows that takes the place of it.
            return so_far
        outcome = as_delivered(outcome, so_far)
        if isinstance(effect, NotificationEffect):
            return self._tell(effect, redact_for_thread(outcome, to), to, so_far)
        if so_far.refusal or so_far.left_alone:
            return so_far
        try:
            if not isinstance(effect, RefreshEvidence):
                self._check_access_again(to)
            return self._write(
                effect, redact_for_public(outcome, to.hidden), to, so_far
            )
        except (
            AuthenticationError,
            InvalidRequestError,
            PermissionDeniedError,
            NotFoundError,
            GitError,
        ) as error:
            return with_refusal(effect, str(error), so_far)

    def _write(
        self,
        effect: RepositoryEffect,
        outcome: Outcome,
        to: Destination,
        so_far: DeliveryResult,
    ) -> DeliveryResult:
        dependencies = self._means
        match effect:
            case PushBranch():
                return push_branch(effect, outcome, to, dependencies)
            case OpenPullRequest():
                return open_pull_request(effect, outcome, to, dependencies, so_far)
            case UpdatePullRequest():
                return update_pull_request(effect, outcome, to, dependencies, so_far)
            case RefreshEvidence():
                return refresh_evidence(effect, outcome, to, dependencies, so_far)
            case SetPullMetadata():
                return set_pull_metadata(to, dependencies, so_far)
            case AnswerReviews():
                return answer_reviews(effect, outcome, to, dependencies, so_far)
            case _:
                assert_never(effect)

    def _tell(
        self,
        effect: NotificationEffect,
        outcome: Outcome,
        to: Destination,
        so_far: DeliveryResult,
    ) -> DeliveryResult:
        """Post the final message, even if other effects failed."""
        dependencies = self._means
        match effect:
            case ReportCheck():
                return report_check(effect, outcome, to, dependencies, so_far)
            case SwapLabels():
                return swap_labels(outcome, to, dependencies, so_far)
            case FinalMessage():
                return post_result(effect, outcome, to, dependencies, so_far)
            case Ping():
                return ping_requester(outcome, to, dependencies, so_far)
            case CrossPost():
                return cross_post(effect, outcome, to, dependencies, so_far)
            case AttachLink():
                return attach_link(effect, outcome, to, dependencies, so_far)
            case MoveTicket():
                return move_ticket(effect, dependencies, so_far)
            case AskPrivately():
                return ask_privately(effect, to, dependencies, so_far)
            case Invite():
                return send_invitation(effect, to, dependencies, so_far)
            case _:
                assert_never(effect)

    def _check_access_again(self, to: Destination) -> None:
        """Refuse to write for somebody who may not ask any more."""
        actors = (to.requester, *to.others)
        refusal = self._find_refusal(to.repository.ref, actors)
        if refusal is not None:
            raise PermissionDeniedError(refusal)
