"""The step summary of a run: what the thread is told, and the outputs."""

from typing import Final

from patchwright.core.text.fence import code_block, table_code
from patchwright.core.text.marks import split_marks
from patchwright.resolver.delivering.naming import as_delivered
from patchwright.resolver.messages.ending import final_comment
from patchwright.resolver.messages.facts import count_noun, details_block
from patchwright.workers.action.end import EndedRun
from patchwright.workers.run.rehearsal import list_planned_writes

# The summary shows the words in full above the table.
_NOT_IN_TABLE: Final = frozenset({"summary", "structured-output"})
_DRY_RUN: Final = "**Dry run**: nothing of this was written outside of this job."


def summary_of(end: EndedRun, outputs: dict[str, str]) -> str:
    """Say what the thread is told, what was taken out or not told, and the outputs."""
    outcome = as_delivered(end.outcome, end.delivered)
    told = final_comment(outcome, end.delivered, end.plan.frame, end.plan.last)
    parts = (
        _DRY_RUN if end.is_dry_run else "",
        split_marks(told).text,
        _result_links(outputs),
        _taken_out(end.outcome.removed),
        _undelivered(end),
        _planned_writes(end),
        _output_table(outputs),
    )
    return "\n\n".join(part for part in parts if part)


def _result_links(outputs: dict[str, str]) -> str:
    named = (("pull request", "pr-url"), ("comment", "comment-url"))
    found = [f"[{words}]({outputs[key]})" for words, key in named if outputs[key]]
    return " · ".join(found)


def _taken_out(removed: int) -> str:
    if not removed:
        return ""
    return f"{count_noun(removed, 'hidden thing')} taken out of people's texts."


def _planned_writes(end: EndedRun) -> str:
    """Show what would have been written, each text as it is, marks and all."""
    if not end.is_dry_run:
        return ""
    told = list_planned_writes(end.base.stores, end.job.id)
    return details_block("What would have been written", "\n\n".join(map(code_block, told)))


def _undelivered(end: EndedRun) -> str:
    if not end.pending:
        return ""
    lines = "\n".join(f"- {one}" for one in end.pending)
    return f"**Not delivered** when the time was up:\n{lines}"


def _output_table(outputs: dict[str, str]) -> str:
    """Show the outputs that are set, and short enough to be read in a table."""
    rows = [
        f"| `{name}` | {table_code(text)} |"
        for name, text in outputs.items()
        if text and name not in _NOT_IN_TABLE
    ]
    return "\n".join(["| output | |", "|---|---|", *rows]) if rows else ""
