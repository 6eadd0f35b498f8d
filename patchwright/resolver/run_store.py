"""The protocol of a run's store, and the values in it."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final, Protocol

from pydantic import JsonValue, TypeAdapter

from patchwright.core.agent.budget import Budget
from patchwright.core.events.log import EventLog
from patchwright.core.llm.model import Image
from patchwright.core.settings.limits import LimitSettings
from patchwright.core.text.strings import storable
from patchwright.core.types.base import ConversationId, JobId, Value
from patchwright.core.types.threads import (
    LinkedIssue,
    RepoRef,
    ReviewThread,
    TalkThread,
    Thread,
    ThreadPost,
    ThreadRef,
)
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import Outcome
from patchwright.integrations.git.objects import ObjectStore
from patchwright.resolver.messages.status import DeliveryResult

CHECKPOINT: Final = "checkpoint"
COMMITS: Final = "commits"


class JoinedRequest(Value):
    """A request that joined a job; its text is the message with id `event_id`."""

    delivery: str
    event_id: int
    trigger: Trigger


class LinkedThread(Value):
    """A thread of a conversation; with `is_own_pull` it is our pull request."""

    ref: ThreadRef
    is_own_pull: bool


class EarlierRun(Value):
    """Another run of the same conversation."""

    id: JobId
    trigger: Trigger
    outcome: Outcome | None


class OtherConversation(Value):
    """A thread that a request names, and the conversation that it belongs to."""

    named: ThreadRef
    conversation_id: ConversationId


class RunStore(Protocol):
    """Stores one run, and the data of its conversation.

    Writing raises `LeaseLostError` when another worker has the run.
    """

    def open_log(self) -> EventLog: ...

    def redact(self, value: JsonValue) -> JsonValue: ...

    def keep(self, name: str, data: bytes) -> None:
        """Store an artifact of the run; it replaces the artifact of the same name."""
        ...

    def load_kept(self, name: str, run_id: JobId | None = None) -> bytes | None:
        """Return an artifact of this run, or of another run."""
        ...

    def load_requests(self) -> tuple[JoinedRequest, ...]:
        """Return the authors of later messages; nobody has checked them yet."""
        ...

    def settle_request(self, event_id: int) -> None:
        """Record that the run has followed or answered the message of this event."""
        ...

    def settle(self, trigger: Trigger) -> None:
        """Store what was found about the request: its repository, and who asked."""
        ...

    def swap(self, joined: JoinedRequest, first: Trigger) -> None:
        """Make a joined request the run's main request; the first request joins it."""
        ...

    def replace_thread(self, old: TalkThread, new: TalkThread) -> None:
        """Replace a thread that had no message by the thread that was begun for it."""
        ...

    def load_threads(self) -> tuple[LinkedThread, ...]:
        """Return the conversation's threads, the newest first."""
        ...

    def link(self, thread: ThreadRef) -> ConversationId | None:
        """Make a thread part of the conversation.

        If it is part of another conversation already, returns that one: see `move`.
        """
        ...

    def move(
        self, trigger: Trigger, there: OtherConversation, *, joins: bool
    ) -> JobId | None:
        """Move the request and its threads to the conversation of that thread.

        This ends the run. Returns the job that has the request now. Nothing happens if
        the thread has left that conversation, or if a run is active there and the
        request may not join it.
        """
        ...

    def find_conversation(self, thread: ThreadRef) -> ConversationId | None: ...

    def find_repository(
        self, conversation_id: ConversationId | None = None
    ) -> RepoRef | None:
        """Return the repository of this conversation, or of another conversation.

        None if it is not known.
        """
        ...

    def open_budget(self, trigger: Trigger, limits: LimitSettings) -> Budget:
        """Return how many US dollars the requester may still spend."""
        ...

    def closed_at(self, thread: ThreadRef) -> datetime | None: ...

    def count_runs(self, since: datetime) -> int:
        """Count the conversation's runs that people asked for at `since` or later."""
        ...

    def count_automatic_runs(self, kind: TriggerKind, since: datetime) -> int:
        """Count the conversation's runs of a kind that nobody asked for."""
        ...

    def list_since_last_request(self, kind: TriggerKind) -> tuple[EarlierRun, ...]:
        """Return the runs of a kind since a person last started a run, in order."""
        ...

    def list_outcomes(self) -> tuple[Outcome, ...]:
        """Return the outcomes of the conversation's runs, the oldest first."""
        ...

    def find_last_run(self) -> EarlierRun | None:
        """Return the newest ended run; runs that only answered do not count."""
        ...

    def load_delivered(self, run_id: JobId) -> DeliveryResult: ...


class StoredCheckpoints:
    """The `Checkpoints` of a run, for whichever worker has its lease."""

    def __init__(self, store: RunStore) -> None:
        self._store = store

    def save(self, bundle: bytes) -> None:
        self._store.keep(CHECKPOINT, bundle)

    def load(self) -> bytes | None:
        return self._store.load_kept(CHECKPOINT)


# The name under which a default repository is stored, in the form of `str(RepoRef)`.
DEFAULT_REPOSITORY: Final = "repository"


def place_scope(thread: ThreadRef) -> str:
    """Return the scope for everybody in a thread's channel, project or repository."""
    return f"{thread.service}:{thread.place}"


def consent_name(repo: RepoRef) -> str:
    """Return the name of the choice about private words in that repository."""
    return f"consent:{repo}"


class Choices(Protocol):
    """Stores one value for each name in a scope; the newest choice counts."""

    def get(self, scope: str, name: str) -> str | None: ...

    def default_of(self, scope: str) -> RepoRef | None:
        """Return the repository that was chosen for a scope."""
        ...

    def put(self, scope: str, name: str, value: str, *, by: str, now: datetime) -> None:
        """Store a choice; `by` is the account or actor who made it."""
        ...


DIFF: Final = "diff"
IMAGES: Final = "images"
# The fields that people read; git has the rest.
_MAX_DIFF_BYTES: Final = 1_000_000

_IMAGES: Final = TypeAdapter(dict[str, Image])


def pack_change(
    code: ObjectStore, outcome: Outcome, redact: Callable[[str], str]
) -> dict[str, bytes]:
    """Return the commits of an outcome, and the texts that people read."""
    base, head = outcome.base_sha, outcome.head_sha
    diff = code.diff(base, head, _MAX_DIFF_BYTES)
    return {
        COMMITS: code.partial_bundle(base, head),
        DIFF: redact(diff.decode("utf-8", "replace")).encode("utf-8", "replace"),
    }


def keep_images(
    keep: Callable[[str, bytes], None], images: Mapping[str, Image]
) -> None:
    if images:
        keep(IMAGES, _IMAGES.dump_json(dict(images)))


def load_images(load: Callable[[str], bytes | None]) -> dict[str, Image]:
    stored = load(IMAGES)
    return _IMAGES.validate_json(stored) if stored else {}


Redact = Callable[[JsonValue], JsonValue]

_CLEANED_FIELDS: Final = ("title", "text")


def clean_text(redact: Redact, text: str) -> str:
    return str(redact(storable(text)))


def clean_trigger(redact: Redact, trigger: Trigger) -> Trigger:
    """Return the request with clean texts; its names and its author do not change."""
    texts = {
        name: clean_text(redact, getattr(trigger, name))
        for name in ("request", "title", "body", "text")
    }
    return Trigger(**(dict(trigger) | texts))


def clean_thread(redact: Redact, thread: Thread) -> Thread:
    """Return a thread with clean texts, because branch names are made from them."""

    def post(one: ThreadPost) -> ThreadPost:
        return ThreadPost(**(dict(one) | {"text": clean_text(redact, one.text)}))

    def review(one: ReviewThread) -> ReviewThread:
        hunk = clean_text(redact, one.hunk)
        posts = tuple(map(post, one.posts))
        return ReviewThread(**(dict(one) | {"hunk": hunk, "posts": posts}))

    def relative(one: LinkedIssue) -> LinkedIssue:
        texts = {
            name: clean_text(redact, getattr(one, name)) for name in _CLEANED_FIELDS
        }
        return LinkedIssue(**(dict(one) | texts))

    texts = {
        "title": clean_text(redact, thread.title),
        "posts": tuple(map(post, thread.posts)),
        "reviews": tuple(map(review, thread.reviews)),
        "linked_issues": tuple(map(relative, thread.linked_issues)),
    }
    return Thread(**(dict(thread) | texts))
