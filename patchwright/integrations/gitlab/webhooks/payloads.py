"""The fields of GitLab's deliveries that are read."""

from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints

# https://docs.gitlab.com/user/project/integrations/webhook_events/

# It becomes part of addresses: a part of only dots would change the path.
ProjectPath = Annotated[
    str,
    StringConstraints(pattern=r"(?-u)^[\w.-]*[\w-][\w.-]*(?:/[\w.-]*[\w-][\w.-]*)+$"),
]
# GitLab sends null for a text that was left empty.
Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
# Lists come as null from some of its versions.
_or_empty: Final = BeforeValidator(lambda value: [] if value is None else value)


def read_time(text: str) -> datetime | None:
    """Return a moment in any of GitLab's ways to write it, None if it is none."""
    try:
        at = datetime.fromisoformat(text.replace(" UTC", "+00:00"))
    except ValueError:
        return None
    return at if at.tzinfo else None


class GitLabModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class UserPayload(GitLabModel):
    """Somebody; old versions name the id nowhere.

    Reviewers have a `state`, and say whether they were just asked once more.
    """

    id: int = 0
    username: str = ""
    state: str = ""
    re_requested: bool = False


class ProjectPayload(GitLabModel):
    id: int = 0
    path_with_namespace: ProjectPath


class LabelPayload(GitLabModel):
    title: Text = ""


class TextChange(GitLabModel):
    previous: Text = ""
    current: Text = ""


class LabelChange(GitLabModel):
    previous: Annotated[list[LabelPayload], _or_empty] = []
    current: Annotated[list[LabelPayload], _or_empty] = []


class PeopleChange(GitLabModel):
    previous: Annotated[list[UserPayload], _or_empty] = []
    current: Annotated[list[UserPayload], _or_empty] = []


class Changes(GitLabModel):
    """What an edit changed; a part that stayed as it was is absent."""

    description: TextChange | None = None
    labels: LabelChange | None = None
    assignees: PeopleChange | None = None
    reviewers: PeopleChange | None = None


class CommitPayload(GitLabModel):
    id: str = ""


class NoteablePayload(GitLabModel):
    """An issue or a merge request, in a delivery of its own or beside a note."""

    iid: int
    title: Text = ""
    description: Text = ""
    author_id: int | None = None
    created_at: Text = ""
    updated_at: Text = ""
    confidential: bool | None = None
    source_project_id: int | None = None
    target_project_id: int | None = None
    last_commit: CommitPayload | None = None


class ThreadAttributes(NoteablePayload):
    """`oldrev` is the head before a push; with `system` GitLab itself has acted."""

    action: Text = ""
    oldrev: Text = ""
    type: Text = ""
    system: bool | None = None


class NoteAttributes(GitLabModel):
    """A note. One on lines of a diff has the type `DiffNote`.

    `internal` is what `confidential` was called before GitLab 15.3.
    """

    id: int
    note: Text = ""
    noteable_type: str
    author_id: int | None = None
    action: Text = ""
    type: Text = ""
    discussion_id: Text = ""
    created_at: Text = ""
    updated_at: Text = ""
    system: bool | None = None
    internal: bool | None = None
    confidential: bool | None = None

    @property
    def is_internal(self) -> bool:
        return bool(self.internal or self.confidential)


class ThreadDelivery(GitLabModel):
    event_type: Text = ""
    user: UserPayload
    project: ProjectPayload
    object_attributes: ThreadAttributes
    changes: Changes = Changes()
    labels: Annotated[list[LabelPayload], _or_empty] = []
    assignees: Annotated[list[UserPayload], _or_empty] = []
    assignee: UserPayload | None = None
    reviewers: Annotated[list[UserPayload], _or_empty] = []

    @property
    def assigned(self) -> list[UserPayload]:
        return [*self.assignees, *([self.assignee] if self.assignee else [])]


class NoteDelivery(GitLabModel):
    event_type: Text = ""
    user: UserPayload
    project: ProjectPayload
    object_attributes: NoteAttributes
    issue: NoteablePayload | None = None
    merge_request: NoteablePayload | None = None


class PipelineAttributes(GitLabModel):
    id: int
    ref: Text = ""
    sha: Text = ""
    tag: bool = False
    status: Text = ""
    finished_at: Text = ""


class PipelineDelivery(GitLabModel):
    user: UserPayload = UserPayload()
    project: ProjectPayload
    object_attributes: PipelineAttributes
    merge_request: NoteablePayload | None = None


class PushDelivery(GitLabModel):
    ref: str
    after: Text = ""
    project: ProjectPayload


class MoveDelivery(GitLabModel):
    project_id: int = 0
    path_with_namespace: ProjectPath
    old_path_with_namespace: ProjectPath


class AnyDelivery(GitLabModel):
    """What every delivery has to say what it is about."""

    object_kind: Text = ""
    event_name: Text = ""
    event_type: Text = ""
    object_attributes: dict[str, Any] | None = None

    @property
    def kind(self) -> str:
        return self.object_kind or self.event_name


# What people write on lines within this time is one review: GitLab publishes the notes
# of a review one by one, and says nowhere that they belong together.
# https://docs.gitlab.com/user/project/merge_requests/reviews/
REVIEW_S: Final = 10


def review_of(author_id: int | None, created_at: datetime | None) -> str:
    """Return the id of the review that a note on lines is part of, empty if unknown."""
    if not author_id or created_at is None:
        return ""
    return f"{author_id}-{int(created_at.timestamp()) // REVIEW_S}"
