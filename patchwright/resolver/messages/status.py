"""The one status comment of a run while it works; `ending` has how it ended."""

from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

from patchwright.core.events.payload import Todo
from patchwright.core.settings.repository import CONFIG_FILE
from patchwright.core.text.strings import count_noun
from patchwright.core.types.base import Value
from patchwright.core.types.evidence import Evidence, Proof, ProofReport
from patchwright.core.types.people import login_in_mention
from patchwright.core.types.threads import PullRequest, ThreadKind
from patchwright.core.types.work import Limits, Usage
from patchwright.resolver.messages.elements import (
    cost_text,
    details_block,
    duration_text,
    join,
    list_sentences,
    quote_agent,
    quote_agent_line,
)
from patchwright.resolver.messages.readers import Reader

_MAX_TODOS: Final = 15
_MAX_LINE_CHARS: Final = 160
_MAX_PLAN_CHARS: Final = 12_000


class DeliveryResult(Value):
    """The result of the effects; `refusal` is the service's reason, if it said no.

    `branch` is the one that was written; `left_alone` says why it is not the one that
    was meant. `compare_url` is where a person can make a pull request of it.
    `head_sha` is the commit that is there now, `patch` the change as Markdown where
    there is no branch of it. With `is_rebased` it was put on top of other people's
    commits: `evidence` is what was run there, `proof` and `proof_report` what that
    amounts to; without them it was never run with those commits. `remarks` are what
    could not be done besides, a sentence each.
    """

    branch: str = ""
    branch_url: str = ""
    compare_url: str = ""
    left_alone: str = ""
    pull_request: int | None = None
    pull_request_url: str = ""
    draft: bool = False
    refusal: str = ""
    head_sha: str = ""
    patch: str = ""
    is_rebased: bool = False
    evidence: tuple[Evidence, ...] = ()
    proof: Proof = Proof.NOT_PROVEN
    proof_report: ProofReport | None = None
    remarks: tuple[str, ...] = ()
    pull_request_kind: ThreadKind = ThreadKind.PULL_REQUEST

    def with_pull(self, pull: PullRequest) -> "DeliveryResult":
        """Return it with the pull request that the change is in."""
        return self.replace(
            pull_request=pull.number,
            pull_request_kind=pull.kind,
            pull_request_url=pull.url,
            draft=pull.draft,
        )

    @property
    def pull_name(self) -> str:
        """What people call the pull request in its repository."""
        return f"{self.pull_request_kind.mark}{self.pull_request}"

    def with_remarks(self, remarks: tuple[str, ...]) -> "DeliveryResult":
        """Return it with these remarks before its own, each once."""
        others = tuple(one for one in self.remarks if one not in remarks)
        return DeliveryResult(**(dict(self) | {"remarks": (*remarks, *others)}))

    @property
    def is_in_doubt(self) -> bool:
        """Tell whether it may not do on top of other commits what it did before."""
        return self.is_rebased and self.proof is not Proof.PROVEN

    @property
    def is_shown_as_draft(self) -> bool:
        """Tell whether people find a draft of a pull request."""
        return self.draft and self.pull_request is not None and not self.refusal

    @property
    def is_nowhere(self) -> bool:
        """Tell whether the change is on no branch, but at most in a message."""
        return bool(self.refusal) and not self.branch


class AgreedPlan(Value):
    """The agent's plan, and who has approved it, such as `@alice`."""

    text: str
    by: str


class Progress(Value):
    """How far a run is; `done` are finished stages, `doing` the present one.

    `todos` is the agent's own plan of what lies between them and `then`, the stages
    that came after its work, of which `missed` did not end as hoped. `more_iterations`
    and `more_cost_usd` are what people have allowed besides the limits of the start.
    `notes` are about the task: what was removed from it, among others. `plan` is what
    people have approved, if a plan came first.
    """

    state: str = "queued"
    done: tuple[str, ...] = ()
    todos: tuple[Todo, ...] = ()
    then: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    doing: str = ""
    iterations: int = 0
    usage: Usage = Usage(cost_usd=0.0)
    more_iterations: int = 0
    more_cost_usd: float = 0.0
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    plan: AgreedPlan | None = None

    def allowed(self, limits: Limits) -> Limits:
        return limits.replace(
            max_iterations=limits.max_iterations + self.more_iterations,
            max_cost_usd=limits.max_cost_usd + self.more_cost_usd,
        )


class MessageHeader(Value):
    """What every form of the comment shows around its news.

    `label` is the one that has started the run; status labels begin with it. It is
    empty where something else did. `run_url` is the run's page. Where the thread is not
    beside the code, a pull request's number alone would lead nowhere, and `repo` says
    where the work is. In a chat (`is_chat`) nothing can be folded. `config_file` is
    the repository's configuration file. `forge_url` begins the addresses of the forge.
    People who may write add at most `max_raise_usd`
    to what the run may cost; None where that is not known. `work_at` says where the
    change is that is on no branch. `shown_name` is what people of a chat or a tracker
    call the requester, and is said to nobody else; `reader` is who reads it all.
    """

    run_id: str
    requester: str
    handle: str
    model: str
    limits: Limits
    asked_at: datetime | None = None
    label: str = ""
    run_url: str = ""
    is_beside_code: bool = True
    is_chat: bool = False
    repo: str = ""
    config_file: str = CONFIG_FILE
    forge_url: str = ""
    max_raise_usd: float | None = None
    work_at: str = ""
    shown_name: str = ""
    reader: Reader = Reader.REQUESTER

    @property
    def links(self) -> tuple[str, ...]:
        """Return how addresses begin that may be links in words of others."""
        return tuple(
            f"{site.scheme}://{site.netloc}/"
            for site in map(urlsplit, (self.forge_url, self.run_url))
            if site.scheme and site.netloc
        )

    def without_link_key(self) -> "MessageHeader":
        """Return it with a link that opens for those alone who may read the code.

        The usual link opens for everybody who has it, and the page shows code and text.
        """
        return self.replace(run_url=self.run_url.partition("?")[0])


def mark(run_id: str) -> str:
    """Return what is in every form of a run's comment and in no other."""
    return f"run={run_id} -->"


def in_state(state: str = "") -> str:
    """Return what is in the comments of all runs in a state, by default in any."""
    return f"<!-- patchwright:state={state} " if state else "<!-- patchwright:state="


# In the comment of a run that has not ended yet, and in no other text of ours.
UNFINISHED = in_state("running")


def progress_comment(progress: Progress, frame: MessageHeader) -> str:
    return join(
        " · ".join(part for part in _progress_head(progress, frame) if part),
        checklist(progress, frame.handle),
        f"Now: {progress.doing}" if progress.doing and _is_planned(progress) else "",
        approved_plan(progress, frame),
        _request_notes(progress.notes, frame.handle),
        footer(frame),
        state_mark(progress.state, frame.run_id),
    )


def checklist(progress: Progress, handle: str) -> str:
    """List the stages, with the agent's own plan where its work stands."""
    lines = [f"- [x] {stage}" for stage in progress.done]
    lines += _todo_lines(progress.todos, handle)
    lines += [_stage_line(stage, progress.missed) for stage in progress.then]
    if progress.doing and not _is_planned(progress):
        lines.append(f"- [ ] {progress.doing}")
    return "\n".join(lines)


def _stage_line(stage: str, missed: tuple[str, ...]) -> str:
    return f"- [ ] ❌ {stage}" if stage in missed else f"- [x] {stage}"


def approved_plan(progress: Progress, frame: MessageHeader) -> str:
    """Fold the plan that was approved: without it nobody knows to what they said yes.

    A chat folds nothing: there it is one line, with a link to all of it.
    """
    if progress.plan is None:
        return ""
    title = f"Plan, approved by {_approver(progress.plan.by)}"
    text = progress.plan.text
    if frame.is_chat:
        line = quote_agent_line(text, frame.handle, _MAX_LINE_CHARS)
        return " · ".join(filter(None, (f"{title}: {line}", run_link(frame, "run"))))
    words = quote_agent(text, frame.handle, _MAX_PLAN_CHARS, frame.links)
    return details_block(title, words)


def _approver(by: str) -> str:
    """Return who it was; only a login is known to hold no markup."""
    return f"@{login}" if (login := login_in_mention(by)) else "a person"


def footer(frame: MessageHeader) -> str:
    requester = frame.shown_name or frame.requester
    facts = [f"run {frame.run_id[:8]}", f"requested by {requester}"]
    if frame.repo:
        facts.append(f"in {frame.repo}")
    if frame.asked_at:
        facts.append(f"thread read at {frame.asked_at:%H:%M} UTC")
    if frame.model:
        facts.append(f"model {frame.model}")
    return f"<sub>{' · '.join(facts)}</sub>"


def state_mark(state: str, run_id: str) -> str:
    return f"<!-- patchwright:state={state} {mark(run_id)}"


def run_link(frame: MessageHeader, words: str) -> str:
    return f"[{words}]({frame.run_url})" if frame.run_url else ""


def _progress_head(progress: Progress, frame: MessageHeader) -> tuple[str, ...]:
    limits = progress.allowed(frame.limits)
    is_queued = progress.state == "queued"
    has_begun = progress.iterations > 0
    return (
        "**Queued**" if is_queued else "**Working on it**",
        f"step {progress.iterations} of {limits.max_iterations}" if has_begun else "",
        duration_text(progress.seconds) if progress.seconds >= 1 else "",
        cost_text(progress.usage, limits) if has_begun else "",
        run_link(frame, "live log"),
        f"reply `{frame.handle} stop` to stop",
    )


def _is_planned(progress: Progress) -> bool:
    """Tell whether the agent's plan says already what is done now."""
    return bool(progress.todos) and not progress.then


def _todo_lines(todos: tuple[Todo, ...], handle: str) -> list[str]:
    """List the agent's plan below a line that says whose it is."""
    if not todos:
        return []
    lines = [_todo_line(todo, handle) for todo in todos[:_MAX_TODOS]]
    if left := len(todos[_MAX_TODOS:]):
        lines.append(f"- … and {left} more")
    return ["- The agent's plan:", *(f"  {line}" for line in lines)]


def _todo_line(todo: Todo, handle: str) -> str:
    words = quote_agent_line(todo.text, handle, _MAX_LINE_CHARS)
    if todo.state == "doing":
        return f"- [ ] **→** {words}"
    return f"- [{'x' if todo.state == 'done' else ' '}] {words}"


def _request_notes(notes: tuple[str, ...], handle: str) -> str:
    """Say at once what was removed from the request, and what else is odd about it."""
    if not notes:
        return ""
    title = f"{count_noun(len(notes), 'note')} on the request"
    return details_block(title, "\n".join(list_sentences(notes, handle)))
