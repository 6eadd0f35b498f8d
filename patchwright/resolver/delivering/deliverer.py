"""Perform the effects of a task, each of which may be asked for again."""

from functools import partial
from typing import Final, assert_never

from patchwright.core.errors import (
    AuthenticationError,
    GitError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    UnknownEffectError,
)
from patchwright.core.types.work import Outcome
from patchwright.resolver.admission import Declined, Policy
from patchwright.resolver.delivering.concealing import for_the_public, for_the_thread
from patchwright.resolver.delivering.destination import Destination, Means
from patchwright.resolver.delivering.marking import report_check, swap_labels
from patchwright.resolver.delivering.naming import as_delivered
from patchwright.resolver.delivering.pulls import (
    adorn_pull_request,
    open_pull_request,
    update_pull_request,
)
from patchwright.resolver.delivering.pushing import push
from patchwright.resolver.delivering.reviews import answer_reviews
from patchwright.resolver.delivering.saying import ping, say
from patchwright.resolver.delivering.talking import (
    ask_privately,
    attach_link,
    invite,
    mirror,
    move_ticket,
)
from patchwright.resolver.effects import (
    AdornPullRequest,
    AnswerReviews,
    AskPrivately,
    AttachLink,
    Effect,
    FinalMessage,
    Invite,
    MirrorMessage,
    MoveTicket,
    OpenPullRequest,
    Ping,
    PushBranch,
    ReportCheck,
    SwapLabels,
    Telling,
    UnknownEffect,
    UpdatePullRequest,
    Writing,
)
from patchwright.resolver.house import judge
from patchwright.resolver.messages.status import Delivered


def unwritten(effect: Writing, why: str, so_far: Delivered) -> Delivered:
    """Note what was refused; where only the trimmings are missing the rest is there."""
    match effect:
        case AdornPullRequest():
            missing = f"Reviewers, labels and assignees may be missing: {why}"
        case AnswerReviews():
            missing = f"The review threads could not be answered: {why}"
        case _:
            return so_far.replace(refusal=why)
    remark = f"{missing.rstrip('.')}."
    return so_far.replace(remarks=(*so_far.remarks, remark))


_UNKNOWN: Final = "another version has planned this; upgrade the worker to carry it out"


class Deliverer:
    """Performs one run's effects, each of which may be asked for again."""

    def __init__(self, means: Means, policy: Policy) -> None:
        self._means, self._policy = means, policy

    def perform(
        self, effect: Effect, outcome: Outcome, to: Destination, so_far: Delivered
    ) -> Delivered:
        """Do one effect and return what there is to show now.

        A refusal that asking again would not change is part of the result; the errors
        that leaves are worth another try later.
        """
        if isinstance(effect, UnknownEffect):
            raise UnknownEffectError(_UNKNOWN)
        outcome = as_delivered(outcome, so_far)
        if isinstance(effect, Telling):
            return self._tell(effect, for_the_thread(outcome, to), to, so_far)
        if so_far.refusal or so_far.left_alone:
            return so_far
        try:
            self._judge_again(to)
            return self._write(effect, for_the_public(outcome, to.hidden), to, so_far)
        except (
            AuthenticationError,
            InvalidRequestError,
            PermissionDeniedError,
            NotFoundError,
            GitError,
        ) as error:
            return unwritten(effect, str(error), so_far)

    def _write(
        self, effect: Writing, outcome: Outcome, to: Destination, so_far: Delivered
    ) -> Delivered:
        means = self._means
        match effect:
            case PushBranch():
                return push(effect, outcome, to, means)
            case OpenPullRequest():
                return open_pull_request(effect, outcome, to, means, so_far)
            case UpdatePullRequest():
                return update_pull_request(effect, outcome, to, means, so_far)
            case AdornPullRequest():
                return adorn_pull_request(to, means, so_far)
            case AnswerReviews():
                return answer_reviews(effect, outcome, to, means, so_far)
            case _:
                assert_never(effect)

    def _tell(
        self, effect: Telling, outcome: Outcome, to: Destination, so_far: Delivered
    ) -> Delivered:
        """Say how it ended, which is due whatever became of the rest."""
        means = self._means
        match effect:
            case ReportCheck():
                return report_check(effect, outcome, to, means, so_far)
            case SwapLabels():
                return swap_labels(outcome, to, means, so_far)
            case FinalMessage():
                return say(outcome, to, means, so_far)
            case Ping():
                return ping(outcome, to, means, so_far)
            case MirrorMessage():
                return mirror(effect, outcome, to, means, so_far)
            case AttachLink():
                return attach_link(effect, outcome, to, means, so_far)
            case MoveTicket():
                return move_ticket(effect, means, so_far)
            case AskPrivately():
                return ask_privately(effect, to, means, so_far)
            case Invite():
                return invite(effect, to, means, so_far)
            case _:
                assert_never(effect)

    def _judge_again(self, to: Destination) -> None:
        """Refuse to write for somebody who may not ask any more."""
        ask = partial(self._means.forge.fetch_permission, to.repository.ref)
        judged = judge((to.requester, *to.others), self._policy, ask)
        if isinstance(judged, Declined):
            raise PermissionDeniedError(judged.text)
