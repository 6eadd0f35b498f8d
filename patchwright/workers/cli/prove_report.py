"""The proof of a branch, for scripts and for people at a terminal."""

import json
from collections.abc import Callable, Iterator

from pydantic import JsonValue
from rich.console import Console
from rich.text import Text

from patchwright.core.types.errors import PatchwrightError
from patchwright.core.types.evidence import Evidence, Proof, ProofReport
from patchwright.resolver.messages.proof_json import proof_as_json
from patchwright.resolver.messages.proof_words import result_words, role_title
from patchwright.resolver.proof.branch_change import BranchProof
from patchwright.workers.branch_proof_text import (
    branch_proof_as_json,
    failing_output,
    last_lines,
)
from patchwright.workers.cli.proof_report import one_line, print_proof
from patchwright.workers.cli.terminal import plain

Redact = Callable[[JsonValue], JsonValue]


def proof_as_object(proof: BranchProof, redact: Redact) -> str:
    """Write the one JSON object that `--json` prints."""
    return json.dumps(redact(branch_proof_as_json(proof)))


def failure_as_json(error: PatchwrightError) -> str:
    """Write the same object for a proof that came to no end, and say why."""
    return json.dumps(
        {
            **proof_as_json(Proof.NOT_PROVEN, None, ()),
            "reason": error.reason,
            "error": str(error),
            "base_sha": None,
            "head_sha": None,
            "warnings": [],
            "notes": [],
        }
    )


def print_branch_proof(console: Console, proof: BranchProof, redact: Redact) -> None:
    """Print the level first, then what was found, and the words of what failed."""
    result = proof.result
    evidence = tuple(
        Evidence.model_validate(redact(one.model_dump(mode="json")))
        for one in result.evidence
    )
    report = ProofReport.model_validate(redact(result.report.model_dump(mode="json")))
    print_proof(console, result.level, report, evidence)
    for line in _tails(result.level, evidence):
        console.print(line, soft_wrap=True)
    for label, texts in (("look at", result.warnings), ("note", proof.notes)):
        for text in texts:
            console.print(plain(f"{label}: {text}"), soft_wrap=True)


def _tails(level: Proof, evidence: tuple[Evidence, ...]) -> Iterator[Text]:
    """Show how the output ended of each command that speaks against a proof."""
    for one in failing_output(level, evidence):
        words = f"{role_title(one.role)}, {result_words(one)}: "
        yield Text(f"\n{words}", style="bold").append_text(one_line(one.command))
        for line in last_lines(one.tail):
            yield Text("    ").append_text(plain(line))
