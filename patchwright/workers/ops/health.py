"""Whether a process works, part by part, and since when one does not."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True)
class Part:
    """A part of a process; `since` is when it has stopped to work, None if it works."""

    name: str
    since: datetime | None = None
    why: str = ""


# Looks at one part, at that moment.
Check = Callable[[datetime], Part]


@dataclass(frozen=True)
class Health:
    """What a process is judged by.

    A process that fails one of `live` is better started anew; one that fails one of
    `ready` cannot do its work now, which a new one might not do either.
    """

    live: tuple[Check, ...]
    ready: tuple[Check, ...]


def examine(checks: tuple[Check, ...], now: datetime) -> tuple[Part, ...]:
    return tuple(check(now) for check in checks)


def red_of(parts: tuple[Part, ...]) -> tuple[str, ...]:
    return tuple(part.name for part in parts if part.since is not None)


def describe(parts: tuple[Part, ...]) -> dict[str, dict[str, object]]:
    """Return the parts as JSON, by name."""
    return {part.name: _describe(part) for part in parts}


def _describe(part: Part) -> dict[str, object]:
    if part.since is None:
        return {"ok": True}
    moment = part.since.astimezone(UTC).isoformat(timespec="seconds")
    return {"ok": False, "since": moment.replace("+00:00", "Z"), "why": part.why}
