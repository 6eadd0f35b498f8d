"""Turn what an attempt left into an outcome; work is kept whatever the ending."""

from typing import Final

from patchwright.core.agent.endings import Ending
from patchwright.core.errors import GitError, PatchwrightError, SandboxError
from patchwright.core.events.types import Finish
from patchwright.core.text.cut import cut_middle
from patchwright.core.types.work import Outcome, OutcomeKind, Proof, Task
from patchwright.resolver.clean import Keep, Objection, clean
from patchwright.resolver.messages.facts import EVIDENCE_FAILED
from patchwright.resolver.prove import find_regressions, judge, prove
from patchwright.resolver.toolkit import Toolkit

_MAX_TITLE_CHARS: Final = 72


def settle(task: Task, kit: Toolkit, ending: Ending, bundle: bytes | None) -> Outcome:
    """Return the outcome; `bundle` has the commits if anything was changed."""
    if bundle is None:
        return _unchanged(ending)
    try:
        arrived = kit.code.take(bundle, task.base_sha, kit.run_id)
        cleaned = clean(
            kit.code,
            task.base_sha,
            arrived,
            protected_paths=kit.protected_paths,
            find_known=kit.find_known,
        )
        if cleaned.tree == kit.code.tree_of(task.base_sha):
            return _unchanged(ending)
        if cleaned.excess:
            return _too_much(ending, cleaned.excess)
        if cleaned.objection and cleaned.objection.keep is Keep.NOTHING:
            return _objected(cleaned.objection, ending)
        head_sha = _commit(task, kit, ending, cleaned.tree)
    except PatchwrightError as error:
        return Outcome(kind=OutcomeKind.FAILED, reason=error.reason, summary=str(error))
    changed = Outcome(
        kind=ending.kind,
        reason=ending.reason,
        summary=ending.text,
        title=_title(task, ending.finish),
        head_sha=head_sha,
        tree=cleaned.tree,
        changed=kit.code.diff_stat(task.base_sha, head_sha),
        notes=cleaned.notes,
        warnings=cleaned.warnings,
    )
    if cleaned.objection:
        kept = _objected(cleaned.objection, ending)
        said = kept.model_dump(include={"kind", "reason", "summary", "as_patch"})
        return changed.model_copy(update=said)
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
    warnings = (*changed.warnings, *find_regressions(evidence))
    shown = {"evidence": evidence, "proof": judge(evidence), "warnings": warnings}
    return changed.model_copy(update=shown)


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


def _objected(objection: Objection, ending: Ending) -> Outcome:
    """Ask about a change that is not proposed; what broke off has broken off."""
    is_done = ending.kind is OutcomeKind.RESOLVED
    return Outcome(
        kind=OutcomeKind.NEEDS_INPUT if is_done else ending.kind,
        reason=objection.reason if is_done else ending.reason,
        summary=f"{objection.text}\n\n{ending.text}",
        as_patch=objection.keep is Keep.PATCH,
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
        signing_key=kit.signing_key,
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
