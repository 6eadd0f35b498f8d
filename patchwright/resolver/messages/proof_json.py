"""A proof as JSON, in the same shape wherever a program reads it."""

from collections.abc import Sequence

from pydantic import JsonValue

from patchwright.core.types.evidence import (
    Evidence,
    Hunk,
    Proof,
    ProofReport,
    TestChange,
    TestResults,
)
from patchwright.core.types.work import Outcome
from patchwright.resolver.messages.proof_words import level_sentence


def proof_as_json(
    level: Proof, report: ProofReport | None, evidence: Sequence[Evidence]
) -> dict[str, JsonValue]:
    """Return the level, why, the table by test, and every command that was run.

    All keys are always there; a list is empty where nothing was found or looked for.
    """
    listed: JsonValue = [evidence_as_json(one) for one in evidence]
    return {**verdict_as_json(level, report), "evidence": listed}


def outcome_proof_as_json(outcome: Outcome) -> dict[str, JsonValue]:
    """Return the proof of an outcome; without a change there is nothing to say."""
    told = proof_as_json(outcome.proof, outcome.proof_report, outcome.evidence)
    has_none = outcome.proof is Proof.NONE and not outcome.proposes_change
    return {**told, "proof_sentence": None} if has_none else told


def verdict_as_json(level: Proof, report: ProofReport | None) -> dict[str, JsonValue]:
    """Return the level and the tables, without the commands and their outputs."""
    return {
        "proof": level,
        "proof_reason": report.reason if report else None,
        "proof_sentence": level_sentence(level, report),
        "proof_base_sha": (report.base_sha or None) if report else None,
        "proof_head_sha": (report.head_sha or None) if report else None,
        "proof_is_rerun": report.is_rerun if report else False,
        "proof_rounds": report.rounds if report else 0,
        "tests": [_test(one) for one in report.tests] if report else [],
        "newly_failing": list(report.newly_failing) if report else [],
        "altered": list(report.altered) if report else [],
        "flaky": list(report.flaky) if report else [],
        "uncovered": [_hunk(one) for one in report.uncovered] if report else [],
        "hunks": {
            "total": report.hunks if report else 0,
            "tried": report.hunks_tried if report else 0,
        },
        "suite": {
            "command": (report.suite_command or None) if report else None,
            "tests": report.suite_tests if report else 0,
            "complete": report.suite_complete if report else False,
        },
    }


def evidence_as_json(one: Evidence, *, has_tail: bool = True) -> dict[str, JsonValue]:
    """Return a command and how it ended; `has_tail` adds the end of its output."""
    return {
        "role": one.role,
        "command": one.command,
        "commit": one.commit,
        "status": one.status,
        "exit_code": one.exit_code,
        "seconds": one.seconds,
        "digest": one.digest,
        "results": _results(one.results) if one.results else None,
        **({"tail": one.tail} if has_tail else {}),
    }


def _results(results: TestResults) -> JsonValue:
    return {
        "runner": results.runner,
        "passed": results.passed,
        "failed": results.failed,
        "skipped": results.skipped,
        "failing": list(results.failing),
        "broken": list(results.broken),
    }


def _test(one: TestChange) -> JsonValue:
    return {
        "name": one.name,
        "before": one.before,
        "after": one.after,
        "cause": one.cause,
    }


def _hunk(one: Hunk) -> JsonValue:
    return {"path": one.path, "start": one.start, "lines": one.lines}
