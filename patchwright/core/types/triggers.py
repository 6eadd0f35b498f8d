"""What a delivery turned out to be."""

from enum import StrEnum

from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import RepoRef, ThreadRef


class TriggerKind(StrEnum):
    BODY_MENTION = "body-mention"
    COMMENT_MENTION = "comment-mention"
    LABEL = "label"
    ASSIGNMENT = "assignment"
    REVIEW = "review"
    CHECKS = "checks"
    CONFLICT = "conflict"

    @property
    def is_automatic(self) -> bool:
        """Tell whether nobody asked: something became of the bot's own work."""
        return self in (TriggerKind.CHECKS, TriggerKind.CONFLICT)


class Trigger(Value):
    """Somebody asked for something.

    `key` names the request by meaning, so that a second delivery of it is known for
    what it is. `title` and `body` of the thread and `text`, the comment that asked, are
    what the asker saw when they asked; later edits do not reach the model. `post_id`
    is that comment, or empty when the thread's own body or a label did; with
    `review_id` it belongs to a review, which is one request with all its comments.
    `others` took part in the event besides the actor, and are judged like them.
    `installation` is the App installation the delivery came from, or empty. `head_sha`
    is the commit that an automatic trigger is about.
    """

    key: str
    kind: TriggerKind
    actor: Actor
    thread: ThreadRef
    request: str
    title: str = ""
    body: str = ""
    text: str = ""
    post_id: str = ""
    review_id: str = ""
    others: tuple[Actor, ...] = ()
    installation: str = ""
    head_sha: str = ""


class Ignored(Value):
    """A delivery that asks for nothing; `reason` is a short code."""

    reason: str


class BaseMoved(Value):
    """A branch has new commits: pull requests of ours for it may conflict now."""

    repo: RepoRef
    branch: str
    sha: str
    installation: str = ""


class ThreadClosed(Value):
    """An issue or pull request was closed or merged, or opened again."""

    thread: ThreadRef
    is_open: bool


class InstallationChanged(Value):
    """The App's access changed: `repos` are those that it lost, by full name.

    With `gone` the whole installation was removed or suspended.
    """

    installation: str
    gone: bool
    repos: tuple[RepoRef, ...] = ()


class RepositoryMoved(Value):
    """A repository was renamed or given to another owner."""

    old: RepoRef
    new: RepoRef


Notice = BaseMoved | ThreadClosed | InstallationChanged | RepositoryMoved
Reading = Trigger | Ignored | Notice
