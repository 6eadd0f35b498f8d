"""Find what a change may not touch without people: the repository says which paths."""

from collections.abc import Sequence
from dataclasses import dataclass

from patchwright.integrations.git.changes import ChangedPath
from patchwright.resolver.guards.globs import matches


@dataclass(frozen=True, slots=True)
class RuleViolation:
    """One rule of the repository, and the changed files that it is about."""

    rule: str
    changes: tuple[ChangedPath, ...]


def find_protected(
    changes: Sequence[ChangedPath], rules: Sequence[str]
) -> tuple[RuleViolation, ...]:
    """Return the rules that a change meets; where a file was counts like where it is.

    An empty rule is none.
    """
    found = (
        RuleViolation(rule, tuple(c for c in changes if _touches(c, rule)))
        for rule in rules
        if rule.strip("/ ")
    )
    return tuple(one for one in found if one.changes)


def _touches(change: ChangedPath, rule: str) -> bool:
    paths = (change.path, change.old_path)
    return any(path and matches(path, rule) for path in paths)
