"""What a delivery turned out to be."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from pydantic import AwareDatetime

from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadRef


class TriggerKind(StrEnum):
    BODY_MENTION = "body-mention"
    COMMENT_MENTION = "comment-mention"
    LABEL = "label"
    ASSIGNMENT = "assignment"
    REVIEW = "review"
    REPLY = "reply"
    CHECKS = "checks"
    CONFLICT = "conflict"
    MERGED = "merged"
    PUSHED = "pushed"

    @property
    def is_automatic(self) -> bool:
        """Tell whether nobody asked: something happened to the bot's own work."""
        return trigger_definition(self).is_automatic


class TriggerDefinition(Value):
    """The properties of one kind of trigger.

    `words` say how a person asked, after their name. With `is_automatic` nobody asked.
    With `is_unaddressed` nobody mentioned the bot, and it does not answer if the
    trigger does not count. Only where it `may_command` the request may be a command.
    """

    words: str
    is_automatic: bool = False
    is_unaddressed: bool = False
    may_command: bool = True


def _automatic(words: str) -> TriggerDefinition:
    return TriggerDefinition(words=words, is_automatic=True, may_command=False)


_BODY_MENTION: Final = TriggerDefinition(words="with a mention in the opening text")
_COMMENT_MENTION: Final = TriggerDefinition(words="with a mention in a comment")
_LABEL: Final = TriggerDefinition(words="with a label")
_ASSIGNMENT: Final = TriggerDefinition(words="by assignment")
_REVIEW: Final = TriggerDefinition(
    words="with a review that requests changes", may_command=False
)
_REPLY: Final = TriggerDefinition(
    words="with a reply in the thread", is_unaddressed=True
)
_CHECKS: Final = _automatic("earlier; failing checks have started this run")
_CONFLICT: Final = _automatic("earlier; a merge conflict has started this run")
_MERGED: Final = _automatic("earlier; a merge has started this run")
_PUSHED: Final = _automatic("earlier; a push to the pull request has started this run")
_DEFINITIONS: Final[Mapping[TriggerKind, TriggerDefinition]] = {
    TriggerKind.BODY_MENTION: _BODY_MENTION,
    TriggerKind.COMMENT_MENTION: _COMMENT_MENTION,
    TriggerKind.LABEL: _LABEL,
    TriggerKind.ASSIGNMENT: _ASSIGNMENT,
    TriggerKind.REVIEW: _REVIEW,
    TriggerKind.REPLY: _REPLY,
    TriggerKind.CHECKS: _CHECKS,
    TriggerKind.CONFLICT: _CONFLICT,
    TriggerKind.MERGED: _MERGED,
    TriggerKind.PUSHED: _PUSHED,
}


def trigger_definition(kind: TriggerKind) -> TriggerDefinition:
    return _DEFINITIONS[kind]


class Trigger(Value):
    """Somebody asked for something.

    `key` names the request by meaning, so that a second delivery of it is known for
    what it is. `title` and `body` of the thread and `text`, the comment that asked, are
    what the asker saw when they asked; later edits do not reach the model. `post_id`
    is that comment, or empty when the thread's own body or a label did; with
    `review_id` it belongs to a review, which is one request with all its comments.
    `others` took part in the event besides the actor, and are judged like them.
    `installation` is the App installation the delivery came from, or empty. `head_sha`
    is the commit that an automatic trigger is about. `at` is when the thread had last
    changed, by the forge's clock.

    A reply has not called us: it counts where a run of its thread waits for an answer.
    With `is_off_thread` it was given on a page of ours, by the API or the command line:
    nothing in the thread shows it.

    Where the thread is not beside the code, `repo` is where the code is, and `person`
    who the actor is there, once that is known.
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
    repo: RepoRef | None = None
    person: Actor | None = None
    at: AwareDatetime | None = None
    is_off_thread: bool = False

    @property
    def place(self) -> RepoRef | None:
        """The repository that the work is about, as far as that is known."""
        return self.thread.repo if isinstance(self.thread, ForgeThread) else self.repo

    @property
    def home(self) -> RepoRef:
        """The repository that the work is about; `LookupError` if it is not known."""
        if self.place is None:
            raise LookupError(f"no repository was chosen for {self.thread}")
        return self.place

    @property
    def asker(self) -> Actor:
        """Who asked, as the forge knows them if we know that."""
        return self.person or self.actor

    @property
    def forge_thread(self) -> ForgeThread:
        """The thread, of which it is known that it is beside the code."""
        if isinstance(self.thread, ForgeThread):
            return self.thread
        raise LookupError(f"{self.thread} is not beside the code")


class Ignored(Value):
    """A delivery that asks for nothing; `reason` is a short code."""

    reason: str


class BaseMoved(Value):
    """A branch has new commits: pull requests of ours for it may conflict now."""

    repo: RepoRef
    branch: str
    sha: str
    installation: str = ""


class StatusReported(Value):
    """A commit has a new status, the older kind of check.

    `id` names the status, and `branches` are those that end in the commit. With
    `has_passed` it is good news.
    """

    repo: RepoRef
    id: int
    sha: str
    branches: tuple[str, ...]
    has_passed: bool
    installation: str = ""


class ThreadClosed(Value):
    """An issue or pull request was closed or merged, or opened again.

    `at` is when, by the forge's clock: it tells such a notice from an older one that
    comes late or again.
    """

    thread: ForgeThread
    is_open: bool
    is_merged: bool = False
    at: AwareDatetime | None = None

    @property
    def key(self) -> str | None:
        """Its name by meaning, if the forge sent the time."""
        act = "reopened" if self.is_open else "closed"
        return f"{self.thread}:{act}:{self.at.isoformat()}" if self.at else None


class InstallationChanged(Value):
    """The App's access changed: `repos` are those that it lost, by full name.

    With `gone` the whole installation was removed or suspended. `at` is when, by the
    service's clock, where it says so.
    """

    installation: str
    gone: bool
    repos: tuple[RepoRef, ...] = ()
    service: str = "github"
    at: AwareDatetime | None = None


class ConsentRevoked(Value):
    """Somebody took back what they let us do in their name."""

    person: Actor


class RepositoryMoved(Value):
    """A repository was renamed or given to another owner; `id` is what it keeps."""

    old: RepoRef
    new: RepoRef
    id: str = ""


class Challenge(Value):
    """The service must get this text back before it sends anything."""

    word: str


class OptionsRequest(Value):
    """Somebody types into a field, and waits for what it may be."""

    actor: Actor
    query: str
    installation: str = ""


class FormRequest(Value):
    """Somebody pressed a button that needs words.

    `handle` opens a form within three seconds. What is typed there becomes the request
    `command`, a blank and the text, in that thread.
    """

    actor: Actor
    handle: str
    thread: ThreadRef | None
    command: str
    asks: str
    installation: str = ""


class HomeRequest(Value):
    """Somebody looks at the page that a service gives us for each person."""

    actor: Actor
    installation: str = ""


class DefaultChosen(Value):
    """Somebody said which repository their requests are about unless they name one.

    `repository` is `owner/name`; empty takes an earlier word back.
    """

    actor: Actor
    repository: str
    installation: str = ""


# What is answered at once, and is no part of any run.
InteractionRequest = OptionsRequest | FormRequest | HomeRequest | DefaultChosen
Notice = (
    BaseMoved
    | StatusReported
    | ThreadClosed
    | InstallationChanged
    | ConsentRevoked
    | RepositoryMoved
)
# What tells no time of its own: whether it is still so, only the service can say.
UndatedNotice = InstallationChanged | ConsentRevoked | RepositoryMoved
# The stored part of a delivery.
StoredDelivery = Trigger | Ignored | Notice
ParsedWebhook = StoredDelivery | Challenge | InteractionRequest
