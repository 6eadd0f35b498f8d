"""What a run's page shows."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from math import ceil
from typing import Final
from urllib.parse import quote

from patchwright.core.events.payload import Todo
from patchwright.core.plugin import ServiceDirectory
from patchwright.core.text.strings import dollars, truncate_middle
from patchwright.core.types.base import Value
from patchwright.core.types.threads import ForgeThread, ThreadKind, ThreadRef
from patchwright.core.types.work import ASKED, BlockedRequest, Outcome
from patchwright.resolver.job import Job, JobState, is_over, outcome_of
from patchwright.resolver.messages.elements import (
    cost_text,
    duration_text,
)
from patchwright.resolver.messages.outcome_kinds import outcome_title, outcome_tone
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.publish.publisher import as_delivered
from patchwright.workers.runs.run_row import RunSummary, state_and_tone
from patchwright.workers.web.run_page.change import ShownFile, read_change
from patchwright.workers.web.run_page.proof_view import (
    ProofView,
    command_rows,
    proof_view,
)
from patchwright.workers.web.run_page.steps import LogStep, Note

MAX_DIFF_CHARS: Final = 300_000
# A larger change has a page of its own.
MOST_INLINE_DIFF_CHARS: Final = 20_000
_MOST_BARS: Final = 60
# Units of the drawing, which grows with the page.
_WIDTH: Final = 720
_HEIGHT: Final = 120
_GAP: Final = 2
_WIDEST: Final = 24.0


class OtherThread(Value):
    """A thread and its address, which is empty where only its service knows that."""

    name: str
    url: str


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
    is_over: bool = False

    @property
    def todos_done(self) -> int:
        return sum(one.state == "done" for one in self.todos)


class Bar(Value):
    """What some steps cost; x, y and sizes are where its bar is drawn."""

    title: str
    cost: str
    total: str
    x: float
    y: float
    width: float
    height: float


class CostPlot(Value):
    """Bars from the first step to the last; empty where no price is known."""

    title: str = ""
    description: str = ""
    width: float = _WIDTH
    height: float = _HEIGHT
    bars: tuple[Bar, ...] = ()


class RunView(Value):
    """The whole page, except its events."""

    id: str
    title: str
    repo: str
    repo_url: str
    thread: OtherThread
    others: tuple[OtherThread, ...]
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
    files: tuple[ShownFile, ...]
    is_diff_here: bool
    is_diff_cut: bool
    plot: CostPlot


class StepsView(Value):
    """A page of steps, newest last; `before` leads to the earlier ones."""

    parts: tuple[LogStep | Note, ...] = ()
    before: int | None = None
    is_newest: bool = True
    last_id: int = 0

    @property
    def last_step(self) -> int:
        """Return the number of the newest step, 0 if there is none."""
        return max(
            (one.number for one in self.parts if isinstance(one, LogStep)), default=0
        )


class KnownOfRun(Value):
    """What the stores know of a run: its summary events folded, and the rest."""

    summary: RunSummary
    costs: tuple[float, ...] = ()
    blocked: tuple[BlockedRequest, ...] = ()
    delivered: DeliveryResult = DeliveryResult()
    diff: str = ""
    linked: tuple[ThreadRef, ...] = ()


def run_head(job: Job, known: RunSummary, now: datetime) -> RunHead:
    outcome = outcome_of(job)
    usage = outcome.usage if outcome else known.totals.usage
    spent, limits = usage.cost_usd, known.limits
    used = None
    if spent is not None and limits and limits.max_cost_usd > 0:
        used = min(100, round(100 * spent / limits.max_cost_usd))
    steps = outcome.iterations if outcome else known.steps
    state, tone = state_and_tone(job)
    return RunHead(
        state=state,
        tone=tone,
        cost=cost_text(usage, limits),
        used=used,
        steps=f"{steps} of {limits.max_iterations}" if limits else str(steps),
        time=duration_text(_seconds(job, known, now)),
        todos=known.todos,
        is_over=is_over(job),
    )


def _seconds(job: Job, known: RunSummary, now: datetime) -> float:
    """Return how long it has worked; before that, how long it has waited for that."""
    if worked_s := known.seconds_worked(now):
        return worked_s
    if outcome := outcome_of(job):
        return outcome.seconds
    return max(0.0, (now - job.created_at).total_seconds())


def run_view(
    job: Job, facts: KnownOfRun, *, directory: ServiceDirectory, now: datetime
) -> RunView:
    """Put it together, with addresses of the services' pages."""
    outcome, known, delivered = outcome_of(job), facts.summary, facts.delivered
    repo = job.trigger.place.full_name if job.trigger.place else ""
    return RunView(
        id=job.id,
        title=job.trigger.title or known.title or "A run",
        repo=repo,
        repo_url=f"{directory.forge.web_url}/{repo}" if repo else "",
        thread=thread_link(job.trigger.thread, job, directory),
        others=tuple(other_threads(facts.linked, delivered, job, directory)),
        requester=job.trigger.asker.login,
        asked_at=job.created_at,
        model=known.model,
        head=_head_as_delivered(run_head(job, known, now), job, delivered),
        is_over=is_over(job),
        outcome=outcome,
        # Of a run that somebody has stopped the summary says more.
        reason=outcome.reason if outcome and outcome.reason != ASKED else "",
        proof=_proof(outcome, known, delivered),
        refusal=delivered.refusal,
        pull_request=delivered.pull_request,
        pull_request_url=delivered.pull_request_url,
        branch=delivered.branch,
        branch_url=delivered.branch_url,
        notes=_notes(outcome, known, delivered),
        warnings=outcome.warnings if outcome else (),
        blocked=outcome.blocked if outcome else facts.blocked,
        files=read_change(truncate_middle(facts.diff, MAX_DIFF_CHARS)),
        is_diff_here=len(facts.diff) <= MOST_INLINE_DIFF_CHARS,
        is_diff_cut=len(facts.diff) > MAX_DIFF_CHARS,
        plot=cost_plot(facts.costs),
    )


def thread_link(
    thread: ThreadRef, job: Job, directory: ServiceDirectory
) -> OtherThread:
    """Name a thread as people do; one of another repository says which."""
    home = job.trigger.place
    if isinstance(thread, ForgeThread):
        is_elsewhere = not thread.is_own and home is not None and thread.repo != home
        place = thread.repo.full_name if is_elsewhere else ""
        path = directory.forge.forms.thread_path(thread)
        url = f"{directory.forge.web_url}/{thread.repo.full_name}/{path}"
        name = "a request to this service" if thread.is_own else thread.name
        return OtherThread(name=f"{place}{name}", url=url if path else "")
    service = directory.chats.get(thread.service)
    title = service.title if service else thread.service.capitalize()
    if thread.kind is ThreadKind.CHAT:
        return OtherThread(name=f"a thread of {title}", url="")
    address = service.ticket_url if service else ""
    url = address.format(id=quote(thread.id, safe="")) if address else ""
    return OtherThread(name=thread.name, url=url)


def other_threads(
    linked: Iterable[ThreadRef],
    delivered: DeliveryResult,
    job: Job,
    directory: ServiceDirectory,
) -> Iterator[OtherThread]:
    """Yield the threads besides the one of the request, and the one with a button."""
    for thread in linked:
        shown = thread_link(thread, job, directory)
        is_result = shown.url and shown.url == delivered.pull_request_url
        if thread != job.trigger.thread and not is_result:
            yield shown


def _head_as_delivered(head: RunHead, job: Job, delivered: DeliveryResult) -> RunHead:
    """Claim no more than what is there now."""
    outcome = outcome_of(job)
    if outcome is None or job.state is JobState.DELIVERING:
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


def _notes(
    outcome: Outcome | None, known: RunSummary, delivered: DeliveryResult
) -> tuple[str, ...]:
    if outcome is not None:
        return (*outcome.notes, *delivered.remarks)
    return known.notes


def cost_plot(costs: Sequence[float]) -> CostPlot:
    """Draw it; where there are many steps, each bar is the same number of them."""
    if not any(costs):
        return CostPlot()
    together = ceil(len(costs) / _MOST_BARS)
    groups = [
        (start + 1, costs[start : start + together])
        for start in range(0, len(costs), together)
    ]
    sums = [sum(group) for _, group in groups]
    highest = max(sums)
    slot = min(_WIDTH / len(groups), _WIDEST)
    total, bars = 0.0, []
    for index, ((first, group), cost) in enumerate(zip(groups, sums, strict=True)):
        total += cost
        height = round(_HEIGHT * cost / highest, 1)
        bars.append(
            Bar(
                title=_bar_title(first, len(group)),
                cost=dollars(cost),
                total=dollars(total),
                x=round(index * slot, 1),
                y=round(_HEIGHT - height, 1),
                width=round(slot - _GAP, 1),
                height=height,
            )
        )
    steps = "1 step" if len(costs) == 1 else f"{len(costs):,} steps"
    dearest = bars[sums.index(highest)]
    return CostPlot(
        title=f"Cost by step: {bars[-1].total} in {steps}",
        description=f"{dearest.title} cost most, {dearest.cost}.",
        width=round(slot * len(groups), 1),
        bars=tuple(bars),
    )


def _bar_title(first: int, steps: int) -> str:
    return f"Step {first}" if steps == 1 else f"Steps {first} to {first + steps - 1}"
