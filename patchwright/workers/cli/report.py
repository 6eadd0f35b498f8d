"""The result of a run for scripts and for people at a terminal."""

import json
from pathlib import Path

from rich.console import Console
from rich.text import Text

from patchwright.core.replay.story import exit_text
from patchwright.core.text.strings import count_noun
from patchwright.core.types.evidence import Evidence, EvidenceRole
from patchwright.core.types.work import Outcome
from patchwright.resolver.messages.advice import refusal_words
from patchwright.resolver.messages.elements import AGENT_WROTE, cost_text, duration_text
from patchwright.resolver.messages.outcome_kinds import display_of
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.publish.publisher import as_delivered
from patchwright.workers.cli.terminal import plain


def exit_code(outcome: Outcome) -> int:
    """Return 0 for success, 3 for a failed service, model or sandbox, else 1."""
    return display_of(outcome.kind).exit_code


def as_json(
    outcome: Outcome,
    delivered: DeliveryResult,
    run_id: str = "",
    events: Path | None = None,
) -> str:
    """Write the one JSON object that `--json` prints; all its keys are always there."""
    usage = outcome.usage
    return json.dumps(
        {
            "outcome": outcome.kind,
            "reason": outcome.reason,
            "proof": outcome.proof,
            "summary": _summary(outcome, delivered),
            "branch": delivered.branch or None,
            "base_sha": outcome.base_sha,
            # On the branch there may be the commit as the forge has made it.
            "head_sha": delivered.head_sha or outcome.head_sha or None,
            "pr_url": delivered.pull_request_url or None,
            "evidence": [
                _evidence(one) for one in as_delivered(outcome, delivered).evidence
            ],
            "cost_usd": usage.cost_usd,
            "tokens": {
                "in": usage.tokens_in,
                "out": usage.tokens_out,
                "cached": usage.tokens_cached,
            },
            "iterations": outcome.iterations,
            "run_id": run_id or None,
            "events": str(events) if events else None,
            "left_out": [
                {"path": one.path, "reason": one.reason} for one in outcome.left_out
            ],
        }
    )


def _summary(outcome: Outcome, delivered: DeliveryResult) -> str:
    """Show the run's own result text, and why it was not delivered."""
    if not delivered.refusal:
        return outcome.summary
    refused = f"Not delivered: {refusal_words(delivered.refusal)}"
    return "\n\n".join(
        part for part in (outcome.summary, refused, delivered.compare_url) if part
    )


def _evidence(one: Evidence) -> dict[str, str | int | float | None]:
    return {
        "role": one.role,
        "command": one.command,
        "commit": one.commit,
        "exit_code": one.exit_code,
        "seconds": one.seconds,
        "digest": one.digest,
    }


def print_result(console: Console, outcome: Outcome, delivered: DeliveryResult) -> None:
    """Say how it ended, outcome first."""
    console.print(_headline(outcome), soft_wrap=True)
    for text in (outcome.own_text, _quote_agent(outcome.agent_text)):
        if text:
            console.print(plain(text), soft_wrap=not console.is_terminal)
    for one in as_delivered(outcome, delivered).evidence:
        console.print(_evidence_line(one), soft_wrap=True)
    for label, value in (
        *(("look at", warning) for warning in outcome.warnings),
        *(("note", note) for note in (*outcome.notes, *delivered.remarks)),
        ("branch", delivered.branch),
        ("pull request", delivered.pull_request_url),
        ("not delivered", delivered.refusal),
    ):
        if value:
            console.print(plain(f"{label}: {value}"), soft_wrap=True)


def _quote_agent(words: str) -> str:
    """Mark each line of the agent's, as none of them may pass for one of ours."""
    lines = "\n".join(f"> {line}".rstrip() for line in words.splitlines())
    return f"{AGENT_WROTE}\n{lines}" if lines else ""


def _headline(outcome: Outcome) -> Text:
    style = "bold green" if outcome.kind.is_success else "bold yellow"
    head = Text()
    head.append(str(outcome.kind), style=style)
    if outcome.reason:
        head.append(f" ({outcome.reason})")
    facts = [
        str(outcome.proof) if outcome.head_sha else "",
        count_noun(outcome.iterations, "step"),
        duration_text(outcome.seconds),
        cost_text(outcome.usage),
    ]
    return head.append(f"  {' · '.join(fact for fact in facts if fact)}", style="dim")


def _evidence_line(one: Evidence) -> Text:
    expected = (one.role is EvidenceRole.BEFORE) != (one.exit_code == 0)
    return Text.assemble(
        f"{one.role:<6} ",
        (f"{exit_text(one):<8}", "green" if expected else "red"),
        plain(f" {' '.join(one.command.split())}"),
        (f"  {one.commit[:10]}, {one.seconds:.1f} s", "dim"),
    )
