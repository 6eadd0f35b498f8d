"""What a pull request says."""

from patchwright.core.forge import PullRequestText
from patchwright.core.text.cut import cut_middle
from patchwright.core.text.mentions import neutralise
from patchwright.core.types.base import Value
from patchwright.core.types.work import Outcome, Proof
from patchwright.resolver.messages.facts import (
    agents_words,
    cost,
    counted,
    duration,
    evidence_table,
    proof_sentence,
)

# GitHub refuses bodies over 65,536 characters.
MAX_BODY_CHARS = 60_000
MAX_SUMMARY_CHARS = 30_000


class Provenance(Value):
    """Where a change comes from: who asked, where, with which model, in which run."""

    run_id: str
    requester: str
    issue: int | None
    model: str
    handle: str


def pull_request_text(
    outcome: Outcome, origin: Provenance, *, draft: bool
) -> PullRequestText:
    """Make title and body; a change that is not proven says so in its first line."""
    parts = [
        proof_sentence(outcome.proof, outcome.evidence, outcome.reason),
        agents_words(outcome.summary, origin.handle, MAX_SUMMARY_CHARS),
        f"Closes #{origin.issue}" if origin.issue is not None else "",
        _section("Evidence", evidence_table(outcome.evidence), _EVIDENCE_NOTE),
        _section("Remarks", "\n".join(f"- {note}" for note in outcome.notes)),
        _footer(outcome, origin),
    ]
    body = "\n\n".join(part for part in parts if part)
    return PullRequestText(
        title=neutralise(outcome.title, origin.handle),
        body=cut_middle(body, MAX_BODY_CHARS),
        draft=draft,
    )


_EVIDENCE_NOTE = (
    "<sub>Run by the controller in fresh sandboxes, not by the agent. “Before” is the "
    "base commit with only the test files of this change.</sub>"
)


def _section(title: str, text: str, note: str = "") -> str:
    if not text:
        return ""
    return "\n\n".join(part for part in (f"### {title}", text, note) if part)


def _footer(outcome: Outcome, origin: Provenance) -> str:
    facts = [
        f"run {origin.run_id[:8]}",
        f"asked for by @{origin.requester}",
        f"model {origin.model}",
        counted(outcome.iterations, "step"),
        duration(outcome.seconds),
        cost(outcome.usage),
    ]
    status = "" if outcome.proof is Proof.PROVEN else " · draft until it is proven"
    return f"<sub>{' · '.join(facts)}{status}</sub>"
