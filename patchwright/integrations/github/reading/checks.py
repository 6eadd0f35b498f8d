"""Read that checks of a commit have ended.

Whether they failed, and whether others still run, is looked up when there is time: the
last one to end may well be one that passed.

Each run of a workflow has a check suite of its own, so that suites tell of Actions and
of other Apps alike. Services that are no App set a status instead, the older kind.
https://docs.github.com/en/rest/guides/using-the-rest-api-to-interact-with-checks
"""

from typing import Literal

from pydantic import TypeAdapter

from patchwright.core.types.threads import ThreadKind
from patchwright.core.types.triggers import (
    Ignored,
    ParsedWebhook,
    StatusReported,
    TriggerKind,
)
from patchwright.integrations.github.payloads import (
    GitHubDelivery,
    NamedPayload,
    GitHubModel,
    AppPayload,
    ThreadPayload,
)
from patchwright.integrations.github.reading.listening import GitHubTriggerRules
from patchwright.integrations.github.reading.scene import ThreadContext, installation_id_of, repo_ref_of


class _RepositoryId(GitHubModel):
    id: int = 0


class _BranchEnd(GitHubModel):
    sha: str = ""
    repo: _RepositoryId = _RepositoryId()


class _SuitePullRequest(GitHubModel):
    number: int
    head: _BranchEnd = _BranchEnd()
    base: _BranchEnd = _BranchEnd()


class _Suite(GitHubModel):
    id: int
    head_sha: str
    app: AppPayload | None = None
    pull_requests: list[_SuitePullRequest] = []


class _SuiteDelivery(GitHubDelivery):
    check_suite: _Suite


class _StatusBranch(NamedPayload):
    commit: _BranchEnd


class _StatusDelivery(GitHubDelivery):
    id: int
    sha: str
    state: Literal["error", "failure", "pending", "success"]
    branches: list[_StatusBranch] = []


_SUITE = TypeAdapter(_SuiteDelivery)
_STATUS = TypeAdapter(_StatusDelivery)


def read_check_suite(body: bytes, listening: GitHubTriggerRules) -> ParsedWebhook:
    delivery = _SUITE.validate_json(body)
    suite = delivery.check_suite
    if delivery.action != "completed":
        return Ignored(reason="action-not-read")
    if suite.app is not None and listening.is_own(suite.app.slug):
        return Ignored(reason="own-checks")
    proposal = _find_pull_request(suite, delivery.repository.id)
    if proposal is None:
        return Ignored(reason="no-pull-request")
    thread = ThreadPayload(number=proposal.number)
    scene = ThreadContext(delivery, thread, ThreadKind.PULL_REQUEST)
    # The suites of one commit end one after the other.
    name = f"{TriggerKind.CHECKS}:{suite.head_sha}:{suite.id}"
    trigger = scene.trigger(name, TriggerKind.CHECKS, delivery.sender)
    return trigger.replace(head_sha=suite.head_sha)


def _find_pull_request(suite: _Suite, repository: int) -> _SuitePullRequest | None:
    """Return the first pull request within this repository that ends in the commit.

    GitHub lists those with the same branch; it may have gone on since, and the list is
    empty for the branch of a fork.
    https://docs.github.com/en/webhooks/webhook-events-and-payloads#check_suite
    """
    for proposal in suite.pull_requests:
        homes = {proposal.base.repo.id, proposal.head.repo.id}
        if homes == {repository} and proposal.head.sha == suite.head_sha:
            return proposal
    return None


def read_status(body: bytes, _: GitHubTriggerRules) -> ParsedWebhook:
    """Read that a status was set, which names branches and no pull request.

    GitHub lists branches that merely contain the commit as well, ten at most.
    https://docs.github.com/en/webhooks/webhook-events-and-payloads#status
    """
    status = _STATUS.validate_json(body)
    if status.state == "pending":
        return Ignored(reason="checks-pending")
    ends = tuple(one.name for one in status.branches if one.commit.sha == status.sha)
    if not ends:
        return Ignored(reason="no-branch")
    return StatusReported(
        repo=repo_ref_of(status.repository),
        id=status.id,
        sha=status.sha,
        branches=ends,
        has_passed=status.state == "success",
        installation=installation_id_of(status.installation),
    )
