"""The one status comment of a run: while it works, and how it ended."""

from datetime import datetime

from patchwright.core.text.cut import cut_middle
from patchwright.core.text.mentions import neutralise
from patchwright.core.types.base import Value
from patchwright.core.types.work import Limits, Outcome, OutcomeKind, Proof, Usage
from patchwright.resolver.messages.facts import (
    agents_words,
    cost,
    counted,
    duration,
    evidence_table,
    proof_sentence,
)

MAX_COMMENT_CHARS = 60_000
_MAX_REFUSAL_CHARS = 4_000


class Delivered(Value):
    """What came of the effects; `refusal` is the service's reason, if it said no.

    `branch` is the one that was written; `left_alone` says why it is not the one that
    was meant. `compare_url` is where a person can make a pull request of it.
    """

    branch: str = ""
    branch_url: str = ""
    compare_url: str = ""
    left_alone: str = ""
    pull_request: int | None = None
    pull_request_url: str = ""
    draft: bool = False
    refusal: str = ""


class Progress(Value):
    """How far a run is; `done` are finished stages, `doing` the present one."""

    state: str = "queued"
    done: tuple[str, ...] = ()
    doing: str = ""
    iterations: int = 0
    usage: Usage = Usage(cost_usd=0.0)
    seconds: float = 0.0


class Frame(Value):
    """What every form of the comment shows around its news."""

    run_id: str
    requester: str
    handle: str
    model: str
    limits: Limits
    asked_at: datetime | None = None


def mark(run_id: str) -> str:
    """Return what is in every form of a run's comment and in no other."""
    return f"run={run_id} -->"


# In the comment of a run that has not ended yet, and in no other text of ours.
UNFINISHED = "<!-- patchwright:state=running "


def progress_comment(progress: Progress, frame: Frame) -> str:
    head = " · ".join(
        part
        for part in (
            "**Queued**" if progress.state == "queued" else "**Working on it**",
            f"step {progress.iterations}" if progress.iterations else "",
            duration(progress.seconds) if progress.seconds >= 1 else "",
            cost(progress.usage, frame.limits) if progress.iterations else "",
            f"reply `{frame.handle} stop` to stop",
        )
        if part
    )
    steps = [f"- [x] {stage}" for stage in progress.done]
    if progress.doing:
        steps.append(f"- [ ] {progress.doing}")
    return _join(
        head, "\n".join(steps), _footer(frame), _state(progress.state, frame.run_id)
    )


def final_comment(outcome: Outcome, delivered: Delivered, frame: Frame) -> str:
    """Say how it ended: the outcome first, then the words, the proof and the facts."""
    facts = [
        counted(outcome.iterations, "step"),
        duration(outcome.seconds),
        cost(outcome.usage, frame.limits),
    ]
    ran = outcome.iterations > 0
    head = " · ".join([_headline(outcome, delivered), *(facts if ran else [])])
    proof = (
        proof_sentence(outcome.proof, outcome.evidence, outcome.reason)
        if outcome.kind is OutcomeKind.RESOLVED
        else ""
    )
    return _join(
        head,
        agents_words(outcome.summary, frame.handle, MAX_COMMENT_CHARS // 2),
        proof,
        evidence_table(outcome.evidence),
        "\n".join(f"- {note}" for note in outcome.notes),
        _kept_work(outcome, delivered, frame.handle),
        _next_step(outcome, delivered, frame.handle),
        _footer(frame),
        _state("waiting" if outcome.waits else outcome.kind, frame.run_id),
    )


def _headline(outcome: Outcome, delivered: Delivered) -> str:
    words = f"**{_WORDS[outcome.kind]}**"
    if outcome.kind is OutcomeKind.FAILED and outcome.reason:
        return f"{words} (`{outcome.reason}`)"
    if outcome.kind is not OutcomeKind.RESOLVED or delivered.pull_request is None:
        return words
    draft = " (draft)" if delivered.draft else ""
    return f"{words} · #{delivered.pull_request}{draft}"


_WORDS = {
    OutcomeKind.RESOLVED: "Done",
    OutcomeKind.ANSWERED: "Answered",
    OutcomeKind.NO_CHANGE: "No change",
    OutcomeKind.NEEDS_INPUT: "Needs you",
    OutcomeKind.PLAN_POSTED: "Plan",
    OutcomeKind.REFUSED: "Declined",
    OutcomeKind.OVER_BUDGET: "Over budget",
    OutcomeKind.OVER_LIMIT: "Over the limit",
    OutcomeKind.TIMED_OUT: "Timed out",
    OutcomeKind.STUCK: "Stuck",
    OutcomeKind.STOPPED: "Stopped",
    OutcomeKind.FAILED: "Failed",
}


def _kept_work(outcome: Outcome, delivered: Delivered, handle: str) -> str:
    """Say where the work is when no pull request shows it."""
    if delivered.refusal:
        why = neutralise(cut_middle(delivered.refusal, _MAX_REFUSAL_CHARS), handle)
        refused = f"The result could not be delivered: {why}"
        return _join(refused, _where(outcome, delivered), _one_click(delivered))
    if not outcome.head_sha or delivered.pull_request is not None:
        return ""
    left_alone = cut_middle(delivered.left_alone, _MAX_REFUSAL_CHARS)
    return _join(neutralise(left_alone, handle), _where(outcome, delivered))


def _where(outcome: Outcome, delivered: Delivered) -> str:
    if not delivered.branch:
        return ""
    where = f"[`{delivered.branch}`]({delivered.branch_url})"
    kept = outcome.kind is OutcomeKind.RESOLVED
    return f"The change is on {where}." if kept else f"The work so far is on {where}."


def _one_click(delivered: Delivered) -> str:
    """Offer what we were not allowed to do."""
    if not delivered.compare_url:
        return ""
    return f"[Open the pull request]({delivered.compare_url}) yourself, in one click."


def _next_step(outcome: Outcome, delivered: Delivered, handle: str) -> str:
    if delivered.refusal:
        return "" if delivered.compare_url else _AFTER_REFUSAL
    if outcome.kind is OutcomeKind.RESOLVED and outcome.proof is not Proof.PROVEN:
        return "Look at the change with care: nothing but its author vouches for it."
    if outcome.waits:
        return _ANSWERS.get(outcome.reason, _ANSWER).format(handle=handle)
    advice = _ADVICE.get(outcome.kind, "")
    return advice.format(handle=f"`{handle}`")


_ANSWER = "It goes on when you answer here: `{handle}` and your words."
_ANSWERS = {
    "confirmation": "Answer `{handle} approve` or `{handle} reject`; any other word to "
    "`{handle}` counts as a no, and is read.",
    "paused": "`{handle} resume` lets it go on, `{handle} stop` ends it.",
}
_AFTER_REFUSAL = "Change that rule or the bot's rights, then ask again."
_AGAIN = "ask again with {handle}"
_ADVICE = {
    OutcomeKind.NEEDS_INPUT: f"Answer in a comment and {_AGAIN}.",
    OutcomeKind.OVER_BUDGET: f"Raise `limits.max_cost_usd` or narrow the request, then "
    f"{_AGAIN}.",
    OutcomeKind.OVER_LIMIT: f"Raise the limit or narrow the request, then {_AGAIN}.",
    OutcomeKind.TIMED_OUT: f"Raise `limits.max_minutes` or narrow the request, then "
    f"{_AGAIN}.",
    OutcomeKind.STUCK: f"Add what could help it on, then {_AGAIN}.",
    OutcomeKind.STOPPED: f"To go on, {_AGAIN}.",
    OutcomeKind.FAILED: f"When the cause is removed, {_AGAIN}.",
}


def _footer(frame: Frame) -> str:
    facts = [f"run {frame.run_id[:8]}", f"asked for by {frame.requester}"]
    if frame.asked_at:
        facts.append(f"content as of {frame.asked_at:%H:%M:%S}Z")
    if frame.model:
        facts.append(f"model {frame.model}")
    return f"<sub>{' · '.join(facts)}</sub>"


def _state(state: str, run_id: str) -> str:
    return f"<!-- patchwright:state={state} {mark(run_id)}"


def _join(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)
