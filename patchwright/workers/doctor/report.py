"""What the verdicts come to: for machines, and as an exit code."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pydantic import JsonValue

from patchwright.core.text.redaction import Redactor
from patchwright.resolver.messages.facts import count_noun
from patchwright.workers.doctor.finding import CheckStatus, NamedResult

FINE: Final = 0
SOMETHING_FAILED: Final = 1
WRONG_CONFIGURATION: Final = 2
SETTINGS: Final = "settings"


def without_secrets(verdict: NamedResult, redactor: Redactor) -> NamedResult:
    finding = replace(
        verdict.finding,
        found=redactor.redact(verdict.finding.found),
        fix=redactor.redact(verdict.finding.fix),
    )
    return replace(verdict, finding=finding)


def as_json(verdicts: Sequence[NamedResult]) -> dict[str, JsonValue]:
    checks: list[JsonValue] = [
        {
            "name": verdict.name,
            "status": verdict.finding.status.value,
            "found": verdict.finding.found,
            "fix": verdict.finding.fix,
            "seconds": verdict.seconds,
        }
        for verdict in verdicts
    ]
    return {"ok": not _failed(verdicts), "checks": checks}


def exit_code(verdicts: Sequence[NamedResult]) -> int:
    """Return what the process ends with; `serve` would refuse wrong settings too."""
    failed = _failed(verdicts)
    if SETTINGS in failed:
        return WRONG_CONFIGURATION
    return SOMETHING_FAILED if failed else FINE


def summary(verdicts: Sequence[NamedResult]) -> str:
    """Say in one line how many checks ended how."""
    count = Counter(verdict.finding.status for verdict in verdicts)
    parts = [
        f"{count[CheckStatus.OK]} ok",
        count_noun(count[CheckStatus.WARNING], "warning"),
        f"{count[CheckStatus.FAILED]} failed",
        f"{count[CheckStatus.SKIPPED]} skipped",
    ]
    return ", ".join(part for part in parts if not part.startswith("0 ")) or "no checks"


def _failed(verdicts: Sequence[NamedResult]) -> list[str]:
    return [one.name for one in verdicts if one.finding.status is CheckStatus.FAILED]
