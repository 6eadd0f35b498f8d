"""Read what happens to a repository: checks, pushes, access, a new name."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, TypeAdapter

from patchwright.core.types.threads import RepoRef, ThreadKind
from patchwright.core.types.triggers import (
    BaseMoved,
    ConsentRevoked,
    Ignored,
    InstallationChanged,
    ParsedWebhook,
    RepositoryMoved,
    StatusReported,
    TriggerKind,
)
from patchwright.integrations.github.webhooks import payloads
from patchwright.integrations.github.webhooks.triggers import (
    SERVICE,
    GitHubTriggerRules,
    ThreadContext,
    actor_of,
    installation_id_of,
    repo_ref_of,
)


class _RepositoryId(payloads.GitHubModel):
    id: int = 0


class _BranchEnd(payloads.GitHubModel):
    sha: str = ""
    repo: _RepositoryId = _RepositoryId()


class _SuitePullRequest(payloads.GitHubModel):
    number: int
    head: _BranchEnd = _BranchEnd()
    base: _BranchEnd = _BranchEnd()


class _Suite(payloads.GitHubModel):
    id: int
    head_sha: str
    app: payloads.AppPayload | None = None
    pull_requests: list[_SuitePullRequest] = []


class _SuiteDelivery(payloads.GitHubDelivery):
    check_suite: _Suite


class _StatusBranch(payloads.NamedPayload):
    commit: _BranchEnd


class _StatusDelivery(payloads.GitHubDelivery):
    id: int
    sha: str
    state: Literal["error", "failure", "pending", "success"]
    branches: list[_StatusBranch] = []


_SUITE = TypeAdapter(_SuiteDelivery)
_STATUS = TypeAdapter(_StatusDelivery)


def read_check_suite(body: bytes, rules: GitHubTriggerRules) -> ParsedWebhook:
    delivery = _SUITE.validate_json(body)
    suite = delivery.check_suite
    if delivery.action != "completed":
        return Ignored(reason="action-not-read")
    if suite.app is not None and rules.is_own(suite.app.slug):
        return Ignored(reason="own-checks")
    proposal = _find_pull_request(suite, delivery.repository.id)
    if proposal is None:
        return Ignored(reason="no-pull-request")
    thread = payloads.ThreadPayload(number=proposal.number)
    context = ThreadContext(delivery, thread, ThreadKind.PULL_REQUEST)
    # The suites of one commit end one after the other.
    name = f"{TriggerKind.CHECKS}:{suite.head_sha}:{suite.id}"
    trigger = context.trigger(name, TriggerKind.CHECKS, delivery.sender)
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


_BRANCH = "refs/heads/"

_Login = Annotated[str, StringConstraints(pattern=r"(?-u)^[\w-]+$")]
_Name = Annotated[str, StringConstraints(pattern=r"(?-u)^[\w.-]*[\w-][\w.-]*$")]


class _Push(payloads.GitHubModel):
    ref: str
    after: str = ""
    deleted: bool = False
    repository: payloads.RepositoryPayload
    installation: payloads.InstallationPayload | None = None


class _InstallationDelivery(payloads.GitHubModel):
    """`repositories` is where the App was, `repositories_removed` where it was cut."""

    action: str = ""
    installation: payloads.InstallationPayload
    repositories: list[payloads.RepositoryPayload] = []
    repositories_removed: list[payloads.RepositoryPayload] = []


class _AuthorizationDelivery(payloads.GitHubModel):
    action: str = ""
    sender: payloads.GitHubUser


class _OwnerAccount(payloads.GitHubModel):
    login: _Login


class _Owner(payloads.GitHubModel):
    user: _OwnerAccount | None = None
    organization: _OwnerAccount | None = None


class _OwnerChange(payloads.GitHubModel):
    old: _Owner = Field(default=_Owner(), alias="from")


class _OldName(payloads.GitHubModel):
    old: _Name = Field(alias="from")


class _NameChange(payloads.GitHubModel):
    name: _OldName | None = None


class _RepositoryChanges(payloads.GitHubModel):
    repository: _NameChange = _NameChange()
    owner: _OwnerChange = _OwnerChange()


class _RepositoryDelivery(payloads.GitHubModel):
    action: str = ""
    repository: payloads.RepositoryPayload
    changes: _RepositoryChanges = _RepositoryChanges()


_PUSH = TypeAdapter(_Push)
_INSTALLATION = TypeAdapter(_InstallationDelivery)
_AUTHORIZATION = TypeAdapter(_AuthorizationDelivery)
_REPOSITORY = TypeAdapter(_RepositoryDelivery)


def read_push(body: bytes, _: GitHubTriggerRules) -> ParsedWebhook:
    push = _PUSH.validate_json(body)
    if not push.ref.startswith(_BRANCH):
        return Ignored(reason="no-branch")
    if push.deleted:
        return Ignored(reason="branch-deleted")
    return BaseMoved(
        repo=repo_ref_of(push.repository),
        branch=push.ref.removeprefix(_BRANCH),
        sha=push.after,
        installation=installation_id_of(push.installation),
    )


def read_installation(body: bytes, _: GitHubTriggerRules) -> ParsedWebhook:
    delivery = _INSTALLATION.validate_json(body)
    if delivery.action not in {"deleted", "suspend"}:
        return Ignored(reason="installation-noted")
    return InstallationChanged(
        installation=str(delivery.installation.id),
        gone=True,
        repos=tuple(map(repo_ref_of, delivery.repositories)),
    )


def read_installation_repositories(body: bytes, _: GitHubTriggerRules) -> ParsedWebhook:
    delivery = _INSTALLATION.validate_json(body)
    if delivery.action != "removed":
        return Ignored(reason="installation-noted")
    return InstallationChanged(
        installation=str(delivery.installation.id),
        gone=False,
        repos=tuple(map(repo_ref_of, delivery.repositories_removed)),
    )


def read_app_authorization(body: bytes, _: GitHubTriggerRules) -> ParsedWebhook:
    delivery = _AUTHORIZATION.validate_json(body)
    if delivery.action != "revoked":
        return Ignored(reason="action-not-read")
    return ConsentRevoked(person=actor_of(delivery.sender))


def read_repository(body: bytes, _: GitHubTriggerRules) -> ParsedWebhook:
    delivery = _REPOSITORY.validate_json(body)
    if delivery.action not in {"renamed", "transferred"}:
        return Ignored(reason="action-not-read")
    new = delivery.repository.full_name
    old = _old_name(delivery.changes, new)
    if old == new:
        return Ignored(reason="move-not-told")
    return RepositoryMoved(
        old=RepoRef(forge=SERVICE, full_name=old),
        new=repo_ref_of(delivery.repository),
        id=str(delivery.repository.id or ""),
    )


def _old_name(changes: _RepositoryChanges, new: str) -> str:
    """Return the old full name; the payload has only what changed."""
    owner, _, name = new.partition("/")
    giver = changes.owner.old.user or changes.owner.old.organization
    renaming = changes.repository.name
    return f"{giver.login if giver else owner}/{renaming.old if renaming else name}"
