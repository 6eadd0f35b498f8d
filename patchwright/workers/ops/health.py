"""Whether a process works, part by part, and since when one does not."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True)
class HealthPart:
    """A part of a process; `since` is when it has stopped to work, None if it works."""

    name: str
    since: datetime | None = None
    why: str = ""


# Looks at one part, at that moment.
HealthCheck = Callable[[datetime], HealthPart]


@dataclass(frozen=True)
class Health:
    """What a process is judged by.

    A process that fails one of `live` is better started anew; one that fails one of
    `ready` cannot do its work now, which a new one might not do either.
    """

    live: tuple[HealthCheck, ...]
    ready: tuple[HealthCheck, ...]


def run_health_checks(checks: tuple[HealthCheck, ...], now: datetime) -> tuple[HealthPart, ...]:
    return tuple(check(now) for check in checks)


def failing_parts(parts: tuple[HealthPart, ...]) -> tuple[str, ...]:
    return tuple(part.name for part in parts if part.since is not None)


def parts_as_json(parts: tuple[HealthPart, ...]) -> dict[str, dict[str, object]]:
    """Return the parts as JSON, by name."""
    return {part.name: _part_as_json(part) for part in parts}


def _part_as_json(part: HealthPart) -> dict[str, object]:
    if part.since is None:
        return {"ok": True}
    moment = part.since.astimezone(UTC).isoformat(timespec="seconds")
    return {"ok": False, "since": moment.replace("+00:00", "Z"), "why": part.why}
