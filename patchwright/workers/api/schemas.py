"""What the API takes and gives: values of its own, so that the inside may change."""

from datetime import datetime
from typing import Any

from pydantic import ConfigDict, Field

from patchwright.core.events.types import Event
from patchwright.core.types.base import ReadableText, Value
from patchwright.core.types.evidence import Evidence
from patchwright.core.types.people import Actor
from patchwright.core.types.work import Limits, Usage
from patchwright.resolver.job import Job, outcome_of
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.workers.accounts.principal import Principal
from patchwright.workers.api.cursors import Page
from patchwright.workers.runs.requests import MAX_TEXT_CHARS
from patchwright.workers.runs.run_row import RunRow
from patchwright.workers.store.run_links import RunLink


class IdentityView(Value):
    """Somebody, as a service knows them."""

    service: str
    login: str


class AccountView(Value):
    """Who sends the requests, and what they may do."""

    name: str = Field(description="Empty for the holder of `security.admin_token`.")
    role: str = Field(description="`viewer`, `member` or `admin`, for this request.")
    signed_in_by: str = Field(
        description="`session`, `api-token` or `admin-token`: what the request has."
    )
    account_id: str | None
    identity: IdentityView | None = Field(
        description="Who they are where the code is; null where that is not known."
    )


def account_view(principal: Principal) -> AccountView:
    known = principal.identity
    return AccountView(
        name=principal.name,
        role=principal.role,
        signed_in_by=principal.signed_in_by,
        account_id=principal.account_id,
        identity=known and identity_view(known),
    )


def identity_view(actor: Actor) -> IdentityView:
    return IdentityView(service=actor.service, login=actor.login)


class UsageView(Value):
    """What model calls took."""

    cost_usd: float | None = Field(description="Null where a price is not known.")
    tokens_in: int
    tokens_out: int
    tokens_cached: int


def usage_view(usage: Usage) -> UsageView:
    return UsageView(
        cost_usd=usage.cost_usd,
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        tokens_cached=usage.tokens_cached,
    )


class LimitsView(Value):
    """Where a run must stop."""

    max_iterations: int
    max_cost_usd: float
    max_tokens: int
    max_minutes: float


def limits_view(limits: Limits) -> LimitsView:
    return LimitsView(
        max_iterations=limits.max_iterations,
        max_cost_usd=limits.max_cost_usd,
        max_tokens=limits.max_tokens,
        max_minutes=limits.max_minutes,
    )


class RunEntry(Value):
    """The work on one request."""

    id: str
    conversation_id: str
    state: str = Field(
        description="`queued`, `running`, `waiting`, `delivering` or `ended`."
    )
    outcome: str = Field(description="Empty until it has ended or waits for somebody.")
    reason: str = Field(description="Short code of why it ended so.")
    proof: str = Field(description="How much is shown of the change.")
    source: str = Field(description="The service where the request was made.")
    repository: str = Field(description="`OWNER/NAME`; empty until it is known.")
    thread: str = Field(description="What people call the thread of the request.")
    title: str
    requester: str
    created_at: datetime
    steps: int
    usage: UsageView
    limits: LimitsView | None = Field(description="Null until a worker begins.")
    position: int | None = Field(
        description="Its place among those that wait for a worker, in lists."
    )


def run_entry(job: Job, row: RunRow) -> RunEntry:
    return RunEntry(
        id=row.id,
        conversation_id=job.conversation_id,
        state=row.stage,
        outcome=row.outcome,
        reason=row.reason,
        proof=row.proof,
        source=row.source,
        repository=row.repo,
        thread=row.thread,
        title=row.title,
        requester=row.requester,
        created_at=job.created_at,
        steps=row.steps,
        usage=usage_view(row.usage),
        limits=row.limits and limits_view(row.limits),
        position=row.position,
    )


class RunList(Page):
    """Runs, the newest first."""

    items: tuple[RunEntry, ...]


class EvidenceView(Value):
    """A command that the service ran itself to prove the change."""

    role: str = Field(description="On which files: `before` the change, `after` it.")
    command: str
    commit: str
    exit_code: int | None = Field(description="Null where it did not end by itself.")
    seconds: float
    digest: str = Field(description="SHA-256 of its whole output.")


def evidence_view(one: Evidence) -> EvidenceView:
    return EvidenceView(
        role=one.role,
        command=one.command,
        commit=one.commit,
        exit_code=one.exit_code,
        seconds=one.seconds,
        digest=one.digest,
    )


class RunResult(RunEntry):
    """A run with what came of it."""

    summary: str = Field(description="What is said of the outcome, in Markdown.")
    waits_for: str = Field(
        description="`question`, `plan`, `confirmation` or `paused` while it waits."
    )
    branch: str
    base_sha: str
    head_sha: str
    pull_request_url: str
    evidence: tuple[EvidenceView, ...]


def run_result(job: Job, row: RunRow, delivered: DeliveryResult) -> RunResult:
    outcome = outcome_of(job)
    return RunResult(
        **dict(run_entry(job, row)),
        summary=outcome.summary if outcome else "",
        waits_for=outcome.wait_reason if outcome and outcome.waits else "",
        branch=delivered.branch,
        base_sha=outcome.base_sha if outcome else "",
        head_sha=outcome.head_sha if outcome else "",
        pull_request_url=delivered.pull_request_url,
        evidence=tuple(map(evidence_view, outcome.evidence)) if outcome else (),
    )


class RunLinkView(Value):
    """A link that opens a run to everybody who has it; its key is not told again."""

    id: str
    run_id: str
    made_by: str = Field(
        description="Name of who made it; empty for the link in the service's own "
        "messages about the run."
    )
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None = Field(
        description="When it was taken back; null where it was not."
    )


def run_link_view(link: RunLink) -> RunLinkView:
    return RunLinkView(
        id=link.id,
        run_id=link.job_id,
        made_by=link.maker,
        created_at=link.created_at,
        expires_at=link.expires_at,
        revoked_at=link.revoked_at,
    )


class RunLinkList(Value):
    """Links to a run, the newest first."""

    items: tuple[RunLinkView, ...]


class SharedRun(RunLinkView):
    """A link that was made, with the address to give to others."""

    url: str


class ConversationView(Value):
    """Everything about one piece of work, with its newest run."""

    id: str
    title: str
    repository: str = Field(description="`OWNER/NAME`; empty until it is known.")
    created_at: datetime
    run: RunEntry


class ThreadView(Value):
    """A place where people talk about it."""

    service: str
    kind: str
    name: str


class ConversationDetails(ConversationView):
    """A conversation with its threads and all its runs, the oldest first."""

    threads: tuple[ThreadView, ...]
    run_ids: tuple[str, ...]


class ConversationList(Page):
    """Conversations, the newest first."""

    items: tuple[ConversationView, ...]


class EventPayload(Value):
    """What happened; more fields depend on `kind`, and newer versions know more kinds.

    They are described on the page “Trajectories”.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    kind: str


class EventView(Value):
    """One entry of the run log."""

    id: int = Field(description="Counts from 1 in a conversation; the cursor.")
    at: datetime
    source: str = Field(description="`user`, `agent`, `environment` or `system`.")
    cause: int | None = Field(description="Id of the event that it answers.")
    payload: EventPayload


def event_view(event: Event) -> EventView:
    payload = event.payload.model_dump(mode="json")
    return EventView(
        id=event.id,
        at=event.at,
        source=event.source,
        cause=event.cause,
        payload=EventPayload.model_validate(payload),
    )


class EventList(Value):
    """Events in the order that was asked for."""

    items: tuple[EventView, ...]
    next_id: int | None = Field(
        description="Where the next page begins: its `start_id`, or its `end_id` with "
        "`reverse`; null on the last one."
    )


_Text = ReadableText


class NewConversation(Value):
    """A request."""

    repository: str = Field(
        min_length=1,
        max_length=300,
        description="`OWNER/NAME`, or the URL of an issue or a pull request there.",
    )
    text: _Text = Field(
        "",
        max_length=MAX_TEXT_CHARS,
        description="The task, in Markdown; may be empty for an issue.",
    )
    plan_first: bool = Field(
        False, description="Post a plan and wait for `approve` before the work."
    )


class NewMessage(Value):
    """Something to tell a run: an answer, a correction, or a follow-up request."""

    text: _Text = Field(
        min_length=1, max_length=MAX_TEXT_CHARS, description="In Markdown."
    )


class Reason(Value):
    """Why, if that is to be told."""

    reason: _Text = Field("", max_length=2_000)


class BudgetChange(Value):
    """How much a run may cost."""

    amount: str = Field(
        pattern=r"^\+?[0-9]{1,6}(\.[0-9]{1,2})?$",
        description="US dollars: `+2` more, `2` in all.",
    )


class AcceptedRequest(Value):
    """What was sent is stored; the run's events tell what comes of it."""

    conversation_id: str | None
    run_id: str | None = Field(description="The run that was started, or was told.")
    verdict: str = Field(
        description="`accepted`: a run starts; `joined`: a run was told; `ignored`: "
        "nothing comes of it."
    )


class RunConfiguration(Value):
    """What a run works with, as it was when a worker began it."""

    run_id: str
    model: str
    repository: str
    base_branch: str
    base_sha: str
    limits: LimitsView
    setup: tuple[str, ...] = Field(description="Commands before the agent starts.")
    tests: tuple[str, ...] = Field(description="Test commands of the repository.")
    version: str = Field(description="The version of Patchwright.")


class TrajectoryView(Value):
    """A run log in one document, which `patchwright replay` can run again."""

    model_config = ConfigDict(frozen=True, extra="allow")

    format: str
    version: int
    run: dict[str, Any]
    events: tuple[dict[str, Any], ...]


class RepositoryView(Value):
    """A repository in which there has been work."""

    forge: str
    name: str


class RepositoryList(Page):
    """Repositories by name."""

    items: tuple[RepositoryView, ...]


class SpendView(Value):
    """What model calls cost in one day, one repository or for one person."""

    key: str = Field(description="The day, the repository, or the id of the account.")
    name: str = Field(description="What people call it.")
    spent_usd: float
    assumed_usd: float = Field(description="For calls whose price is not known.")


class SpendReport(Value):
    """The parts, the largest first; days in order."""

    since: str = Field(description="The first day, in UTC.")
    spent_usd: float
    assumed_usd: float
    items: tuple[SpendView, ...]


class SettingView(Value):
    """One key as it counts now."""

    key: str
    value: Any = Field(description="Null for a secret, and where nothing is set.")
    is_secret: bool
    is_set: bool


class SettingList(Value):
    """The settings, without the secrets."""

    items: tuple[SettingView, ...]
