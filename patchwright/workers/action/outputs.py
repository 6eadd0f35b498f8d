"""Report the result of a run: its outputs, its files and its step summary."""

import json
from collections.abc import Sequence
from typing import Final, assert_never

import structlog
from pydantic import JsonValue

from patchwright.core.ci.result import Grade, Result
from patchwright.core.events.state import measure
from patchwright.core.text.escape import code_block, split_marks, table_code
from patchwright.core.text.strings import count_noun
from patchwright.core.types.errors import ServiceError
from patchwright.core.types.evidence import Evidence, EvidenceRole, Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.threads import ForgeThread, PullRequest
from patchwright.core.types.work import Outcome
from patchwright.resolver.messages.elements import details_block
from patchwright.resolver.messages.outcome_kinds import display_of
from patchwright.resolver.messages.proof_json import (
    evidence_as_json,
    verdict_as_json,
)
from patchwright.resolver.messages.result import final_comment
from patchwright.resolver.messages.status import mark
from patchwright.resolver.publish.publisher import as_delivered
from patchwright.workers.action.artifacts import (
    EndedRun,
    receipt_of,
    write_evidence,
    write_json,
    write_patch,
    write_trajectory,
)
from patchwright.workers.action.junit import write_junit
from patchwright.workers.jobs.dry_run import list_planned_writes

# The summary shows the words in full above the table.
_NOT_IN_TABLE: Final = frozenset({"summary", "structured-output", "evidence"})
_DRY_RUN: Final = "**Dry run**: nothing was written outside this job."


def summary_of(end: EndedRun, outputs: dict[str, str]) -> str:
    """Show the thread's message, what was removed or not delivered, and the outputs."""
    outcome = as_delivered(end.outcome, end.delivered)
    comment = final_comment(outcome, end.delivered, end.plan.frame, end.plan.last)
    parts = (
        _DRY_RUN if end.is_dry_run else "",
        split_marks(comment).text,
        _result_links(outputs),
        _taken_out(end.outcome.removed),
        _undelivered(end),
        _planned_writes(end),
        output_table(outputs),
    )
    return "\n\n".join(part for part in parts if part)


def _result_links(outputs: dict[str, str]) -> str:
    named = (("pull request", "pr-url"), ("comment", "comment-url"))
    found = [f"[{words}]({outputs[key]})" for words, key in named if outputs[key]]
    return " · ".join(found)


def _taken_out(removed: int) -> str:
    if not removed:
        return ""
    return f"{count_noun(removed, 'hidden passage')} removed from comments."


def _planned_writes(end: EndedRun) -> str:
    """Show what would have been written, each text as it is, marks and all."""
    if not end.is_dry_run:
        return ""
    writes = list_planned_writes(end.base.stores, end.job.id)
    return details_block(
        "What would have been written", "\n\n".join(map(code_block, writes))
    )


def _undelivered(end: EndedRun) -> str:
    if not end.pending:
        return ""
    lines = "\n".join(f"- {one}" for one in end.pending)
    return f"**Not delivered** before the time limit:\n{lines}"


def output_table(outputs: dict[str, str]) -> str:
    """Show the outputs that are set, and short enough to be read in a table."""
    rows = [
        f"| `{name}` | {table_code(text)} |"
        for name, text in outputs.items()
        if text and name not in _NOT_IN_TABLE
    ]
    return "\n".join(["| output | |", "|---|---|", *rows]) if rows else ""


# An output is cut at more than this, which would be the end of any JSON.
_MOST_EVIDENCE_CHARS: Final = 100_000
_FEW: Final = 20
_NEEDS_CLICK: Final = "needs-click"
_NOT_DELIVERED: Final = "not-delivered"
_DELIVERY_OUTPUTS: Final = ("pr-number", "pr-url", "branch", "head-sha", "comment-url")

log = structlog.get_logger(__name__)


def result_of(end: EndedRun) -> Result:
    """Write the files of a run, and return its outputs and summary."""
    outputs = _run_outputs(end) | _delivery_outputs(end)
    folder = end.ci_job.artifacts
    events = end.base.stores.events.open(end.job.conversation_id).read()
    receipt = receipt_of(end, measure(events), outputs)
    written = {
        "trajectory-file": write_trajectory(end.base, end.job, folder),
        "evidence-file": write_evidence(end.base, end.outcome, end.delivered, folder),
        "patch-file": write_patch(end.base, end.job, end.plan, folder),
        "receipt-file": write_json(folder / "receipt.json", receipt, end.base),
    }
    outputs |= {name: str(path) for name, path in written.items() if path}
    if end.ci_job.junit_file:
        shown = as_delivered(end.outcome, end.delivered)
        write_junit(
            end.ci_job.junit_file, shown.proof, shown.proof_report, shown.evidence
        )
    return Result(_grade(end), outputs, summary_of(end, outputs))


def test_result(evidence: Sequence[Evidence], role: EvidenceRole) -> str:
    """Summarise the tests: the first that failed counts."""
    found = [one for one in evidence if one.role is role]
    failed = next((one for one in found if one.exit_code != 0), None)
    if failed is None:
        return "passed" if found else ""
    if failed.exit_code is None:
        return "did not end"
    return f"failed (exit {failed.exit_code})"


def _run_outputs(end: EndedRun) -> dict[str, str]:
    outcome, usage = end.outcome, end.outcome.usage
    delivered = as_delivered(outcome, end.delivered)
    shown = delivered.evidence
    cost = usage.cost_usd
    return {
        "outcome": _kind(end),
        "error-code": _code(end),
        "summary": outcome.summary,
        "base-sha": outcome.base_sha,
        "tests-before": test_result(shown, EvidenceRole.BEFORE),
        "tests-after": test_result(shown, EvidenceRole.AFTER),
        "proof": delivered.proof,
        "evidence": _evidence(delivered),
        "cost-usd": "" if cost is None else f"{cost:.4f}",
        "tokens-in": str(usage.tokens_in),
        "tokens-out": str(usage.tokens_out),
        "model": end.plan.frame.model,
        "iterations": str(outcome.iterations),
        "duration-seconds": str(round(outcome.seconds)),
        "run-id": end.job.id,
        "removed-content-count": str(outcome.removed),
        "blocked-requests-count": str(sum(one.count for one in outcome.blocked)),
        "structured-output": outcome.structured,
        "left-out": _left_out(outcome),
    }


def _evidence(outcome: Outcome) -> str:
    """Return the level and its tables as JSON; empty where no change is proposed.

    What would be too long for an output is in the file of the evidence.
    """
    if not outcome.proposes_change:
        return ""
    told = verdict_as_json(outcome.proof, outcome.proof_report)
    ran: list[JsonValue] = [
        evidence_as_json(one, has_tail=False) for one in outcome.evidence
    ]
    told |= {"evidence": ran, "is_cut": False}
    text = json.dumps(told, ensure_ascii=False)
    if len(text) <= _MOST_EVIDENCE_CHARS:
        return text
    shorter = {
        name: value[:_FEW] if isinstance(value, list) else value
        for name, value in told.items()
    }
    return json.dumps({**shorter, "evidence": [], "is_cut": True}, ensure_ascii=False)


def _left_out(outcome: Outcome) -> str:
    """Return what the change lacks, as JSON; empty where it lacks nothing."""
    lacking = [{"path": one.path, "reason": one.reason} for one in outcome.left_out]
    return json.dumps(lacking, ensure_ascii=False) if lacking else ""


def _code(end: EndedRun) -> str:
    """Return why it ended so; a result that people cannot see yet comes first."""
    if end.pending:
        return _NOT_DELIVERED
    if end.delivered.refusal and end.outcome.kind is OutcomeKind.RESOLVED:
        return _NEEDS_CLICK if end.delivered.compare_url else _NOT_DELIVERED
    return end.outcome.reason


def _kind(end: EndedRun) -> OutcomeKind:
    """Return how it ended; what nobody can see when the time is up has failed."""
    delivered = as_delivered(end.outcome, end.delivered)
    is_seen = bool(end.delivered.branch) or not end.outcome.head_sha
    if end.pending and not is_seen and delivered.kind is OutcomeKind.RESOLVED:
        return OutcomeKind.FAILED
    return delivered.kind


def _grade(end: EndedRun) -> Grade:
    if _code(end) == _NOT_DELIVERED:
        return Grade.ERROR
    return grade_of(as_delivered(end.outcome, end.delivered))


def grade_of(outcome: Outcome) -> Grade:
    code = display_of(outcome.kind).exit_code
    match code:
        case 0:
            is_proven = outcome.proof is Proof.PROVEN or not outcome.proposes_change
            return Grade.GOOD if is_proven else Grade.UNPROVEN
        case 1:
            return Grade.UNRESOLVED
        case 3:
            return Grade.ERROR
        case _:
            assert_never(code)


def _delivery_outputs(end: EndedRun) -> dict[str, str]:
    """Return its address; after a dry run there is none."""
    if end.is_dry_run:
        return dict.fromkeys(_DELIVERY_OUTPUTS, "")
    delivered = end.delivered
    number, url = delivered.pull_request, delivered.pull_request_url
    if number is None and (found := _find_pull_request(end)):
        number, url = found.number, found.url
    return {
        "pr-number": "" if number is None else str(number),
        "pr-url": url,
        "branch": delivered.branch,
        "head-sha": _head(end),
        "comment-url": _comment_url(end),
    }


def _find_pull_request(end: EndedRun) -> PullRequest | None:
    """Return the pull request that the branch belonged to before the run."""
    if not end.delivered.branch:
        return None
    home, branch = end.job.trigger.home, end.delivered.branch
    try:
        return end.base.forge.forge.find_pull_request(home, branch)
    except ServiceError as error:
        log.warning("pull_not_found", reason=error.reason, error=str(error))
        return None


def _head(end: EndedRun) -> str:
    """Return what the forge says of the branch; without a branch there is no head."""
    delivered, forge = end.delivered, end.base.forge.forge
    repo = end.job.trigger.home
    try:
        if delivered.pull_request is not None:
            return forge.fetch_pull_request(repo, delivered.pull_request).head_sha
        if delivered.branch:
            return end.requests.fetch_head(repo, delivered.branch)
    except ServiceError as error:
        log.warning("head_not_read", reason=error.reason, error=str(error))
    return ""


def _comment_url(end: EndedRun) -> str:
    thread = end.job.trigger.thread
    if not isinstance(thread, ForgeThread) or thread.is_own:
        return ""
    try:
        found = end.base.forge.channel.find_post(thread, mark(end.job.id))
        return end.requests.post_url(thread, found) if found else ""
    except ServiceError as error:
        log.warning("comment_not_found", reason=error.reason, error=str(error))
        return ""
