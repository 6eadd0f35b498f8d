"""Resolve one task: sandbox, agent, commits out, checks, proof."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from patchwright.core.agent.controller import Controller, Ending
from patchwright.core.errors import GitError, PatchwrightError, SandboxError
from patchwright.core.events.state import RunState, fold
from patchwright.core.events.types import (
    Event,
    Finish,
    Message,
    ModelReply,
    OutcomeReached,
    Source,
)
from patchwright.core.runtime import Runtime
from patchwright.core.text.cut import cut_middle
from patchwright.core.types.work import Outcome, OutcomeKind, Proof, Task
from patchwright.resolver.clean import clean
from patchwright.resolver.messages.facts import EVIDENCE_FAILED
from patchwright.resolver.prove import judge, prove
from patchwright.resolver.toolkit import Toolkit
from patchwright.sandbox.workspace import Workspace

WORK_BRANCH = "work"
CONTEXT_FOLDER = "/workspace/context"
_MAX_TITLE_CHARS = 72


@dataclass(frozen=True)
class Resolution:
    """How a task ended; events after `read_up_to` were not taken notice of."""

    outcome: Outcome
    read_up_to: int


@dataclass(frozen=True)
class _Attempt:
    """What an attempt left: how it ended, and its commits if it changed anything."""

    ending: Ending
    state: RunState
    read_up_to: int
    bundle: bytes | None = None


def resolve(task: Task, kit: Toolkit, start_id: int = 1) -> Resolution:
    """Work on a task until it ends, and return how.

    What people said in the log from `start_id` on is heard. When the outcome has a
    `head_sha`, that commit is in `kit.code`. Raises `LeaseLostError`; everything else
    is an outcome.
    """
    started = kit.clock.monotonic()
    kit.log.append(Source.SYSTEM, Message(text=task.text))
    attempt = _attempt(task, kit, start_id)
    outcome = _settle(task, kit, attempt)
    outcome = outcome.model_copy(
        update={
            "base_branch": task.base_branch,
            "base_sha": task.base_sha,
            "usage": attempt.state.usage,
            "iterations": attempt.state.iterations,
            "seconds": round(kit.clock.monotonic() - started, 1),
            "notes": (*task.notes, *outcome.notes),
        }
    )
    return Resolution(_as_logged(kit, outcome), attempt.read_up_to)


def _as_logged(kit: Toolkit, outcome: Outcome) -> Outcome:
    """Write the outcome down, and return what people may see: without secrets."""
    payload = kit.log.append(Source.SYSTEM, OutcomeReached(outcome=outcome)).payload
    return payload.outcome if isinstance(payload, OutcomeReached) else outcome


def _attempt(task: Task, kit: Toolkit, start_id: int) -> _Attempt:
    try:
        runtime = kit.sandboxes.start(kit.spec)
    except SandboxError as error:
        return _Attempt(_failure(error), RunState(), start_id)
    try:
        return _work(task, kit, runtime, start_id)
    finally:
        runtime.close()


def _work(task: Task, kit: Toolkit, runtime: Runtime, start_id: int) -> _Attempt:
    controller = Controller(
        model=kit.model,
        runtime=runtime,
        log=kit.log,
        limits=kit.limits,
        purse=kit.purse,
        clock=kit.clock,
        hear=kit.hear,
        start_id=start_id,
    )
    bundle: bytes | None = None
    try:
        packed = kit.code.bundle(task.base_sha)
        workspace = Workspace.check_out(runtime, packed, task.base_sha, WORK_BRANCH)
        for name, text in task.files.items():
            runtime.upload(f"{CONTEXT_FOLDER}/{name}", text.encode("utf-8", "replace"))
        ending = controller.run()
        bundle = workspace.export(task.base_sha)
    except (SandboxError, GitError) as error:
        ending = _failure(error)
    events = kit.log.read(start_id)
    if ending.kind is OutcomeKind.STOPPED:
        read_up_to = controller.read_up_to
    else:
        read_up_to = _last_shown(events, start_id)
    # The controller leaves its last reply unread, which was paid for all the same.
    state = reduce(fold, events, RunState())
    return _Attempt(ending, state, read_up_to, bundle)


def _last_shown(events: Sequence[Event], start_id: int) -> int:
    """Return the last event that the model had before it when it spoke last.

    What people said after it has had no effect, whoever has read it.
    """
    replies = (event for event in events if isinstance(event.payload, ModelReply))
    return max((event.cause or event.id for event in replies), default=start_id)


def _settle(task: Task, kit: Toolkit, attempt: _Attempt) -> Outcome:
    """Turn what the attempt left into an outcome; work is kept whatever the ending."""
    ending = attempt.ending
    if attempt.bundle is None:
        return _unchanged(ending)
    try:
        arrived = kit.code.take(attempt.bundle, task.base_sha, kit.run_id)
        cleaned = clean(kit.code, task.base_sha, arrived)
        if cleaned.tree == kit.code.tree_of(task.base_sha):
            return _unchanged(ending)
        if cleaned.excess:
            return _too_much(ending, cleaned.excess)
        head_sha = _commit(task, kit, ending, cleaned.tree)
    except PatchwrightError as error:
        return Outcome(kind=OutcomeKind.FAILED, reason=error.reason, summary=str(error))
    changed = Outcome(
        kind=ending.kind,
        reason=ending.reason,
        summary=ending.text,
        title=_title(task, ending.finish),
        head_sha=head_sha,
        notes=cleaned.notes,
    )
    return _proven(kit, task.base_sha, changed, ending.finish)


def _proven(
    kit: Toolkit, base_sha: str, changed: Outcome, finish: Finish | None
) -> Outcome:
    """Add the evidence; a proof that fails is no reason to lose the change."""
    commands = finish.test_commands if finish else ()
    try:
        evidence = prove(kit, base_sha, changed.head_sha, commands)
    except (SandboxError, GitError) as error:
        note = f"No fresh sandbox could be used: {cut_middle(str(error), 500)}"
        notes = (*changed.notes, note)
        doubt = {"proof": Proof.NOT_PROVEN, "reason": EVIDENCE_FAILED, "notes": notes}
        return changed.model_copy(update=doubt)
    return changed.model_copy(update={"evidence": evidence, "proof": judge(evidence)})


def _unchanged(ending: Ending) -> Outcome:
    kind, text = ending.kind, ending.text
    if kind is OutcomeKind.RESOLVED:
        answer = ending.finish.answer if ending.finish else ""
        kind = OutcomeKind.ANSWERED if answer else OutcomeKind.NO_CHANGE
        text = answer or text
    return Outcome(kind=kind, reason=ending.reason, summary=text)


def _too_much(ending: Ending, excess: tuple[str, ...]) -> Outcome:
    asked = "The change was not proposed, since it looks like an accident:"
    lines = [asked, *(f"- {line}" for line in excess), "", ending.text]
    return Outcome(
        kind=OutcomeKind.NEEDS_INPUT, reason="excess", summary="\n".join(lines)
    )


def _commit(task: Task, kit: Toolkit, ending: Ending, tree: str) -> str:
    """Make the one commit that is delivered; its tree is what the sandbox held."""
    finish = _last_words(kit) if ending.finish else None
    said = finish.summary if finish else f"Unfinished: the run ended as {ending.kind}."
    parts = (_title(task, finish), said, task.message_trailer)
    message = "\n\n".join(part for part in parts if part.strip())
    return kit.code.commit(
        tree,
        task.base_sha,
        message=f"{message}\n",
        author=kit.author,
        committer=kit.author,
        when=kit.clock.now(),
    )


def _last_words(kit: Toolkit) -> Finish | None:
    """Return how the agent finished as the log has it: without secrets."""
    kinds = frozenset({"finish"})
    newest = kit.log.read(limit=1, reverse=True, kinds=kinds)
    return next((e.payload for e in newest if isinstance(e.payload, Finish)), None)


def _title(task: Task, finish: Finish | None) -> str:
    proposed = finish.title if finish else ""
    line = " ".join((proposed or task.title or "Proposed change").split())
    return line if len(line) <= _MAX_TITLE_CHARS else f"{line[: _MAX_TITLE_CHARS - 1]}…"


def _failure(error: PatchwrightError) -> Ending:
    return Ending(OutcomeKind.FAILED, error.reason, cut_middle(str(error), 2_000))
