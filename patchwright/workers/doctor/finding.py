"""What a check has found, and how what is wrong can be put right."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """How a check ended; the later ones are worse."""

    SKIPPED = "skipped"
    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


_BY_WEIGHT = tuple(Status)


@dataclass(frozen=True, slots=True)
class Finding:
    """`found` is one line; `fix` has a line for each thing to do."""

    status: Status
    found: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The finding of the check of that name, and how long it took."""

    name: str
    finding: Finding
    seconds: float


def ok(found: str) -> Finding:
    return Finding(Status.OK, found)


def warning(found: str, fix: str) -> Finding:
    return Finding(Status.WARNING, found, fix)


def failed(found: str, fix: str) -> Finding:
    return Finding(Status.FAILED, found, fix)


def skipped(why: str) -> Finding:
    return Finding(Status.SKIPPED, why)


def combine(findings: Iterable[Finding]) -> Finding:
    """Return all of them as one: what is wrong, or else everything that is right."""
    several = tuple(findings)
    worst = max((one.status for one in several), key=_BY_WEIGHT.index)
    wrong = [one for one in several if one.fix]
    told = wrong or [one for one in several if one.status is worst]
    return Finding(
        worst,
        "; ".join(dict.fromkeys(one.found for one in told)),
        "\n".join(dict.fromkeys(one.fix for one in wrong)),
    )
