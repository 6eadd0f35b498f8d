"""Make an outcome from the result of an attempt; the work is kept in every case."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from patchwright.core.agent.endings import AgentEnding
from patchwright.core.agent.run_log import RunLog
from patchwright.core.events.actions import Finish, Message
from patchwright.core.events.log import EventLog
from patchwright.core.text.document.quotation import quoted_plain
from patchwright.core.text.escape import make_inert_line
from patchwright.core.types.base import readable
from patchwright.core.types.errors import LeaseLostError, PatchwrightError
from patchwright.core.types.evidence import Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import (
    CONTRADICTED,
    DiffStat,
    LeftOut,
    LeftOutReason,
    Outcome,
    Task,
    error_outcome,
)
from patchwright.integrations.git.bundles import AcceptedCommit
from patchwright.integrations.git.changes import shown_path
from patchwright.resolver.clean import (
    CheckedMerge,
    CleanedChange,
    KeepAs,
    Objection,
    check_merge,
    clean,
    judge_whole,
)
from patchwright.resolver.messages.elements import (
    AGENT_WROTE,
    join,
)
from patchwright.resolver.messages.left_out import (
    left_out_notes,
    left_out_warnings,
    taken_from_note,
)
from patchwright.resolver.proof.evidence import ProofResult
from patchwright.resolver.services import RunDependencies
from patchwright.resolver.set_up.sandboxes import set_up_failures, sum_blocked_requests
from patchwright.sandbox.workspace import Export

_MAX_TITLE_CHARS: Final = 72
EXCESS: Final = "excess"
_OBJECTION_FIELDS: Final = {
    *("kind", "reason", "summary", "service_text", "by", "as_patch"),
}


@dataclass(frozen=True)
class SettledChange:
    """The outcome as it is without a proof.

    A change that `is_provable` is proposed, and is to be proven. One that `is_doubtful`
    affects its own tests: a person must look at it first.
    """

    outcome: Outcome
    is_provable: bool = False
    is_doubtful: bool = False


@dataclass(frozen=True)
class CommitDetails:
    """When a change is committed, and the finish whose words its message quotes."""

    when: datetime
    finish: Finish | None


def settle_outcome(
    task: Task,
    dependencies: RunDependencies,
    ending: AgentEnding,
    export: Export,
    add_proof: Callable[[SettledChange], Outcome],
    *,
    when: datetime | None = None,
) -> Outcome:
    """Return the outcome; `export` is the exported work tree.

    The change is committed as if at the time `when`. Raises `LeaseLostError`.
    """
    if _has_no_change(task, ending, export):
        return _with_left_out(_unchanged_outcome(ending), export)
    finish = _logged_finish(dependencies, ending.finish) if ending.finish else None
    details = CommitDetails(when or dependencies.clock.now(), finish)
    try:
        settled = settle_change(task, dependencies, ending, export, details)
        outcome = add_proof(settled) if settled.is_provable else settled.outcome
        lacking = _without_kept_files(task, dependencies, outcome, export)
        return _with_left_out(outcome, lacking)
    except LeaseLostError:
        raise
    except PatchwrightError as error:
        return error_outcome(error)


def _has_no_change(task: Task, ending: AgentEnding, export: Export) -> bool:
    """Tell whether nothing is to be kept; an unfinished merge is not."""
    is_half = bool(task.merge_sha) and ending.kind is not OutcomeKind.RESOLVED
    return is_half or (export.bundle is None and not task.merge_sha)


def _without_kept_files(
    task: Task, dependencies: RunDependencies, outcome: Outcome, export: Export
) -> Export:
    """Remove the files that the kept commit contains from the list of missing files."""
    if outcome.reason != EXCESS or not outcome.head_sha:
        return export
    kept = dependencies.code.changed_paths(task.base_sha, outcome.head_sha)
    held = {path.shown for path in kept}
    lacking = tuple(one for one in export.left_out if one.path not in held)
    return replace(export, left_out=lacking)


def _with_left_out(outcome: Outcome, export: Export) -> Outcome:
    """List the files that the change lacks, and where they were found."""
    left_out = tuple(dict.fromkeys((*export.left_out, *outcome.left_out)))
    place = export.taken_from
    found = (taken_from_note(place),) if place and outcome.head_sha else ()
    return outcome.replace(
        left_out=left_out,
        notes=(*found, *outcome.notes, *left_out_notes(left_out)),
        warnings=(*outcome.warnings, *left_out_warnings(left_out)),
    )


def settle_change(
    task: Task,
    dependencies: RunDependencies,
    ending: AgentEnding,
    export: Export,
    details: CommitDetails,
) -> SettledChange:
    """Make the change that would be delivered; raises `PatchwrightError`."""
    if _has_no_change(task, ending, export):
        return SettledChange(_unchanged_outcome(ending))
    taken = _take(task, dependencies, export)
    merged = _checked_merge(task, dependencies, taken.head)
    if merged is not None and merged.objection:
        return SettledChange(_unfinished_merge(merged, ending))
    cleaned = _cleaned(task, dependencies, taken, merged)
    refused_by_git = (
        LeftOut(path=shown_path(path), reason=LeftOutReason.REFUSED_BY_GIT)
        for path in taken.refused
    )
    left_out = (*refused_by_git, *cleaned.left_out)
    if cleaned.excess:
        oversized = _oversized_outcome(task, dependencies, ending, cleaned, details)
        return SettledChange(oversized.replace(left_out=left_out))
    if merged is None and cleaned.tree == dependencies.code.tree_of(task.base_sha):
        unchanged = _unchanged_outcome(ending)
        return SettledChange(unchanged.replace(left_out=left_out))
    if cleaned.objection and cleaned.objection.keep is KeepAs.NOTHING:
        return SettledChange(_objection_outcome(cleaned.objection, ending))
    changed = _changed_outcome(task, dependencies, ending, cleaned, details)
    changed = changed.replace(left_out=left_out)
    if merged is not None:
        changed = changed.replace(notes=(*changed.notes, *merged.notes))
    if cleaned.objection:
        return SettledChange(_as_objected(changed, cleaned.objection, ending))
    if not task.proof_base_sha:
        return SettledChange(changed, task.proves, cleaned.rules_out_proof)
    whole = judge_whole(dependencies.code, task.proof_base, changed.head_sha)
    is_doubtful = cleaned.rules_out_proof or whole.rules_out_proof
    return SettledChange(whole.added_to(changed), task.proves, is_doubtful)


def _as_objected(
    changed: Outcome, objection: Objection, ending: AgentEnding
) -> Outcome:
    """Return the outcome of a change that is not proposed, with the objection."""
    objection_fields = _objection_outcome(objection, ending).model_dump(
        include=_OBJECTION_FIELDS
    )
    return Outcome.model_validate(changed.model_dump() | objection_fields)


def _take(task: Task, dependencies: RunDependencies, export: Export) -> AcceptedCommit:
    """Take the exported commit over, without the paths that git must not have."""
    if export.bundle is None:
        return AcceptedCommit(task.base_sha)
    return dependencies.code.take_without_refused(
        export.bundle, task.base_sha, dependencies.run_id
    )


def _cleaned(
    task: Task,
    dependencies: RunDependencies,
    taken: AcceptedCommit,
    merged: CheckedMerge | None,
) -> CleanedChange:
    return clean(
        dependencies.code,
        task.base_sha,
        merged.tree if merged else taken.head,
        protected_paths=dependencies.protected_paths,
        config_file=dependencies.config_file,
        find_known=dependencies.find_known,
        private=dependencies.find_private_words(),
        changes=merged.changes if merged else None,
    )


def _checked_merge(
    task: Task, dependencies: RunDependencies, arrived: str
) -> CheckedMerge | None:
    if not task.merge_sha:
        return None
    return check_merge(dependencies.code, task.base_sha, task.merge_sha, arrived)


def _unfinished_merge(merged: CheckedMerge, ending: AgentEnding) -> Outcome:
    return Outcome(
        kind=OutcomeKind.NEEDS_INPUT,
        reason="merge-unfinished",
        summary=f"{merged.objection}\n\n{ending.text}",
        service_text=_service_text(merged.objection, ending),
        by=ending.by,
    )


def _changed_outcome(
    task: Task,
    dependencies: RunDependencies,
    ending: AgentEnding,
    cleaned: CleanedChange,
    details: CommitDetails,
    *,
    counts: bool = True,
) -> Outcome:
    head_sha = _commit(task, dependencies, ending, cleaned.tree, details)
    return Outcome(
        kind=ending.kind,
        reason=ending.reason,
        summary=ending.text,
        service_text=ending.service_text,
        by=ending.by,
        title=_change_title(task, ending.finish),
        head_sha=head_sha,
        tree=cleaned.tree,
        changed=dependencies.code.diff_stat(task.base_sha, head_sha)
        if counts
        else DiffStat(),
        reviews=ending.finish.reviews if ending.finish else (),
        notes=cleaned.notes,
        warnings=cleaned.warnings,
    )


def with_proof(changed: Outcome, proof: ProofResult) -> Outcome:
    """Return the outcome with its proof; a contradicted change is not resolved."""
    proven = proof.applied_to(changed)
    if proof.level is not Proof.CONTRADICTED or proven.kind is not OutcomeKind.RESOLVED:
        return proven
    said = _CONTRADICTED_TEXT
    return proven.replace(
        kind=OutcomeKind.NEEDS_INPUT,
        reason=CONTRADICTED,
        summary=join(said, proven.summary),
        service_text=join(said, proven.service_text),
    )


_CONTRADICTED_TEXT: Final = (
    "The change is not done: in fresh sandboxes, tests fail with it."
)


def _unchanged_outcome(ending: AgentEnding) -> Outcome:
    kind, text = ending.kind, ending.text
    if kind is OutcomeKind.RESOLVED:
        answer = ending.finish.answer if ending.finish else ""
        kind = OutcomeKind.ANSWERED if answer else OutcomeKind.NO_CHANGE
        text = answer or text
    return Outcome(
        kind=kind,
        reason=ending.reason,
        summary=text,
        service_text=ending.service_text,
        by=ending.by,
        reviews=ending.finish.reviews if ending.finish else (),
    )


def _oversized_outcome(
    task: Task,
    dependencies: RunDependencies,
    ending: AgentEnding,
    cleaned: CleanedChange,
    details: CommitDetails,
) -> Outcome:
    """Ask about a change that is too large, and keep the whole change.

    Such a change is also too large to search for secrets, so it is not pushed to a
    branch. Its lines are not counted.
    """
    asked = "The change was not proposed, since it looks like an accident:"
    question = "\n".join([asked, *(f"- {line}" for line in cleaned.excess)])
    objection = Objection(EXCESS, question, KeepAs.PATCH)
    if cleaned.whole == dependencies.code.tree_of(task.base_sha):
        return _objection_outcome(objection, ending)
    whole = replace(cleaned, tree=cleaned.whole)
    outcome = _changed_outcome(task, dependencies, ending, whole, details, counts=False)
    return _as_objected(outcome, objection, ending)


def _objection_outcome(objection: Objection, ending: AgentEnding) -> Outcome:
    """Ask about a change that is not proposed; an unfinished run stays unfinished."""
    is_done = ending.kind is OutcomeKind.RESOLVED
    return Outcome(
        kind=OutcomeKind.NEEDS_INPUT if is_done else ending.kind,
        reason=objection.reason if is_done else ending.reason,
        summary=f"{objection.text}\n\n{ending.text}",
        service_text=_service_text(objection.text, ending),
        by=ending.by,
        as_patch=objection.keep is KeepAs.PATCH,
    )


def _service_text(text: str, ending: AgentEnding) -> str:
    """Return the text that Patchwright wrote: `text`, then the text of the ending."""
    return join(text, ending.service_text)


def _commit(
    task: Task,
    dependencies: RunDependencies,
    ending: AgentEnding,
    tree: str,
    details: CommitDetails,
) -> str:
    """Make the one commit to deliver, with the tree of the sandbox."""
    message = _commit_message(task, dependencies, ending, details.finish)
    return dependencies.code.commit(
        tree,
        *filter(None, (task.base_sha, task.merge_sha)),
        message=f"{message}\n",
        author=dependencies.author,
        committer=dependencies.author,
        when=details.when,
        signing_key=dependencies.signing_key,
    )


def _commit_message(
    task: Task,
    dependencies: RunDependencies,
    ending: AgentEnding,
    finish: Finish | None,
) -> str:
    """Return the commit message, which quotes the agent.

    A forge acts on keywords in a message, and tools read commands and trailers in it.
    Our trailer names the person by the forge account.
    """
    title = make_inert_line(
        dependencies.redact_private_title(_change_title(task, finish))
    )
    text = f"Unfinished: the run ended as {ending.kind}."
    if finish:
        quotation = quoted_plain(dependencies.redact_private(finish.summary))
        text = join(AGENT_WROTE, quotation) if quotation else ""
    return join(title, text, task.message_trailer)


def _logged_finish(dependencies: RunDependencies, finish: Finish) -> Finish:
    """Return the agent's final answer as the log has it, without secrets.

    One that was held back is only in its reply, which was read from the log.
    """
    kinds = frozenset({"finish"})
    newest = dependencies.log.read(limit=1, reverse=True, kinds=kinds)
    logged = (e.payload for e in newest if isinstance(e.payload, Finish))
    return next((one for one in logged if one.call_id == finish.call_id), finish)


def _change_title(task: Task, finish: Finish | None) -> str:
    proposed = finish.title if finish else ""
    # The task's own title comes from an issue, and may hold anything.
    lines = (make_inert_line(readable(one)) for one in (proposed, task.title))
    line = next(filter(None, lines), "Proposed change")
    return line if len(line) <= _MAX_TITLE_CHARS else f"{line[: _MAX_TITLE_CHARS - 1]}…"


_NO_RESULT = "Nothing that fits the schema of the result was handed over."


def complete_outcome(
    outcome: Outcome, task: Task, run_log: RunLog, ending: AgentEnding, start_id: int
) -> Outcome:
    """Return the outcome with its costs, and its notes after the task's notes."""
    log, state = run_log.log, run_log.state
    notes = (*task.notes, *_notes_on(task, log, ending, start_id), *outcome.notes)
    return outcome.replace(
        base_branch=task.base_branch,
        base_sha=task.base_sha,
        usage=state.usage,
        iterations=state.iterations,
        notes=notes,
        removed=task.removed + _removed_later(log, start_id),
        blocked=sum_blocked_requests(log, start_id),
        structured=_structured(ending),
    )


def _notes_on(
    task: Task, log: EventLog, ending: AgentEnding, start_id: int
) -> list[str]:
    """Return notes on failed set-up commands and on missing requested results."""
    notes = list(set_up_failures(log, start_id)) if task.setup_may_fail else []
    if task.result_schema and ending.finish and ending.finish.result is None:
        notes.append(_NO_RESULT)
    return notes


def _removed_later(log: EventLog, start_id: int) -> int:
    """Count the hidden parts that were removed from people's messages to the run."""
    messages = log.read(start_id, kinds=frozenset({"message"}))
    return sum(e.payload.removed for e in messages if isinstance(e.payload, Message))


def _structured(ending: AgentEnding) -> str:
    if ending.finish is None or ending.finish.result is None:
        return ""
    return json.dumps(ending.finish.result, ensure_ascii=False)
