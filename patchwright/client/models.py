"""The values of the API, made from its document: `make reference` writes them anew."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict


class ApiValue(BaseModel):
    """A frozen value; fields that a newer service adds are kept."""

    model_config = ConfigDict(frozen=True, extra="allow")


class AcceptedRequest(ApiValue):
    """What was sent is stored; the run's events tell what comes of it."""

    conversation_id: str | None
    run_id: str | None
    verdict: str


class IdentityView(ApiValue):
    """Somebody, as a service knows them."""

    service: str
    login: str


class AccountView(ApiValue):
    """Who sends the requests, and what they may do."""

    name: str
    role: str
    signed_in_by: str
    account_id: str | None
    identity: IdentityView | None


class BudgetChange(ApiValue):
    """How much a run may cost."""

    amount: str


class LimitsView(ApiValue):
    """Where a run must stop."""

    max_iterations: int
    max_cost_usd: float
    max_tokens: int
    max_minutes: float


class UsageView(ApiValue):
    """What model calls took."""

    cost_usd: float | None
    tokens_in: int
    tokens_out: int
    tokens_cached: int


class RunEntry(ApiValue):
    """The work on one request."""

    id: str
    conversation_id: str
    state: str
    outcome: str
    reason: str
    proof: str
    source: str
    repository: str
    thread: str
    title: str
    requester: str
    created_at: datetime
    steps: int
    usage: UsageView
    limits: LimitsView | None
    position: int | None


class ThreadView(ApiValue):
    """A place where people talk about it."""

    service: str
    kind: str
    name: str


class ConversationDetails(ApiValue):
    """A conversation with its threads and all its runs, the oldest first."""

    id: str
    title: str
    repository: str
    created_at: datetime
    run: RunEntry
    threads: tuple[ThreadView, ...]
    run_ids: tuple[str, ...]


class ConversationView(ApiValue):
    """Everything about one piece of work, with its newest run."""

    id: str
    title: str
    repository: str
    created_at: datetime
    run: RunEntry


class ConversationList(ApiValue):
    """Conversations, the newest first."""

    items: tuple[ConversationView, ...]
    next: str | None = None


class EventPayload(ApiValue):
    """What happened; more fields depend on `kind`, and newer versions know more kinds.

    They are described on the page “Trajectories”.
    """

    kind: str


class EventView(ApiValue):
    """One entry of the run log."""

    id: int
    at: datetime
    source: str
    cause: int | None
    payload: EventPayload


class EventList(ApiValue):
    """Events in the order that was asked for."""

    items: tuple[EventView, ...]
    next_id: int | None


class EvidenceView(ApiValue):
    """A command that the service ran itself to prove the change."""

    role: str
    command: str
    commit: str
    exit_code: int | None
    seconds: float
    digest: str


class FieldProblem(ApiValue):
    """One thing that is wrong with what was sent."""

    where: str
    problem: str


class NewConversation(ApiValue):
    """A request."""

    repository: str
    text: str = ""
    plan_first: bool = False


class NewMessage(ApiValue):
    """Something to tell a run: an answer, a correction, or a follow-up request."""

    text: str


class OutcomeKind(StrEnum):
    """How a task ended; the same words in the CLI, the API and every message."""

    RESOLVED = "resolved"
    ANSWERED = "answered"
    NO_CHANGE = "no-change"
    NEEDS_INPUT = "needs-input"
    PLAN_POSTED = "plan-posted"
    REFUSED = "refused"
    OVER_BUDGET = "over-budget"
    OVER_LIMIT = "over-limit"
    TIMED_OUT = "timed-out"
    STUCK = "stuck"
    STOPPED = "stopped"
    FAILED = "failed"


class Problem(ApiValue):
    """What was not done, and why."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    errors: tuple[FieldProblem, ...] = ()


class Reason(ApiValue):
    """Why, if that is to be told."""

    reason: str = ""


class RepositoryView(ApiValue):
    """A repository in which there has been work."""

    forge: str
    name: str


class RepositoryList(ApiValue):
    """Repositories by name."""

    items: tuple[RepositoryView, ...]
    next: str | None = None


class RunConfiguration(ApiValue):
    """What a run works with, as it was when a worker began it."""

    run_id: str
    model: str
    repository: str
    base_branch: str
    base_sha: str
    limits: LimitsView
    setup: tuple[str, ...]
    tests: tuple[str, ...]
    version: str


class RunLinkView(ApiValue):
    """A link that opens a run to everybody who has it; its key is not told again."""

    id: str
    run_id: str
    made_by: str
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None


class RunLinkList(ApiValue):
    """Links to a run, the newest first."""

    items: tuple[RunLinkView, ...]


class RunList(ApiValue):
    """Runs, the newest first."""

    items: tuple[RunEntry, ...]
    next: str | None = None


class RunResult(ApiValue):
    """A run with what came of it."""

    id: str
    conversation_id: str
    state: str
    outcome: str
    reason: str
    proof: str
    source: str
    repository: str
    thread: str
    title: str
    requester: str
    created_at: datetime
    steps: int
    usage: UsageView
    limits: LimitsView | None
    position: int | None
    summary: str
    waits_for: str
    branch: str
    base_sha: str
    head_sha: str
    pull_request_url: str
    evidence: tuple[EvidenceView, ...]


class RunStage(StrEnum):
    """How far a run is; of one of this machine it is not known whether it works."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    DELIVERING = "delivering"
    ENDED = "ended"
    UNFINISHED = "unfinished"


class SettingView(ApiValue):
    """One key as it counts now."""

    key: str
    value: Any
    is_secret: bool
    is_set: bool


class SettingList(ApiValue):
    """The settings, without the secrets."""

    items: tuple[SettingView, ...]


class SharedRun(ApiValue):
    """A link that was made, with the address to give to others."""

    id: str
    run_id: str
    made_by: str
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None
    url: str


class SpendPart(StrEnum):
    """Into what the money is parted."""

    DAY = "day"
    REPOSITORY = "repository"
    PERSON = "person"


class SpendView(ApiValue):
    """What model calls cost in one day, one repository or for one person."""

    key: str
    name: str
    spent_usd: float
    assumed_usd: float


class SpendReport(ApiValue):
    """The parts, the largest first; days in order."""

    since: str
    spent_usd: float
    assumed_usd: float
    items: tuple[SpendView, ...]


class TrajectoryView(ApiValue):
    """A run log in one document, which `patchwright replay` can run again."""

    format: str
    version: int
    run: dict[str, Any]
    events: tuple[dict[str, Any], ...]
