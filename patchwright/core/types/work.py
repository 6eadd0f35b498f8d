"""The task of the agent, and its outcome."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from patchwright.core.types.base import ReadableText, Value
from patchwright.core.types.errors import EmptyRepositoryError, PatchwrightError
from patchwright.core.types.evidence import Evidence, Proof, ProofReport
from patchwright.core.types.outcome_kind import OutcomeKind


class Limits(Value):
    """Where a run must stop. `max_tokens` holds where no price is known."""

    max_iterations: int = 50
    max_cost_usd: float = 3.0
    max_tokens: int = 2_000_000
    max_minutes: float = 30.0


class QuestionReason(StrEnum):
    """Why a run waits before it has begun."""

    NO_REPOSITORY = "no-repository"
    NO_ACCESS = "no-access"
    SEVERAL_REPOSITORIES = "several-repositories"
    NO_CONSENT = "no-consent"


class TaskMode(StrEnum):
    """What the agent is to hand over: the change itself, or first a plan of it."""

    FIX = "fix"
    PLAN = "plan"


class Task(Value):
    """One piece of work: the text for the agent, and the commit it starts from.

    `files` are texts too long for the prompt, by name; the agent finds them in
    `/workspace/context`. `images` are the names of pictures that belong to the text.
    With `merge_sha` that commit is merged into the work tree first, conflicts and all,
    and is the second parent of what is delivered. `setup` are commands to run before
    the agent starts, `tests` those that the controller runs besides the agent's own.
    `notes` go into the outcome. `message_trailer` ends the message of the commit.
    Without `proves` nothing is run to prove a change. With `setup_may_fail` the work
    goes on after a set-up that failed; with `setup_is_inferred` nobody has written it
    down. `trusted_sha` is the head of the branch that the change is for: commits of its
    history are the repository's own. `result_schema` is a JSON schema, as text, of what
    the agent hands over besides its words, if anything. `removed` counts the hidden
    things that were taken out of other people's texts.

    Work on an existing pull request is proven together with all of it: from
    `proof_base_sha`, where the pull request left its base branch, and with
    `earlier_tests`, the commands of its earlier proof. Both are empty for new work.
    """

    text: str
    base_sha: str
    base_branch: str = ""
    title: str = ""
    files: dict[str, str] = {}
    images: tuple[str, ...] = ()
    merge_sha: str = ""
    setup: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    mode: TaskMode = TaskMode.FIX
    notes: tuple[str, ...] = ()
    message_trailer: str = ""
    proves: bool = True
    setup_may_fail: bool = False
    setup_is_inferred: bool = False
    trusted_sha: str = ""
    result_schema: str = ""
    removed: int = 0
    proof_base_sha: str = ""
    earlier_tests: tuple[str, ...] = ()

    @property
    def proof_base(self) -> str:
        """Return the commit without the change that is to be proven."""
        return self.proof_base_sha or self.base_sha


class WaitReason(StrEnum):
    """What an outcome that waits, waits for."""

    QUESTION = "question"
    PLAN = "plan"
    CONFIRMATION = "confirmation"
    PAUSED = "paused"


# The reason of a run that a person has stopped.
ASKED: Final = "asked"


class ReviewVerdict(StrEnum):
    """What was done about a reviewer's request."""

    ADDRESSED = "addressed"
    NOT_ADDRESSED = "not-addressed"
    NEEDS_INPUT = "needs-input"
    ANSWERED = "answered"


def service_part(text: str, service_text: str) -> str:
    """Return the beginning of a text that is the service's, if it is there."""
    return service_text if text.startswith(service_text) else ""


class ReviewAnswer(Value):
    """An answer to one review thread, by its number in the task, from 1.

    `service_text` and `by` are as those of an outcome.
    """

    thread: int
    verdict: ReviewVerdict
    text: ReadableText = ""
    service_text: ReadableText = ""
    by: str = ""


class Usage(Value):
    """What model calls took.

    `cost_usd` is None when the price of any of them is unknown, which is not zero.
    """

    cost_usd: float | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    tokens_cache_written: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        known = self.cost_usd is not None and other.cost_usd is not None
        return Usage(
            cost_usd=(self.cost_usd or 0.0) + (other.cost_usd or 0.0)
            if known
            else None,
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
            tokens_cached=self.tokens_cached + other.tokens_cached,
            tokens_cache_written=self.tokens_cache_written + other.tokens_cache_written,
        )

    def with_all(self, others: Iterable["Usage"]) -> "Usage":
        """Add many at once: the same as one after the other, in a part of the time."""
        every = [self, *others]
        prices = [one.cost_usd for one in every if one.cost_usd is not None]
        return Usage(
            cost_usd=sum(prices) if len(prices) == len(every) else None,
            tokens_in=sum(one.tokens_in for one in every),
            tokens_out=sum(one.tokens_out for one in every),
            tokens_cached=sum(one.tokens_cached for one in every),
            tokens_cache_written=sum(one.tokens_cache_written for one in every),
        )


class DiffStat(Value):
    """Changed files and lines; the lines of binary files do not count."""

    files: int = 0
    insertions: int = 0
    deletions: int = 0


class FileStat(Value):
    """How many lines of one file a change adds and removes; of a binary file none."""

    path: str
    insertions: int = 0
    deletions: int = 0


# The reason of a change that is proposed as a draft, since tests speak against it.
CONTRADICTED: Final = "contradicted"
# The reason of a change that was made and that nobody can see anywhere.
NOT_DELIVERED = "not-delivered"
NO_USAGE = Usage(cost_usd=0.0)


class LeftOutReason(StrEnum):
    """Why something of the work is not in the change."""

    NESTED_REPOSITORY = "nested-repository"
    SUBMODULE = "submodule"
    IGNORED = "ignored"
    UNREADABLE = "unreadable"
    NOT_A_FILE = "not-a-file"
    ENCODING = "encoding"
    ENCRYPTED = "encrypted"
    REFUSED_BY_GIT = "refused-by-git"
    TOO_LARGE = "too-large"
    STASH = "stash"
    BRANCH = "branch"
    COMMIT = "commit"
    WORKTREE = "worktree"


class LeftOut(Value):
    """Something that the change lacks: a file or folder, or the name of a branch."""

    path: str
    reason: LeftOutReason


class BlockedRequest(Value):
    """Where commands in the sandbox wanted to go and were not let, how many times."""

    host: str
    port: int
    count: int = 1


class Outcome(Value):
    """How a task ended, in facts; every text shown to people is made from it.

    With `waits` the task has not ended: it continues when a person has answered.
    `head_sha` is empty when nothing was changed, and so is `tree`, git's name for what
    that commit holds. `changed` counts what it changes, and `proposed` what the whole
    pull request changes that was there before. `notes` are remarks for the
    reader of the result, one sentence each: what was removed, skipped or doubted;
    `warnings` are those that a reviewer must see, and make the change a draft. With
    `as_patch` the change must not become a branch, and is handed over as a patch.
    `removed` counts the hidden things taken out of other people's texts. `structured`
    is what was asked for by a schema, as JSON text; empty where nothing was.
    `proof_report` has what the proof found, where one was tried.
    `service_text` is the beginning of the summary that the service wrote itself: what
    is not known to be ours counts as the agent's. It calls the person of the login
    `by`, whom the forge knows, and nobody else. `left_out` is what the agent made and
    the change lacks.
    """

    kind: OutcomeKind
    reason: str = ""
    waits: bool = False
    proof: Proof = Proof.NONE
    summary: str = ""
    title: str = ""
    base_branch: str = ""
    base_sha: str = ""
    head_sha: str = ""
    tree: str = ""
    changed: DiffStat = DiffStat()
    proposed: DiffStat = DiffStat()
    reviews: tuple[ReviewAnswer, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    proof_report: ProofReport | None = None
    usage: Usage = NO_USAGE
    iterations: int = 0
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    as_patch: bool = False
    removed: int = 0
    blocked: tuple[BlockedRequest, ...] = ()
    structured: str = ""
    left_out: tuple[LeftOut, ...] = ()
    service_text: str = ""
    by: str = ""

    @property
    def wait_reason(self) -> WaitReason:
        """Return what it waits for: whatever has no name of its own is a question."""
        known = [one for one in WaitReason if one == self.reason]
        return known[0] if known else WaitReason.QUESTION

    @property
    def proposes_change(self) -> bool:
        """Tell whether a change is to be shown to reviewers, be it as a draft."""
        is_in_doubt = self.reason == CONTRADICTED
        return self.kind is OutcomeKind.RESOLVED or is_in_doubt

    @property
    def own_text(self) -> str:
        """Return the part of the summary that is the service's, if any is."""
        return service_part(self.summary, self.service_text)

    @property
    def agent_text(self) -> str:
        """Return the part of the summary that is the agent's."""
        return self.summary.removeprefix(self.own_text).strip()


def service_outcome(
    kind: OutcomeKind, reason: str, text: str, *, waits: bool = False, by: str = ""
) -> Outcome:
    """Return an outcome that the service explains in its own words."""
    return Outcome(
        kind=kind,
        reason=reason,
        waits=waits,
        summary=text,
        service_text=text,
        by=by,
    )


def error_outcome(error: PatchwrightError) -> Outcome:
    """Return how a run ends that an error ended; one has nothing to work on."""
    is_empty = isinstance(error, EmptyRepositoryError)
    kind = OutcomeKind.REFUSED if is_empty else OutcomeKind.FAILED
    return service_outcome(kind, error.reason, str(error))
