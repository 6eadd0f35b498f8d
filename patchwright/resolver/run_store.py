"""What a run reads and keeps: the protocol of its store, and the values in it."""

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
    """A request that joined a job; its words are the message with id `event_id`."""

    delivery: str
    event_id: int
    trigger: Trigger


class LinkedThread(Value):
    """A thread of a conversation; with `is_own_pull` its work is what we made."""

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
    """Keeps one run and what is known of its conversation.

    Writing raises `LeaseLostError` when another worker has the run.
    """

    def open_log(self) -> EventLog: ...

    def redact(self, value: JsonValue) -> JsonValue: ...

    def keep(self, name: str, data: bytes) -> None:
        """Keep something of the run, in place of what was kept by that name."""
        ...

    def load_kept(self, name: str, run_id: JobId | None = None) -> bytes | None:
        """Return what is kept of this run, or of another one."""
        ...

    def load_requests(self) -> tuple[JoinedRequest, ...]:
        """Return who has said something since; it has not been judged yet."""
        ...

    def settle_request(self, event_id: int) -> None:
        """Note that the run has obeyed or answered what that event says."""
        ...

    def settle(self, trigger: Trigger) -> None:
        """Keep what was found out about the request: where its code is, who asked."""
        ...

    def swap(self, joined: JoinedRequest, first: Trigger) -> None:
        """Have the run be about what had joined it, and the first request join it."""
        ...

    def replace_thread(self, old: TalkThread, new: TalkThread) -> None:
        """Let a thread that had no message yet be the one that was begun for it."""
        ...

    def load_threads(self) -> tuple[LinkedThread, ...]:
        """Return the conversation's threads, the newest first."""
        ...

    def link(self, thread: ThreadRef) -> ConversationId | None:
        """Make a thread part of the conversation.

        Returns the other conversation that it is part of already: see `move`.
        """
        ...

    def move(
        self, trigger: Trigger, there: OtherConversation, *, joins: bool
    ) -> JobId | None:
        """Have the request go on where that thread is, with the threads of its own.

        The run ends by that. Returns the job that has the request now. Nothing is done
        if the thread is not there any more, or if a run works there and the request
        may not join it.
        """
        ...

    def find_conversation(self, thread: ThreadRef) -> ConversationId | None: ...

    def find_repository(
        self, conversation_id: ConversationId | None = None
    ) -> RepoRef | None:
        """Return where the work of this conversation is, or of another one.

        None where that is not known.
        """
        ...

    def open_budget(self, trigger: Trigger, limits: LimitSettings) -> Budget:
        """Return what whoever asked may still spend, in US dollars."""
        ...

    def closed_at(self, thread: ThreadRef) -> datetime | None: ...

    def count_runs(self, since: datetime) -> int:
        """Count the conversation's runs that people asked for at `since` or later."""
        ...

    def list_since_last_request(self, kind: TriggerKind) -> tuple[EarlierRun, ...]:
        """Return the runs of a kind since a person has last started one, in order."""
        ...

    def list_outcomes(self) -> tuple[Outcome, ...]:
        """Return how the conversation's runs have ended."""
        ...

    def find_last_run(self) -> EarlierRun | None:
        """Return the newest run that has ended and that was more than an answer."""
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


# The name under which a default repository is kept, in the form of `str(RepoRef)`.
DEFAULT_REPOSITORY: Final = "repository"


def place_scope(thread: TalkThread) -> str:
    """Return the scope of everybody in a thread's channel or project."""
    return f"{thread.service}:{thread.place}"


def consent_name(repo: RepoRef) -> str:
    """Return the name of what was said about private words in that repository."""
    return f"consent:{repo}"


class Choices(Protocol):
    """Keeps one value for each name in a scope; the newest choice counts."""

    def get(self, scope: str, name: str) -> str | None: ...

    def default_of(self, scope: str) -> RepoRef | None:
        """Return the repository that was chosen for a scope."""
        ...

    def put(self, scope: str, name: str, value: str, *, by: str, now: datetime) -> None:
        """Choose; `by` is the account or actor whose choice it is."""
        ...


DIFF: Final = "diff"
IMAGES: Final = "images"
# What people read; git has the rest.
_MAX_DIFF_BYTES: Final = 1_000_000

_IMAGES: Final = TypeAdapter(dict[str, Image])


def pack_change(
    code: ObjectStore, outcome: Outcome, redact: Callable[[str], str]
) -> dict[str, bytes]:
    """Return the commits of an outcome, and what people read of them."""
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
    kept = load(IMAGES)
    return _IMAGES.validate_json(kept) if kept else {}


Redact = Callable[[JsonValue], JsonValue]

_TOLD: Final = ("title", "text")


def clean_text(redact: Redact, text: str) -> str:
    return str(redact(storable(text)))


def clean_trigger(redact: Redact, trigger: Trigger) -> Trigger:
    """Return it with clean words; what it names and who asks stay as they are."""
    words = {
        name: clean_text(redact, getattr(trigger, name))
        for name in ("request", "title", "body", "text")
    }
    return Trigger(**(dict(trigger) | words))


def clean_thread(redact: Redact, thread: Thread) -> Thread:
    """Return a thread as clean as its trigger: names of branches are made from it."""

    def post(one: ThreadPost) -> ThreadPost:
        return ThreadPost(**(dict(one) | {"text": clean_text(redact, one.text)}))

    def review(one: ReviewThread) -> ReviewThread:
        hunk = clean_text(redact, one.hunk)
        posts = tuple(map(post, one.posts))
        return ReviewThread(**(dict(one) | {"hunk": hunk, "posts": posts}))

    def relative(one: LinkedIssue) -> LinkedIssue:
        words = {name: clean_text(redact, getattr(one, name)) for name in _TOLD}
        return LinkedIssue(**(dict(one) | words))

    words = {
        "title": clean_text(redact, thread.title),
        "posts": tuple(map(post, thread.posts)),
        "reviews": tuple(map(review, thread.reviews)),
        "linked_issues": tuple(map(relative, thread.linked_issues)),
    }
    return Thread(**(dict(thread) | words))
