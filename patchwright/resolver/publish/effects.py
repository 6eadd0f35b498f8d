"""Everything a run makes visible outside, and what is due when its task has ended."""

from typing import Annotated, Final, Literal, assert_never

from pydantic import Field

from patchwright.core.channel import Offer
from patchwright.core.settings.repository import DeliveryMode, RepositoryConfig
from patchwright.core.types.base import Value
from patchwright.core.types.evidence import EvidenceRole, Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.threads import TalkThread, ThreadRef
from patchwright.core.types.work import Outcome
from patchwright.resolver.publish.target import RunTarget

_WITHOUT_BRANCH: Final = (DeliveryMode.PATCH, DeliveryMode.NONE)
DEFAULT_CONFIG: Final = RepositoryConfig()
# Only who came to an end of their own has an answer to reviewers, change or none.
_OWN_ENDS: Final = (OutcomeKind.RESOLVED, OutcomeKind.ANSWERED, OutcomeKind.NO_CHANGE)


class PushBranch(Value):
    """Put `sha` on `branch`; with `expect` only if the branch is still there.

    `fork` is the repository of the branch where it is not the thread's own, and
    `pull_request` the number of the one that must still be open.
    """

    kind: Literal["push_branch"] = "push_branch"
    branch: str
    sha: str
    expect: str = ""
    fork: str = ""
    pull_request: int | None = None


class OpenPullRequest(Value):
    """Open a pull request from the branch that was pushed."""

    kind: Literal["open_pull_request"] = "open_pull_request"
    branch: str
    base_branch: str
    draft: bool


class UpdatePullRequest(Value):
    """Describe our open pull request anew."""

    kind: Literal["update_pull_request"] = "update_pull_request"
    number: int
    draft: bool


class RefreshEvidence(Value):
    """Say in our pull request what is shown of its head, which others have pushed.

    Where it does not end in `sha` any more, there is something newer to be said.
    """

    kind: Literal["refresh_evidence"] = "refresh_evidence"
    number: int
    sha: str


class SetPullMetadata(Value):
    """Put reviewers, labels, assignees and milestone on our pull request."""

    kind: Literal["adorn_pull_request"] = "adorn_pull_request"


class AnswerReviews(Value):
    """Answer each review thread, and settle those that were seen to."""

    kind: Literal["answer_reviews"] = "answer_reviews"
    number: int


class ReportCheck(Value):
    """Say in the pull request's list of checks how the run ended."""

    kind: Literal["report_check"] = "report_check"
    sha: str


class SwapLabels(Value):
    """Show by the thread's labels how the run ended."""

    kind: Literal["swap_labels"] = "swap_labels"


class FinalMessage(Value):
    """Replace the status comment by how it ended, or by a question and its answers."""

    kind: Literal["final_message"] = "final_message"
    offers: tuple[Offer, ...] = ()


class Ping(Value):
    """Call the requester once: an edited comment notifies nobody."""

    kind: Literal["ping"] = "ping"


class CrossPost(Value):
    """Say in short how it ended in another thread of the conversation."""

    kind: Literal["mirror_message"] = "mirror_message"
    thread: ThreadRef


class AttachLink(Value):
    """Show the pull request beside a ticket."""

    kind: Literal["attach_link"] = "attach_link"
    thread: TalkThread


class MoveTicket(Value):
    """Bring a ticket to a status; with `with_pull` only if there is a pull request."""

    kind: Literal["move_ticket"] = "move_ticket"
    thread: TalkThread
    status: str
    with_pull: bool = True


class AskPrivately(Value):
    """Ask the requester what nobody else need read."""

    kind: Literal["ask_privately"] = "ask_privately"
    text: str
    offers: tuple[Offer, ...] = ()


class Invite(Value):
    """Ask the requester, privately, to show who they are on the forge.

    With `renews` they have done so, and it does not count any more.
    """

    kind: Literal["invite"] = "invite"
    renews: bool = False


class UnknownEffect(Value):
    """Stands for one that another version has planned and this one cannot read."""

    kind: Literal["unknown"] = "unknown"


class Acknowledge(Value):
    """React to the request of that key: it was seen."""

    kind: Literal["acknowledge"] = "acknowledge"
    request: str


class Decline(Value):
    """React to the request of that key: it is not followed."""

    kind: Literal["decline"] = "decline"
    request: str


class OpenThread(Value):
    """Begin the thread that a request names only for want of one."""

    kind: Literal["open_thread"] = "open_thread"
    thread: TalkThread


class ShowStatus(Value):
    """Post the comment that shows in a thread how far the run is.

    It is one effect, however often the comment is edited while the run goes on.
    """

    kind: Literal["show_status"] = "show_status"
    thread: ThreadRef


class SetStartLabels(Value):
    """Show by the thread's labels that a run works on it."""

    kind: Literal["set_start_labels"] = "set_start_labels"


class StartTicket(Value):
    """Bring a ticket to the status of what is worked on."""

    kind: Literal["start_ticket"] = "start_ticket"
    thread: TalkThread
    status: str


class BeginCheck(Value):
    """Say in the pull request's list of checks that a run works on the commit."""

    kind: Literal["begin_check"] = "begin_check"
    sha: str


class PostAnswer(Value):
    """Answer what somebody has asked about the run with the event of that id."""

    kind: Literal["answer_question"] = "answer_question"
    event_id: int


class FlagEvidence(Value):
    """Say in our pull request that its evidence is of an earlier commit than `sha`."""

    kind: Literal["flag_evidence"] = "flag_evidence"
    number: int
    sha: str


class InviteFollower(Value):
    """Ask who made the request of that key, privately, to show who they are."""

    kind: Literal["invite_follower"] = "invite_follower"
    request: str


# What is written where others build on it, and what is said of it.
RepositoryEffect = (
    PushBranch
    | OpenPullRequest
    | UpdatePullRequest
    | RefreshEvidence
    | SetPullMetadata
    | AnswerReviews
)
NotificationEffect = (
    ReportCheck
    | SwapLabels
    | FinalMessage
    | Ping
    | CrossPost
    | AttachLink
    | MoveTicket
    | AskPrivately
    | Invite
)
# What is shown while the run goes on; what shows the end takes the place of it.
RunEffect = (
    Acknowledge
    | Decline
    | OpenThread
    | ShowStatus
    | SetStartLabels
    | StartTicket
    | BeginCheck
    | PostAnswer
    | InviteFollower
    | FlagEvidence
)
Effect = Annotated[
    RepositoryEffect | NotificationEffect | RunEffect | UnknownEffect,
    Field(discriminator="kind"),
]


def run_effect_key(effect: RunEffect, part: int) -> str:
    """Return what tells an effect from the others of its job.

    `part` counts what was done at the end of earlier parts of the job, between which it
    waited for people: labels, tickets and checks are set anew after that.
    """
    match effect:
        case Acknowledge() | Decline() | InviteFollower():
            return f"{effect.kind}:{effect.request}"
        case PostAnswer():
            return f"{effect.kind}:{effect.event_id}"
        case OpenThread() | ShowStatus():
            return f"{effect.kind}:{effect.thread}"
        case SetStartLabels():
            return f"{effect.kind}:{part}"
        case StartTicket():
            return f"{effect.kind}:{part}:{effect.thread}:{effect.status}"
        case BeginCheck():
            return f"{effect.kind}:{part}:{effect.sha}"
        case FlagEvidence():
            return f"{effect.kind}:{effect.number}:{effect.sha}"
        case _:
            assert_never(effect)


class NotificationPlan(Value):
    """How much is shown besides the final message, and where.

    `swaps_labels` and `pings` are about the thread. `check_sha` is the commit of a
    pull request that the run has worked on, empty where there is none. `reviews_of` is
    the number of the one whose review threads the task has shown. `mirrors` are the
    other threads that are told, `tickets` those that get the link to a pull request,
    and `moves` what it brings some of them to.
    """

    swaps_labels: bool = False
    pings: bool = False
    check_sha: str = ""
    reviews_of: int | None = None
    mirrors: tuple[ThreadRef, ...] = ()
    tickets: tuple[TalkThread, ...] = ()
    moves: tuple[MoveTicket, ...] = ()


NO_NOTIFICATIONS: Final = NotificationPlan()


def plan_effects(
    outcome: Outcome,
    target: RunTarget | None,
    config: RepositoryConfig = DEFAULT_CONFIG,
    notification: NotificationPlan = NO_NOTIFICATIONS,
) -> tuple[Effect, ...]:
    """List the effects in their order: what is written first, then what is said.

    Work that ended early is kept on its branch, without asking anybody to review it.
    Without a target nothing is written.
    """
    effects: list[Effect] = []
    if target is not None and not outcome.waits:
        effects += _repository_effects(outcome, target, config)
    shows_pull = _shows_pull_request(effects)
    # Before the final message, which says which of them did not go there.
    effects += notification.moves if shows_pull else ()
    if notification.reviews_of is not None and outcome.kind in _OWN_ENDS:
        effects.append(AnswerReviews(number=notification.reviews_of))
    if notification.check_sha:
        effects.append(ReportCheck(sha=notification.check_sha))
    if notification.swaps_labels:
        effects.append(SwapLabels())
    effects.append(FinalMessage())
    effects += [CrossPost(thread=one) for one in notification.mirrors]
    if notification.pings:
        effects.append(Ping())
    if shows_pull:
        effects += [AttachLink(thread=one) for one in notification.tickets]
    return tuple(effects)


def _shows_pull_request(effects: list[Effect]) -> bool:
    return any(isinstance(one, OpenPullRequest | UpdatePullRequest) for one in effects)


def _repository_effects(
    outcome: Outcome, target: RunTarget, config: RepositoryConfig
) -> list[Effect]:
    effects: list[Effect] = []
    is_written = not outcome.as_patch and config.deliver not in _WITHOUT_BRANCH
    if outcome.head_sha and is_written:
        effects.append(
            PushBranch(
                branch=target.branch,
                sha=outcome.head_sha,
                expect=outcome.base_sha if target.moves_branch else "",
                fork=target.fork,
                pull_request=target.pull_request if target.moves_branch else None,
            )
        )
        effects += _pull_request_effects(outcome, target, config)
    return effects


def _pull_request_effects(
    outcome: Outcome, target: RunTarget, config: RepositoryConfig
) -> list[Effect]:
    if not outcome.proposes_change:
        return []
    draft = is_draft(outcome, config)
    if target.own_pull_request and target.pull_request is not None:
        described = UpdatePullRequest(number=target.pull_request, draft=draft)
        return [described, SetPullMetadata()] if target.sets_metadata else [described]
    if not target.opens_pull_request or config.deliver is DeliveryMode.BRANCH:
        return []
    opened = OpenPullRequest(
        branch=target.branch, base_branch=target.base_branch, draft=draft
    )
    return [opened, SetPullMetadata()]


def is_draft(outcome: Outcome, config: RepositoryConfig) -> bool:
    """Tell whether a change must not be merged yet: what is in doubt must not.

    A wish for a ready pull request does not replace the proof that is required.
    """
    in_doubt = outcome.warnings or outcome.proof is Proof.CONTRADICTED
    if config.deliver is DeliveryMode.DRAFT or in_doubt:
        return True
    if outcome.proof is Proof.PROVEN:
        return False
    match config.evidence:
        case "required":
            return True
        case "best-effort":
            return _is_refuted(outcome)
        case "off":
            return config.deliver is not DeliveryMode.READY
        case other:
            assert_never(other)


def _is_refuted(outcome: Outcome) -> bool:
    """Tell whether a command that was named for a change fails with it."""
    after = [one for one in outcome.evidence if one.role is EvidenceRole.AFTER]
    return any(one.exit_code != 0 for one in after)
