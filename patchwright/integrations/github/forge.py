"""GitHub as a service where code lives: people's rights, git, pull requests."""

from urllib.parse import quote

import github.NamedUser
import github.PullRequest
import github.Repository
from pydantic import BaseModel

from patchwright.core.forge import (
    CheckReport,
    Checks,
    CompetingPullRequest,
    ForgeChecks,
    ForgeCommits,
    ForgePullMetadata,
    GitCredential,
    NewCommit,
    PullMetadata,
    PullRequestText,
)
from patchwright.core.types.errors import (
    AlreadyExistsError,
    DraftRefusedError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    ServiceError,
)
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import PullRequest, RepoRef, Repository
from patchwright.integrations.github.checks import fetch_checks, report_check
from patchwright.integrations.github.client import GitHubClient
from patchwright.integrations.github.commits import commit_on_branch
from patchwright.integrations.github.pull_metadata import (
    add_pull_metadata,
    fetch_change_requesters,
    fetch_competing_pulls,
    fetch_milestone,
    request_review,
)
from patchwright.integrations.github.repository import (
    fetch_commit_message,
    fetch_file,
    fetch_repository,
    has_branch,
)
from patchwright.integrations.github.webhooks.payloads import GHOST

# Any name will do beside a token; this one is what GitHub's pages say.
# https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/authenticating-as-a-github-app-installation
GIT_USER = "x-access-token"


class _GrantUser(BaseModel):
    id: int


class _PermissionAnswer(BaseModel):
    """An answer about somebody's rights.

    `permission` is one of the old four, the highest of all that teams, organization
    and enterprise grant; `role_name` may be finer, or the name of a role that an
    organization made for itself.
    https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user
    """

    permission: str
    role_name: str = ""
    user: _GrantUser | None = None


class GitHubForge:
    """A `Forge` with every capability."""

    def __init__(self, api: GitHubClient) -> None:
        self._api = api

    @property
    def checks(self) -> ForgeChecks:
        return self

    @property
    def pull_metadata(self) -> ForgePullMetadata:
        return self

    @property
    def commits(self) -> ForgeCommits:
        return self

    def fetch_permission(self, repo: RepoRef, actor: Actor) -> Permission:
        try:
            grant = self._api.ask(repo, lambda found: _fetch_permission(found, actor))
        except NotFoundError:
            return Permission.NONE
        return _permission_of(grant, actor)

    def fetch_repository(self, repo: RepoRef) -> Repository:
        return fetch_repository(self._api, repo)

    def fetch_pull_request(self, repo: RepoRef, number: int) -> PullRequest:
        return self._api.ask(
            repo, lambda found: self._pull_request(repo, found.get_pull(number))
        )

    def mint_credential(self, repo: RepoRef) -> GitCredential:
        """Return a new token where there can be one: a long push must not outlive it.

        A token that was given to us is returned as it is.
        """
        return GitCredential(
            username=GIT_USER, token=self._api.tokens.fetch_lasting(repo)
        )

    def find_pull_request(self, repo: RepoRef, head_branch: str) -> PullRequest | None:
        owner = repo.full_name.partition("/")[0]
        head = f"{owner}:{head_branch}"
        found = self._api.ask(
            repo,
            lambda asked: [
                self._pull_request(repo, pull)
                for pull in asked.get_pulls(state="open", head=head)
            ],
        )
        # The filter knows owners, not repositories: an owner may have forked itself.
        own = (p for p in found if p.same_repository and p.head_branch == head_branch)
        return next(own, None)

    def open_pull_request(
        self, repo: RepoRef, head_branch: str, base_branch: str, text: PullRequestText
    ) -> PullRequest:
        """Open it, or update the one that is there already.

        Where a repository's plan has no drafts it is opened as ready; what is
        returned says so.
        """
        try:
            return self._create(repo, head_branch, base_branch, text)
        except AlreadyExistsError as error:
            return self._update_existing(repo, head_branch, text, error)
        except DraftRefusedError:
            if not text.draft:
                raise
        ready = text.replace(draft=False)
        return self._create(repo, head_branch, base_branch, ready)

    def update_pull_request(
        self, repo: RepoRef, number: int, text: PullRequestText
    ) -> PullRequest:
        """Replace its texts, and make it a draft or ready if GitHub lets us."""

        def update(found: github.Repository.Repository) -> PullRequest:
            pull = found.get_pull(number)
            pull.edit(title=text.title, body=text.body)
            return self._pull_request(repo, pull)

        updated = self._api.ask(repo, update)
        if updated.draft == text.draft:
            return updated
        return self._set_draft(repo, updated, text)

    def fetch_file(self, repo: RepoRef, path: str, ref: str = "") -> bytes | None:
        return fetch_file(self._api, repo, path, ref)

    def has_branch(self, repo: RepoRef, branch: str) -> bool:
        return has_branch(self._api, repo, branch)

    def fetch_commit_message(self, repo: RepoRef, sha: str) -> str | None:
        return fetch_commit_message(self._api, repo, sha)

    def set_pull_metadata(
        self, repo: RepoRef, number: int, pull_metadata: PullMetadata
    ) -> tuple[str, ...]:
        return add_pull_metadata(self._api, repo, number, pull_metadata)

    def fetch_milestone(self, repo: RepoRef, issue: int) -> int | None:
        return fetch_milestone(self._api, repo, issue)

    def request_review(
        self, repo: RepoRef, number: int, reviewers: tuple[str, ...]
    ) -> None:
        request_review(self._api, repo, number, reviewers)

    def fetch_change_requesters(self, repo: RepoRef, number: int) -> tuple[str, ...]:
        return fetch_change_requesters(self._api, repo, number)

    def fetch_competing_pulls(
        self, repo: RepoRef, issue: int
    ) -> tuple[CompetingPullRequest, ...]:
        return fetch_competing_pulls(self._api, repo, issue)

    def fetch_checks(self, repo: RepoRef, sha: str) -> Checks:
        return fetch_checks(self._api, repo, sha)

    def report_check(self, repo: RepoRef, sha: str, report: CheckReport) -> None:
        report_check(self._api, repo, sha, report)

    def commit_on_branch(self, repo: RepoRef, branch: str, commit: NewCommit) -> str:
        return commit_on_branch(self._api, repo, branch, commit)

    def _set_draft(
        self, repo: RepoRef, pull_request: PullRequest, text: PullRequestText
    ) -> PullRequest:
        def turn(found: github.Repository.Repository) -> None:
            pull = found.get_pull(pull_request.number)
            if text.draft:
                pull.convert_to_draft()
            else:
                pull.mark_ready_for_review()

        try:
            self._api.ask(repo, turn)
        except (InvalidRequestError, PermissionDeniedError):
            return pull_request
        return pull_request.replace(draft=text.draft)

    def _create(
        self, repo: RepoRef, head_branch: str, base_branch: str, text: PullRequestText
    ) -> PullRequest:
        return self._api.ask(
            repo,
            lambda found: self._pull_request(
                repo,
                found.create_pull(
                    base_branch,
                    head_branch,
                    title=text.title,
                    body=text.body,
                    draft=text.draft,
                ),
            ),
        )

    def _update_existing(
        self,
        repo: RepoRef,
        head_branch: str,
        text: PullRequestText,
        cause: ServiceError,
    ) -> PullRequest:
        twin = self.find_pull_request(repo, head_branch)
        if twin is None:
            raise cause
        return self.update_pull_request(repo, twin.number, text)

    def _pull_request(
        self, repo: RepoRef, pull: github.PullRequest.PullRequest
    ) -> PullRequest:
        number, head = pull.number, pull.head
        # Null when the fork was deleted.
        source: github.Repository.Repository | None = head.repo
        return PullRequest(
            head_repo=RepoRef(forge=repo.forge, full_name=source.full_name)
            if source is not None
            else None,
            maintainers_may_push=pull.maintainer_can_modify,
            conflicts=_conflicts(pull),
            is_open=pull.state == "open",
            is_merged=bool(pull.merged_at),
            author=_login(pull.user),
            title=pull.title,
            body=pull.body or "",
            number=number,
            url=self._api.addresses.pull_request_url(repo.full_name, number),
            head_branch=head.ref,
            base_branch=pull.base.ref,
            head_sha=head.sha,
            draft=pull.draft,
            same_repository=source is not None and source.id == pull.base.repo.id,
        )


def _conflicts(pull: github.PullRequest.PullRequest) -> bool | None:
    # Null while GitHub finds out.
    mergeable: bool | None = pull.mergeable
    return None if mergeable is None else not mergeable


def _login(user: github.NamedUser.NamedUser | None) -> str:
    return GHOST if user is None else user.login


def _fetch_permission(
    found: github.Repository.Repository, actor: Actor
) -> _PermissionAnswer:
    login = quote(actor.login, safe="")
    _, answer = found.requester.requestJsonAndCheck(
        "GET", f"{found.url}/collaborators/{login}/permission"
    )
    return _PermissionAnswer.model_validate(answer)


def _permission_of(grant: _PermissionAnswer, actor: Actor) -> Permission:
    # The login may have passed to another person since they wrote.
    if grant.user and actor.external_id and str(grant.user.id) != actor.external_id:
        return Permission.NONE
    # A role of an organization's own may have any name: it must not grant more.
    if _BASES.get(grant.role_name) == grant.permission:
        return Permission(grant.role_name)
    known = {permission.value for permission in Permission}
    return Permission(grant.permission if grant.permission in known else "none")


_BASES = {Permission.TRIAGE.value: "read", Permission.MAINTAIN.value: "write"}
