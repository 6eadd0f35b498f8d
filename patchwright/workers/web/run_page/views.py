"""What a run's page shows."""

from datetime import datetime
from typing import Final

from patchwright.core.events.payload import Todo
from patchwright.core.plugin import ServiceProfile
from patchwright.core.text.strings import truncate_middle
from patchwright.core.types.base import Value
from patchwright.core.types.threads import (
    ForgeForms,
    ForgeThread,
    ThreadKind,
    ThreadRef,
)
from patchwright.core.types.work import BlockedRequest, Outcome
from patchwright.resolver.job import Job, is_over, outcome_of
from patchwright.resolver.messages.elements import (
    cost_text,
    duration_text,
)
from patchwright.resolver.messages.outcome_kinds import outcome_title, outcome_tone
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.publish.publisher import as_delivered
from patchwright.workers.runs.run_row import RunSummary, state_and_tone
from patchwright.workers.web.run_page.entries import EventEntry
from patchwright.workers.web.run_page.proof_view import (
    ProofView,
    command_rows,
    proof_view,
)

MAX_DIFF_CHARS: Final = 300_000


class FileDiff(Value):
    """The part of a diff that is about one file."""

    name: str
    added: int
    removed: int
    lines: tuple[str, ...]


class RunHead(Value):
    """What is brought up to date while the run works.

    `tone` is good, bad, open or plain; `used` is the spent part of the budget in
    per cent, None where there is no price.
    """

    state: str
    tone: str
    cost: str
    used: int | None
    steps: str
    time: str
    todos: tuple[Todo, ...] = ()


class RunView(Value):
    """The whole page, except its events."""

    id: str
    title: str
    repo: str
    repo_url: str
    thread: str
    thread_url: str
    requester: str
    asked_at: datetime
    model: str
    head: RunHead
    is_over: bool
    outcome: Outcome | None
    reason: str
    proof: ProofView
    refusal: str
    pull_request: int | None
    pull_request_url: str
    branch: str
    branch_url: str
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    blocked: tuple[BlockedRequest, ...]
    files: tuple[FileDiff, ...]
    is_diff_cut: bool


class EventsView(Value):
    """A page of events, newest last; `before` leads to the earlier ones."""

    entries: tuple[EventEntry, ...] = ()
    before: int | None = None
    is_newest: bool = True
    last_id: int = 0


def run_head(job: Job, known: RunSummary, now: datetime) -> RunHead:
    outcome = outcome_of(job)
    usage = outcome.usage if outcome else known.totals.usage
    spent, limits = usage.cost_usd, known.limits
    used = None
    if spent is not None and limits and limits.max_cost_usd > 0:
        used = min(100, round(100 * spent / limits.max_cost_usd))
    steps = outcome.iterations if outcome else known.steps
    since_s = (now - job.created_at).total_seconds()
    state, tone = state_and_tone(job)
    return RunHead(
        state=state,
        tone=tone,
        cost=cost_text(usage, limits),
        used=used,
        steps=f"{steps} of {limits.max_iterations}" if limits else str(steps),
        time=duration_text(outcome.seconds if outcome else max(0.0, since_s)),
        todos=() if outcome else known.todos,
    )


def run_view(
    job: Job,
    known: RunSummary,
    delivered: DeliveryResult,
    diff: str,
    *,
    forge: ServiceProfile,
    now: datetime,
) -> RunView:
    """Put it together, with addresses of the forge's pages."""
    outcome, thread = outcome_of(job), job.trigger.thread
    repo = job.trigger.place.full_name if job.trigger.place else ""
    repo_url = f"{forge.web_url}/{repo}" if repo else ""
    return RunView(
        id=job.id,
        title=job.trigger.title or known.title or "A run",
        repo=repo,
        repo_url=repo_url,
        thread=_name_of(thread),
        thread_url=_thread_url(thread, repo_url, forge.forms),
        requester=job.trigger.asker.login,
        asked_at=job.created_at,
        model=known.model,
        head=_head_as_delivered(run_head(job, known, now), outcome, delivered),
        is_over=is_over(job),
        outcome=outcome,
        reason=outcome.reason if outcome else "",
        proof=_proof(outcome, known, delivered),
        refusal=delivered.refusal,
        pull_request=delivered.pull_request,
        pull_request_url=delivered.pull_request_url,
        branch=delivered.branch,
        branch_url=delivered.branch_url,
        notes=_notes(outcome, known, delivered),
        warnings=outcome.warnings if outcome else (),
        blocked=outcome.blocked if outcome else (),
        files=split_diff(truncate_middle(diff, MAX_DIFF_CHARS)),
        is_diff_cut=len(diff) > MAX_DIFF_CHARS,
    )


def _head_as_delivered(
    head: RunHead, outcome: Outcome | None, delivered: DeliveryResult
) -> RunHead:
    """Claim no more than what is there now."""
    if outcome is None:
        return head
    shown = as_delivered(outcome, delivered)
    title = outcome_title(shown, is_draft=delivered.is_shown_as_draft)
    return head.replace(state=title, tone=outcome_tone(shown))


def _proof(
    outcome: Outcome | None, known: RunSummary, delivered: DeliveryResult
) -> ProofView:
    """Return the proof of what is there now, or what was run of it so far."""
    if outcome is None:
        return ProofView(commands=command_rows(known.evidence))
    return proof_view(as_delivered(outcome, delivered))


def _name_of(thread: ThreadRef) -> str:
    is_chat = thread.kind is ThreadKind.CHAT
    return f"a thread of {thread.service.capitalize()}" if is_chat else thread.name


def _thread_url(thread: ThreadRef, repo_url: str, forms: ForgeForms) -> str:
    """Return its address, empty where only its service knows that."""
    path = forms.thread_path(thread) if isinstance(thread, ForgeThread) else ""
    return f"{repo_url}/{path}" if path else ""


def split_diff(diff: str) -> tuple[FileDiff, ...]:
    """Divide a diff at git's own headings, to be read file by file."""
    parts: list[list[str]] = []
    for line in diff.splitlines():
        if line.startswith("diff --git "):
            parts.append([])
        if parts:
            parts[-1].append(line)
    return tuple(_file_diff(part) for part in parts)


def _file_diff(lines: list[str]) -> FileDiff:
    hunks = next((n for n, line in enumerate(lines) if line.startswith("@@")), None)
    body = lines[hunks:] if hunks is not None else []
    return FileDiff(
        name=lines[0].rpartition(" b/")[2],
        added=sum(line.startswith("+") for line in body),
        removed=sum(line.startswith("-") for line in body),
        lines=tuple(lines[1:]),
    )


def _notes(
    outcome: Outcome | None, known: RunSummary, delivered: DeliveryResult
) -> tuple[str, ...]:
    if outcome is not None:
        return (*outcome.notes, *delivered.remarks)
    return known.notes
