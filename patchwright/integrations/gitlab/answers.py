"""The fields of GitLab's answers that are read.

Every model takes what older and newer servers leave out.
https://docs.gitlab.com/api/api_resources/
"""

from datetime import datetime
from enum import StrEnum
from typing import Final

from patchwright.integrations.gitlab.webhooks.payloads import GitLabModel, Text

# The account to which what others have left behind belongs. https://gitlab.com/ghost
GHOST: Final = "ghost"
ACTIVE: Final = "active"


class UserAnswer(GitLabModel):
    """A user; `bot`, `is_admin` and `external` are told to some readers alone."""

    id: int = 0
    username: str = GHOST
    state: str = ACTIVE
    bot: bool = False
    is_admin: bool = False
    external: bool | None = None


class MemberAnswer(GitLabModel):
    """A member by any way: of the project, of a group above, or of an invited one.

    `state` is that of the account, and `membership_state` that of the membership.
    """

    id: int
    username: str
    access_level: int
    state: str = ACTIVE
    membership_state: str = ACTIVE
    expires_at: str | None = None


class Visibility(StrEnum):
    PRIVATE = "private"
    INTERNAL = "internal"
    PUBLIC = "public"


class ProjectAnswer(GitLabModel):
    """A project; `default_branch` is null while it has no commit.

    `repository_access_level` may keep the code of a public project to its members.
    """

    id: int
    path_with_namespace: str
    default_branch: Text = ""
    visibility: Visibility = Visibility.PRIVATE
    repository_access_level: Text = "enabled"

    @property
    def shows_code_to_all(self) -> bool:
        is_public = self.visibility is Visibility.PUBLIC
        return is_public and self.repository_access_level == "enabled"


class MilestoneAnswer(GitLabModel):
    """A milestone, of the project or of a group; `id` is what it is set by."""

    id: int
    title: Text = ""


class IssueAnswer(GitLabModel):
    iid: int
    title: Text = ""
    description: Text = ""
    author: UserAnswer | None = None
    created_at: datetime
    labels: tuple[str, ...] = ()
    milestone: MilestoneAnswer | None = None
    confidential: bool = False


class DiffRefs(GitLabModel):
    """The commits that a diff is taken between; null where there is no diff."""

    base_sha: Text = ""
    head_sha: Text = ""
    start_sha: Text = ""


class MergeRequestAnswer(IssueAnswer):
    """A merge request; in lists it says less than by itself.

    `source_project_id` is null where the fork is gone. `work_in_progress` and
    `allow_maintainer_to_push` are older names of `draft` and `allow_collaboration`.
    """

    project_id: int = 0
    state: str
    source_branch: str
    target_branch: str
    source_project_id: int | None = None
    target_project_id: int = 0
    sha: Text = ""
    draft: bool = False
    work_in_progress: bool = False
    assignees: tuple[UserAnswer, ...] = ()
    reviewers: tuple[UserAnswer, ...] = ()
    has_conflicts: bool | None = None
    detailed_merge_status: Text = ""
    merge_status: Text = ""
    allow_collaboration: bool | None = None
    allow_maintainer_to_push: bool | None = None
    diff_refs: DiffRefs | None = None
    web_url: str = ""

    @property
    def is_draft(self) -> bool:
        return self.draft or self.work_in_progress

    @property
    def takes_pushes(self) -> bool:
        """Whether members of the target may push to the branch of a fork."""
        return bool(self.allow_collaboration or self.allow_maintainer_to_push)


class LinePosition(GitLabModel):
    """One line of a diff; of a line that has not changed both numbers are known."""

    type: str | None = None
    old_line: int | None = None
    new_line: int | None = None


class LineRange(GitLabModel):
    start: LinePosition = LinePosition()
    end: LinePosition = LinePosition()


class PositionAnswer(DiffRefs):
    """Where in a diff a note stands.

    Of a note on a whole file no line is known.
    https://docs.gitlab.com/api/discussions/#create-a-new-thread-in-the-merge-request-diff
    """

    old_path: Text = ""
    new_path: Text = ""
    position_type: Text = ""
    old_line: int | None = None
    new_line: int | None = None
    line_range: LineRange | None = None


class NoteAnswer(GitLabModel):
    """A note; `confidential` is an older name of `internal`."""

    id: int
    type: Text = ""
    body: Text = ""
    author: UserAnswer | None = None
    created_at: datetime
    updated_at: datetime | None = None
    system: bool = False
    internal: bool | None = None
    confidential: bool | None = None
    resolvable: bool = False
    resolved: bool = False
    position: PositionAnswer | None = None

    @property
    def is_internal(self) -> bool:
        return bool(self.internal or self.confidential)

    @property
    def is_on_diff(self) -> bool:
        return self.type == "DiffNote"


class DiscussionAnswer(GitLabModel):
    id: str
    individual_note: bool = False
    notes: tuple[NoteAnswer, ...] = ()


class DiffAnswer(GitLabModel):
    """What changed in a file; `diff` is empty where that is too much."""

    old_path: Text = ""
    new_path: Text = ""
    diff: Text = ""


class ComparisonAnswer(GitLabModel):
    diffs: tuple[DiffAnswer, ...] = ()


class ReviewerAnswer(GitLabModel):
    """Somebody who was asked to review, and what they have said last."""

    user: UserAnswer
    state: str = ""


class BranchAnswer(GitLabModel):
    name: str
    protected: bool = False


class CommitAnswer(GitLabModel):
    id: str
    message: Text = ""


class CommitStatusAnswer(GitLabModel):
    """A job of a pipeline, or what another program says of a commit."""

    id: int
    name: str
    status: str
    target_url: Text = ""
    web_url: Text = ""
    description: Text = ""
    failure_reason: Text = ""
    stage: Text = ""
    allow_failure: bool = False

    @property
    def url(self) -> str:
        return self.web_url or self.target_url


class PipelineAnswer(GitLabModel):
    id: int
    project_id: int = 0
    sha: Text = ""
    status: Text = ""


class LabelAnswer(GitLabModel):
    name: str
    color: Text = ""
