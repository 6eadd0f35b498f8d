"""What a check has found, and how what is wrong can be put right."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class CheckStatus(StrEnum):
    """How a check ended; the later ones are worse."""

    SKIPPED = "skipped"
    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


_BY_WEIGHT = tuple(CheckStatus)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """`found` is one line; `fix` has a line for each thing to do."""

    status: CheckStatus
    found: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class NamedResult:
    """The finding of the check of that name, and how long it took."""

    name: str
    finding: CheckResult
    seconds: float


def ok(found: str) -> CheckResult:
    return CheckResult(CheckStatus.OK, found)


def warning(found: str, fix: str) -> CheckResult:
    return CheckResult(CheckStatus.WARNING, found, fix)


def failed(found: str, fix: str) -> CheckResult:
    return CheckResult(CheckStatus.FAILED, found, fix)


def skipped(why: str) -> CheckResult:
    return CheckResult(CheckStatus.SKIPPED, why)


def combine(findings: Iterable[CheckResult]) -> CheckResult:
    """Return all of them as one: what is wrong, or else everything that is right."""
    several = tuple(findings)
    worst = max((one.status for one in several), key=_BY_WEIGHT.index)
    wrong = [one for one in several if one.fix]
    told = wrong or [one for one in several if one.status is worst]
    return CheckResult(
        worst,
        "; ".join(dict.fromkeys(one.found for one in told)),
        "\n".join(dict.fromkeys(one.fix for one in wrong)),
    )
