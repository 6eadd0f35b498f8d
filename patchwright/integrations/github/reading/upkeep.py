"""Read what asks for nothing and still matters: pushes, access, moved repositories."""

from typing import Annotated

from pydantic import Field, StringConstraints, TypeAdapter

from patchwright.core.types.threads import RepoRef
from patchwright.core.types.triggers import (
    BaseMoved,
    ConsentRevoked,
    Ignored,
    InstallationChanged,
    ParsedWebhook,
    RepositoryMoved,
)
from patchwright.integrations.github.payloads import (
    InstallationPayload,
    GitHubModel,
    RepositoryPayload,
    GitHubUser,
)
from patchwright.integrations.github.reading.listening import (
    SERVICE,
    GitHubTriggerRules,
    actor_of,
)
from patchwright.integrations.github.reading.scene import installation_id_of, repo_ref_of

_BRANCH = "refs/heads/"

_Login = Annotated[str, StringConstraints(pattern=r"(?-u)^[\w-]+$")]
_Name = Annotated[str, StringConstraints(pattern=r"(?-u)^[\w.-]*[\w-][\w.-]*$")]


class _Push(GitHubModel):
    ref: str
    after: str = ""
    deleted: bool = False
    repository: RepositoryPayload
    installation: InstallationPayload | None = None


class _InstallationDelivery(GitHubModel):
    """`repositories` is where the App was, `repositories_removed` where it was cut."""

    action: str = ""
    installation: InstallationPayload
    repositories: list[RepositoryPayload] = []
    repositories_removed: list[RepositoryPayload] = []


class _AuthorizationDelivery(GitHubModel):
    action: str = ""
    sender: GitHubUser


class _OwnerAccount(GitHubModel):
    login: _Login


class _Owner(GitHubModel):
    user: _OwnerAccount | None = None
    organization: _OwnerAccount | None = None


class _OwnerChange(GitHubModel):
    old: _Owner = Field(default=_Owner(), alias="from")


class _OldName(GitHubModel):
    old: _Name = Field(alias="from")


class _NameChange(GitHubModel):
    name: _OldName | None = None


class _RepositoryChanges(GitHubModel):
    repository: _NameChange = _NameChange()
    owner: _OwnerChange = _OwnerChange()


class _RepositoryDelivery(GitHubModel):
    action: str = ""
    repository: RepositoryPayload
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
    """Return the full name as it was; only what has changed is told."""
    owner, _, name = new.partition("/")
    giver = changes.owner.old.user or changes.owner.old.organization
    renaming = changes.repository.name
    return f"{giver.login if giver else owner}/{renaming.old if renaming else name}"
