"""Reviewers, labels, milestone, requested changes and competing merge requests."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gitlab import Gitlab
from gitlab.v4.objects import Project

from patchwright.core.forge import CompetingPullRequest, PullMetadata
from patchwright.core.types.errors import (
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    ServiceError,
)
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind
from patchwright.integrations.gitlab.answers import (
    GHOST,
    MergeRequestAnswer,
    ReviewerAnswer,
    UserAnswer,
)
from patchwright.integrations.gitlab.client import GitLabClient
from patchwright.integrations.gitlab.settings import FORMS
from patchwright.integrations.gitlab.threads import actor_of, fetch_thread_answer

_TEAM: Final = "team/"
_REFUSALS: Final = (InvalidRequestError, NotFoundError, PermissionDeniedError)
_CHANGES_REQUESTED: Final = "requested_changes"
_OPEN: Final = "opened"
# What takes the last person off a list.
# https://docs.gitlab.com/api/merge_requests/#update-a-merge-request
_NOBODY: Final = 0


def find_user(server: Gitlab, login: str) -> UserAnswer | None:
    """Return the user of that name."""
    found = server.users.list(username=login, page=1)
    users = (UserAnswer.model_validate(one.asdict()) for one in found)
    wanted = login.casefold()
    return next((one for one in users if one.username.casefold() == wanted), None)


def add_pull_metadata(
    api: GitLabClient, repo: RepoRef, number: int, pull_metadata: PullMetadata
) -> tuple[str, ...]:
    """Add what is missing, each thing by itself: one refusal must not stop the rest."""
    pull = api.ask(repo, lambda project: fetch_pull(project, number))
    writer = _Writer(api, repo, pull)
    return (
        *writer.add_labels(pull_metadata.labels),
        *writer.assign(pull_metadata.assignees),
        *writer.set_milestone(pull_metadata.milestone),
        *writer.ask_reviewers(pull_metadata.reviewers),
    )


def fetch_pull(project: Project, number: int) -> MergeRequestAnswer:
    return MergeRequestAnswer.model_validate(project.mergerequests.get(number).asdict())


def request_review(
    api: GitLabClient, repo: RepoRef, number: int, reviewers: tuple[str, ...]
) -> None:
    """Ask for a review, also of those who have given one.

    They are taken off first: nobody is asked again who stays on the list.
    """
    people = [name for name in reviewers if not name.startswith(_TEAM)]
    found = api.ask_server(lambda server: [find_user(server, one) for one in people])
    wanted = [one.id for one in found if one is not None]
    if not wanted:
        raise InvalidRequestError(
            f"GitLab knows none of {_quoted_names(reviewers)} as a user"
        )

    def ask(project: Project) -> None:
        pull = fetch_pull(project, number)
        listed = [one.id for one in pull.reviewers]
        others = [one for one in listed if one not in wanted]
        if len(others) < len(listed):
            off = {"reviewer_ids": others or [_NOBODY]}
            project.mergerequests.update(number, off)
        project.mergerequests.update(number, {"reviewer_ids": [*others, *wanted]})

    api.ask(repo, ask)


def fetch_milestone(api: GitLabClient, repo: RepoRef, issue: int) -> int | None:
    """Return the id of the milestone, by which a merge request is given it."""
    ref = ForgeThread(repo=repo, kind=ThreadKind.ISSUE, number=issue)
    found = api.ask(repo, lambda project: fetch_thread_answer(project, ref))
    return found.milestone.id if found.milestone else None


def fetch_change_requesters(
    api: GitLabClient, repo: RepoRef, number: int
) -> tuple[str, ...]:
    """Return the people whose last word on a merge request is to change it."""

    def read(project: Project) -> list[ReviewerAnswer]:
        pull = project.mergerequests.get(number, lazy=True)
        listed = pull.reviewer_details.list(iterator=True)
        return [ReviewerAnswer.model_validate(one.asdict()) for one in listed]

    return tuple(
        one.user.username
        for one in api.ask(repo, read)
        if one.state == _CHANGES_REQUESTED and not actor_of(one.user).is_bot
    )


def fetch_competing_pulls(
    api: GitLabClient, repo: RepoRef, issue: int
) -> tuple[CompetingPullRequest, ...]:
    """Return the open merge requests of people other than us that close an issue."""
    own = api.own_user.id

    def read(project: Project) -> list[MergeRequestAnswer]:
        listed = project.issues.get(issue, lazy=True).closed_by(iterator=True)
        return [MergeRequestAnswer.model_validate(one) for one in listed]

    return tuple(
        CompetingPullRequest(
            number=pull.iid,
            url=pull.web_url,
            author=pull.author.username if pull.author else GHOST,
            kind=FORMS.pull_kind,
        )
        for pull in api.ask(repo, read)
        if pull.state == _OPEN and not _is_of_a_bot(pull, own)
    )


def _is_of_a_bot(pull: MergeRequestAnswer, own: int) -> bool:
    is_own = pull.author is not None and pull.author.id == own
    return is_own or actor_of(pull.author).is_bot


class _Writer:
    """Puts what is missing on a merge request, and says what GitLab refused."""

    def __init__(
        self, api: GitLabClient, repo: RepoRef, pull: MergeRequestAnswer
    ) -> None:
        self._api, self._repo, self._pull = api, repo, pull

    def add_labels(self, labels: Sequence[str]) -> Iterator[str]:
        there = self._pull.labels
        missing = [name for name in dict.fromkeys(labels) if name not in there]
        if not missing:
            return
        try:
            self._update({"add_labels": ",".join(missing)})
        except _REFUSALS as error:
            yield _refusal_line(
                f"The labels {_quoted_names(missing)} could not be set", error
            )

    def assign(self, people: Sequence[str]) -> Iterator[str]:
        """Assign; where a plan allows one person, GitLab leaves the others out.

        https://docs.gitlab.com/user/project/issues/multiple_assignees_for_issues/
        """
        yield from self._add_people(
            "assignee_ids", self._pull.assignees, people, "assigned"
        )

    def ask_reviewers(self, people: Sequence[str]) -> Iterator[str]:
        """Ask people; a group cannot be asked, only its members."""
        teams = [name for name in people if name.startswith(_TEAM)]
        if teams:
            names = _quoted_names(teams)
            yield (
                f"{names} could not be asked to review: GitLab asks people, not groups."
            )
        author = self._pull.author.username if self._pull.author else ""
        named = [
            name
            for name in people
            if name not in teams and name.casefold() != author.casefold()
        ]
        yield from self._add_people(
            "reviewer_ids", self._pull.reviewers, named, "asked to review"
        )

    def set_milestone(self, milestone: int | None) -> Iterator[str]:
        if milestone is None or self._pull.milestone is not None:
            return
        what = "The issue's milestone could not be set"
        try:
            updated = self._update({"milestone_id": milestone})
        except _REFUSALS as error:
            yield _refusal_line(what, error)
            return
        if updated.milestone is None:
            yield f"{what}: GitLab does not allow it."

    def _add_people(
        self, field: str, there: Sequence[UserAnswer], people: Sequence[str], done: str
    ) -> Iterator[str]:
        known = {one.username.casefold() for one in there}
        named = dict.fromkeys(people)
        missing = [name for name in named if name.casefold() not in known]
        found = self._find_users(missing)
        if unknown := [name for name in missing if name not in found]:
            names = _quoted_names(unknown)
            yield f"{names} could not be {done}: GitLab knows no such user."
        if not found:
            return
        ids = [one.id for one in (*there, *found.values())]
        try:
            updated = self._update({field: ids})
        except _REFUSALS as error:
            yield _refusal_line(
                f"{_quoted_names(list(found))} could not be {done}", error
            )
            return
        listed = updated.assignees if field == "assignee_ids" else updated.reviewers
        done_ids = {one.id for one in listed}
        left = [name for name, one in found.items() if one.id not in done_ids]
        if left:
            names = _quoted_names(left)
            yield f"{names} could not be {done}: GitLab does not allow it."

    def _find_users(self, logins: Sequence[str]) -> Mapping[str, UserAnswer]:
        found = self._api.ask_server(
            lambda server: {one: find_user(server, one) for one in logins}
        )
        return {name: user for name, user in found.items() if user is not None}

    def _update(self, changes: Mapping[str, object]) -> MergeRequestAnswer:
        def update(project: Project) -> MergeRequestAnswer:
            answer = project.mergerequests.update(self._pull.iid, dict(changes))
            return MergeRequestAnswer.model_validate(answer)

        return self._api.ask(self._repo, update)


def _quoted_names(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _refusal_line(what: str, error: ServiceError) -> str:
    return f"{what}: {str(error).rstrip('.')}."
