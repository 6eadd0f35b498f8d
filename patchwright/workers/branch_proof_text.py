"""The proof of somebody's branch: as one JSON object, and as a comment on its request.

Whatever is the repository's or the change's, such as a name or an output, is shown as
inert code.
"""

from collections.abc import Iterator
from typing import Final

from pydantic import JsonValue

from patchwright.core.text.escape import code_block
from patchwright.core.types.evidence import Evidence, EvidenceRole, Proof
from patchwright.resolver.messages.elements import details_block, join, list_sentences
from patchwright.resolver.messages.proof_json import proof_as_json
from patchwright.resolver.messages.proof_markdown import (
    CodeLinks,
    proof_report,
    shown_name,
)
from patchwright.resolver.messages.proof_words import (
    advice_on_proof,
    level_markdown,
    result_words,
    role_title,
)
from patchwright.resolver.proof.branch_change import BranchProof

# In each comment with a proof and in no other text of ours.
PROOF_MARK: Final = "<!-- patchwright:proof "
_WITH_CHANGE: Final = (
    EvidenceRole.AFTER,
    EvidenceRole.BASE_TESTS,
    EvidenceRole.SUITE_AFTER,
)
_MOST_OUTPUTS: Final = 3
_MOST_LINES: Final = 20
_MOST_CHARS: Final = 2_000


def mark_of_head(head_sha: str) -> str:
    """Return what is in the comment about this head alone."""
    return f"{PROOF_MARK}head={head_sha} -->"


def branch_proof_as_json(proof: BranchProof) -> dict[str, JsonValue]:
    """Return all of a proof; its keys are always there."""
    result, change = proof.result, proof.change
    return {
        **proof_as_json(result.level, result.report, result.evidence),
        "reason": result.report.reason,
        "error": None,
        "base_sha": change.base_sha,
        "head_sha": change.head_sha,
        "warnings": list(result.warnings),
        "notes": list(proof.notes),
    }


def branch_proof_text(
    proof: BranchProof, handle: str, config_file: str, links: CodeLinks
) -> str:
    """Show the level first, then the table by test, and all else that was found."""
    result = proof.result
    advice = advice_on_proof(result.level, result.report, config_file)
    return join(
        level_markdown(result.level, result.report),
        advice,
        _list("Look at this first", result.warnings, handle),
        proof_report(result.report, result.evidence, links),
        _outputs(result.level, result.evidence),
        _folded("Notes", proof.notes, handle),
        _note(proof, links),
    )


def failing_output(level: Proof, evidence: tuple[Evidence, ...]) -> Iterator[Evidence]:
    """Yield the commands whose output says why a change has no better level."""
    for one in evidence:
        if one.exit_code == 0 or not one.tail.strip():
            continue
        if one.role in _WITH_CHANGE or level is Proof.NOT_PROVEN:
            yield one


def last_lines(tail: str, most: int = _MOST_LINES) -> list[str]:
    return tail.rstrip().splitlines()[-most:]


def _list(title: str, sentences: tuple[str, ...], handle: str) -> str:
    if not sentences:
        return ""
    return "\n".join([f"**{title}**", "", *list_sentences(sentences, handle)])


def _folded(title: str, sentences: tuple[str, ...], handle: str) -> str:
    if not sentences:
        return ""
    return details_block(title, "\n".join(list_sentences(sentences, handle)))


def _outputs(level: Proof, evidence: tuple[Evidence, ...]) -> str:
    shown = list(failing_output(level, evidence))[:_MOST_OUTPUTS]
    return join(
        *(
            details_block(
                f"Output {role_title(one.role)}, {result_words(one)}",
                join(
                    shown_name(one.command),
                    code_block("\n".join(last_lines(one.tail))[-_MOST_CHARS:]),
                ),
            )
            for one in shown
        )
    )


def _note(proof: BranchProof, links: CodeLinks) -> str:
    change = proof.change
    base, head = links.commit(change.base_sha), links.commit(change.head_sha)
    return (
        f"<sub>Base {base}, head {head}. Run by Patchwright in fresh sandboxes, "
        "without a model. “Without the change” is the base commit with only the test "
        "files of this change.</sub>"
    )
