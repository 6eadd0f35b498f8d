"""Decide what is made visible outside when a task has ended."""

from typing import Annotated, Literal

from pydantic import Field

from patchwright.core.types.base import Value
from patchwright.core.types.work import Outcome, OutcomeKind, Proof
from patchwright.resolver.target import Target


class PushBranch(Value):
    """Put `sha` on `branch`; with `expect` only if the branch is still there.

    `fork` is the repository of the branch where it is not the thread's own.
    """

    kind: Literal["push_branch"] = "push_branch"
    branch: str
    sha: str
    expect: str = ""
    fork: str = ""


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


class AdornPullRequest(Value):
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
    """Replace the status comment by how it ended."""

    kind: Literal["final_message"] = "final_message"


class Ping(Value):
    """Call the requester once: an edited comment notifies nobody."""

    kind: Literal["ping"] = "ping"


Effect = Annotated[
    PushBranch
    | OpenPullRequest
    | UpdatePullRequest
    | AdornPullRequest
    | AnswerReviews
    | ReportCheck
    | SwapLabels
    | FinalMessage
    | Ping,
    Field(discriminator="kind"),
]


def plan_effects(outcome: Outcome, target: Target) -> tuple[Effect, ...]:
    """List the effects in their order; the last one is always the final message.

    Work that ended early is kept on its branch, without asking anybody to review it.
    """
    effects: list[Effect] = []
    if outcome.head_sha:
        effects.append(
            PushBranch(
                branch=target.branch,
                sha=outcome.head_sha,
                expect=outcome.base_sha if target.moves_branch else "",
            )
        )
        effects.extend(_pull_request(outcome, target))
    return (*effects, FinalMessage())


def _pull_request(outcome: Outcome, target: Target) -> list[Effect]:
    draft = outcome.proof is not Proof.PROVEN
    if outcome.kind is not OutcomeKind.RESOLVED:
        return []
    if target.own_pull_request and target.pull_request is not None:
        return [UpdatePullRequest(number=target.pull_request, draft=draft)]
    if not target.opens_pull_request:
        return []
    return [
        OpenPullRequest(
            branch=target.branch, base_branch=target.base_branch, draft=draft
        )
    ]
