"""The step summary of a run: what the thread is told, and the outputs."""

from typing import Final

from patchwright.core.text.fence import code_block, table_code
from patchwright.core.text.marks import split_marks
from patchwright.resolver.delivering.naming import as_delivered
from patchwright.resolver.messages.ending import final_comment
from patchwright.resolver.messages.facts import counted, folded
from patchwright.workers.action.end import End
from patchwright.workers.run.rehearsal import rehearsed

# The summary shows the words in full above the table.
_NOT_IN_TABLE: Final = frozenset({"summary", "structured-output"})
_REHEARSED: Final = "**Dry run**: nothing of this was written outside of this job."


def summary_of(end: End, outputs: dict[str, str]) -> str:
    """Say what the thread is told, what was taken out or not told, and the outputs."""
    outcome = as_delivered(end.outcome, end.delivered)
    told = final_comment(outcome, end.delivered, end.plan.frame, end.plan.last)
    parts = (
        _REHEARSED if end.is_rehearsal else "",
        split_marks(told).text,
        _links(outputs),
        _taken_out(end.outcome.removed),
        _undelivered(end),
        _rehearsed(end),
        _table(outputs),
    )
    return "\n\n".join(part for part in parts if part)


def _links(outputs: dict[str, str]) -> str:
    named = (("pull request", "pr-url"), ("comment", "comment-url"))
    found = [f"[{words}]({outputs[key]})" for words, key in named if outputs[key]]
    return " · ".join(found)


def _taken_out(removed: int) -> str:
    if not removed:
        return ""
    return f"{counted(removed, 'hidden thing')} taken out of people's texts."


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


def _table(outputs: dict[str, str]) -> str:
    """Show the outputs that are set, and short enough to be read in a table."""
    rows = [
        f"| `{name}` | {table_code(text)} |"
        for name, text in outputs.items()
        if text and name not in _NOT_IN_TABLE
    ]
    return "\n".join(["| output | |", "|---|---|", *rows]) if rows else ""
