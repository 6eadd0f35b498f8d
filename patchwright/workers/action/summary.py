"""The step summary of a run: what the thread is told, and the outputs."""

from typing import Final

from patchwright.core.text.fence import code_block
from patchwright.core.text.marks import split_marks
from patchwright.core.types.work import Outcome
from patchwright.resolver.delivering.naming import as_delivered
from patchwright.resolver.messages.ending import final_comment
from patchwright.resolver.messages.facts import counted, folded
from patchwright.workers.action.end import End
from patchwright.workers.action.result import outputs_table
from patchwright.workers.run.rehearsal import rehearsed

# The summary shows the words in full above the table.
_NOT_IN_TABLE: Final = frozenset({"summary", "structured-output"})
_REHEARSED: Final = "**Dry run**: nothing of this was written outside of this job."


def summary_of(end: End, outputs: dict[str, str]) -> str:
    """Say what the thread is told, what was kept out, and the outputs."""
    outcome = as_delivered(end.outcome, end.delivered)
    told = final_comment(outcome, end.delivered, end.plan.frame, end.plan.last)
    names = [name for name in outputs if name not in _NOT_IN_TABLE]
    parts = (
        _REHEARSED if end.is_rehearsal else "",
        split_marks(told).text,
        _links(outputs),
        _kept_out(end.outcome),
        _undelivered(end),
        _rehearsed(end),
        outputs_table(outputs, names),
    )
    return "\n\n".join(part for part in parts if part)


def _links(outputs: dict[str, str]) -> str:
    named = (("pull request", "pr-url"), ("comment", "comment-url"))
    found = [f"[{words}]({outputs[key]})" for words, key in named if outputs[key]]
    return " · ".join(found)


def _kept_out(outcome: Outcome) -> str:
    lines = [
        f"- {one.host}:{one.port}: {counted(one.count, 'request')} blocked"
        for one in outcome.blocked
    ]
    if outcome.removed:
        lines.append(f"- {counted(outcome.removed, 'hidden thing')} taken out of texts")
    return "\n".join(lines)


def _rehearsed(end: End) -> str:
    """Show what would have been written, each text as it is, marks and all."""
    if not end.is_rehearsal:
        return ""
    told = rehearsed(end.base.stores, end.job.id)
    return folded("What would have been written", "\n\n".join(map(code_block, told)))


def _undelivered(end: End) -> str:
    if not end.pending:
        return ""
    lines = "\n".join(f"- {one}" for one in end.pending)
    return f"**Not delivered** when the time was up:\n{lines}"
