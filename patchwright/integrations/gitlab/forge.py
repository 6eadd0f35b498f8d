"""GitLab as a service where code lives: people's rights, git, merge requests."""

from typing import Final

from gitlab.v4.objects import Project

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
    InvalidRequestError,
    NotFoundError,
    ServiceError,
)
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import (
    PullRequest,
    RepoRef,
    Repository,
)
from patchwright.integrations.gitlab.answers import (
    ACTIVE,
    GHOST,
    MemberAnswer,
    MergeRequestAnswer,
    ProjectAnswer,
    UserAnswer,
    Visibility,
)
from patchwright.integrations.gitlab.checks import fetch_checks, report_check
from patchwright.integrations.gitlab.client import GitLabClient
from patchwright.integrations.gitlab.pull_metadata import (
    add_pull_metadata,
    fetch_change_requesters,
    fetch_competing_pulls,
    fetch_milestone,
    fetch_pull,
    find_user,
    request_review,
)
from patchwright.integrations.gitlab.repository import (
    fetch_commit_message,
    fetch_file,
    fetch_project,
    fetch_repository,
    has_branch,
)
from patchwright.integrations.gitlab.settings import FORMS
from patchwright.integrations.gitlab.words import as_note, as_title, without_draft

# The name beside an OAuth token; beside others any name will do.
# https://docs.gitlab.com/api/oauth2/#access-git-over-https-with-access-token
GIT_USER: Final = "oauth2"

# What a level allows at least, from the highest down; one in between, such as that of a
# role that a group made for itself, is worth what it is based on.
# https://docs.gitlab.com/user/permissions/
_LEVELS: Final = (
    (50, Permission.ADMIN),
    (40, Permission.MAINTAIN),
    (30, Permission.WRITE),
    (20, Permission.TRIAGE),
    (15, Permission.TRIAGE),
    (10, Permission.READ),
)
# From here on people read the code of private projects as well.
_READS_CODE: Final = 20
_OPEN: Final = frozenset({"opened", "locked"})
_MERGED: Final = "merged"
# As long as GitLab finds out, whether there are conflicts is not known.
# https://docs.gitlab.com/api/merge_requests/#merge-status
_NOT_KNOWN_YET: Final = frozenset(
    {"checking", "unchecked", "preparing", "cannot_be_merged_recheck"}
)


class GitLabForge:
    """A `Forge`; whatever GitLab itself signs it does not sign in our name."""

    def __init__(self, api: GitLabClient) -> None:
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
        """Return it by the number of the user: a name may have passed to another."""
        try:
            user_id = self._find_user_id(actor)
            if not user_id:
                return Permission.NONE
            member = self._api.ask(repo, lambda found: _fetch_member(found, user_id))
            if member is None or member.access_level < _LEVELS[-1][0]:
                return self._permission_of_outsider(repo, user_id)
            return self._permission_of_member(repo, member)
        except NotFoundError:
            return Permission.NONE

    def fetch_repository(self, repo: RepoRef) -> Repository:
        return fetch_repository(self._api, repo)

    def fetch_pull_request(self, repo: RepoRef, number: int) -> PullRequest:
        return self._api.ask(
            repo,
            lambda found: self._pull_request(repo, found, fetch_pull(found, number)),
        )

    def mint_credential(self, repo: RepoRef) -> GitCredential:  # noqa: ARG002 - it opens all
        return GitCredential(username=GIT_USER, token=self._api.token.secret)

    def find_pull_request(self, repo: RepoRef, head_branch: str) -> PullRequest | None:
        def find(project: Project) -> PullRequest | None:
            listed = project.mergerequests.list(
                iterator=True, state="opened", source_branch=head_branch
            )
            for one in listed:
                found = MergeRequestAnswer.model_validate(one.asdict())
                # A fork may have a branch of the same name.
                if found.source_project_id == found.target_project_id:
                    return self._pull_request(repo, project, found)
            return None

        return self._api.ask(repo, find)

    def open_pull_request(
        self, repo: RepoRef, head_branch: str, base_branch: str, text: PullRequestText
    ) -> PullRequest:
        """Open it, or update the one that is there already."""
        wanted = {
            "source_branch": head_branch,
            "target_branch": base_branch,
            **_fields_of(text),
        }

        def create(project: Project) -> PullRequest:
            created = project.mergerequests.create(wanted).asdict()
            found = MergeRequestAnswer.model_validate(created)
            return self._pull_request(repo, project, found)

        try:
            return self._api.ask(repo, create)
        except AlreadyExistsError as error:
            return self._update_existing(repo, head_branch, text, error)

    def update_pull_request(
        self, repo: RepoRef, number: int, text: PullRequestText
    ) -> PullRequest:
        """Replace its texts, and make it a draft or ready, which its title says."""

        def update(project: Project) -> PullRequest:
            updated = project.mergerequests.update(number, _fields_of(text))
            found = MergeRequestAnswer.model_validate(updated)
            return self._pull_request(repo, project, found)

        return self._api.ask(repo, update)

    def fetch_file(self, repo: RepoRef, path: str, ref: str = "") -> bytes | None:
        return fetch_file(self._api, repo, path, ref)

    def has_branch(self, repo: RepoRef, branch: str) -> bool:
        return has_branch(self._api, repo, branch)

    def fetch_commit_message(self, repo: RepoRef, sha: str) -> str | None:
        return fetch_commit_message(self._api, repo, sha)

    def commit_on_branch(self, repo: RepoRef, branch: str, commit: NewCommit) -> str:  # noqa: ARG002 - it is refused
        """Refuse: GitLab signs what it makes itself only where an operator set that up.

        A commit is verified by our own key instead.
        https://docs.gitlab.com/user/project/repository/signed_commits/web_commits/
        """
        raise InvalidRequestError(
            f"GitLab signs no commits on {branch} for us: set gitlab.signing_key"
        )

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

    def _find_user_id(self, actor: Actor) -> int:
        """Return the number, 0 for nobody."""
        if actor.external_id:
            return int(actor.external_id) if actor.external_id.isdecimal() else 0
        found = self._api.ask_server(lambda server: find_user(server, actor.login))
        return found.id if found else 0

    def _permission_of_member(self, repo: RepoRef, member: MemberAnswer) -> Permission:
        if (member.state, member.membership_state) != (ACTIVE, ACTIVE):
            return Permission.NONE
        found = _permission_of(member.access_level)
        if member.access_level >= _READS_CODE:
            return found
        project = fetch_project(self._api, repo)
        is_readable = project.visibility is not Visibility.PRIVATE
        return found if is_readable else Permission.NONE

    def _permission_of_outsider(self, repo: RepoRef, user_id: int) -> Permission:
        """Return what somebody may do who is no member, or a member in name only.

        Who is an administrator or an external user, GitLab tells administrators alone;
        to others nobody is one, and an internal project is closed to all outsiders.
        """
        asked = self._api.ask_server(lambda server: server.users.get(user_id).asdict())
        user = UserAnswer.model_validate(asked)
        if user.state != ACTIVE:
            return Permission.NONE
        if user.is_admin:
            return Permission.ADMIN
        project = fetch_project(self._api, repo)
        is_internal = project.visibility is Visibility.INTERNAL
        may = project.shows_code_to_all or (is_internal and user.external is False)
        return Permission.READ if may else Permission.NONE

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
        self, repo: RepoRef, project: Project, pull: MergeRequestAnswer
    ) -> PullRequest:
        is_own = pull.source_project_id == pull.target_project_id
        return PullRequest(
            kind=FORMS.pull_kind,
            head_repo=repo if is_own else _find_fork(repo, project, pull),
            maintainers_may_push=pull.takes_pushes,
            conflicts=_conflicts(pull),
            is_open=pull.state in _OPEN,
            is_merged=pull.state == _MERGED,
            author=pull.author.username if pull.author else GHOST,
            title=without_draft(pull.title),
            body=pull.description,
            number=pull.iid,
            url=self._api.addresses.merge_request_url(repo.full_name, pull.iid),
            head_branch=pull.source_branch,
            base_branch=pull.target_branch,
            head_sha=pull.sha,
            draft=pull.is_draft,
            same_repository=is_own,
        )


def _fields_of(text: PullRequestText) -> dict[str, str]:
    return {
        "title": as_title(text.title, draft=text.draft),
        "description": as_note(text.body),
    }


def _fetch_member(project: Project, user_id: int) -> MemberAnswer | None:
    """Return a member by any way, of groups above and of invited ones as well.

    https://docs.gitlab.com/api/project_members/#retrieve-a-member-including-inherited-and-invited-members
    """
    try:
        found = project.members_all.get(user_id).asdict()
    except NotFoundError:
        return None
    return MemberAnswer.model_validate(found)


def _permission_of(level: int) -> Permission:
    found = (permission for least, permission in _LEVELS if level >= least)
    return next(found, Permission.NONE)


def _find_fork(
    repo: RepoRef, project: Project, pull: MergeRequestAnswer
) -> RepoRef | None:
    """Return where the branch is, None where that is gone or hidden from us."""
    if pull.source_project_id is None:
        return None
    try:
        found = project.manager.gitlab.projects.get(pull.source_project_id).asdict()
    except NotFoundError:
        return None
    name = ProjectAnswer.model_validate(found).path_with_namespace
    return RepoRef(forge=repo.forge, full_name=name)


def _conflicts(pull: MergeRequestAnswer) -> bool | None:
    if pull.has_conflicts:
        return True
    status = pull.detailed_merge_status or pull.merge_status
    return None if not status or status in _NOT_KNOWN_YET else False
