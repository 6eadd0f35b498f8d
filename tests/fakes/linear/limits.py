"""How much may be asked: the weight of a query, and buckets that fill again.

https://linear.app/developers/rate-limiting
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    IntValueNode,
    OperationDefinitionNode,
    SelectionSetNode,
    VariableNode,
)

from patchwright.core.system.clock import Clock
from tests.fakes.linear.exchange import Json, RefusedError
from tests.fakes.linear.filters import DEFAULT_PAGE

HOUR_S = 3600
REQUESTS_AN_HOUR = 5_000
POINTS_AN_HOUR = 2_000_000
MAX_POINTS = 10_000
# Who asks for one of these asks for a page of things.
_PAGED = frozenset({"nodes", "edges"})


def weigh(document: DocumentNode, variables: Mapping[str, Any]) -> int:
    """Return the points of a document: 0.1 a value, 1 a thing, times their number."""
    fragments = {
        one.name.value: one
        for one in document.definitions
        if isinstance(one, FragmentDefinitionNode)
    }
    total = 0.0
    for one in document.definitions:
        if isinstance(one, OperationDefinitionNode):
            total += _Weights(fragments, variables).of(one.selection_set)
    return math.ceil(total)


@dataclass(frozen=True)
class _Weights:
    fragments: Mapping[str, FragmentDefinitionNode]
    variables: Mapping[str, Any]

    def of(self, selected: SelectionSetNode) -> float:
        total = 0.0
        for one in selected.selections:
            if isinstance(one, FieldNode):
                total += self._field(one)
            elif isinstance(one, FragmentSpreadNode):
                total += self.of(self.fragments[one.name.value].selection_set)
            elif isinstance(one, InlineFragmentNode):
                total += self.of(one.selection_set)
        return total

    def _field(self, one: FieldNode) -> float:
        if one.selection_set is None:
            return 0.1
        inner = self.of(one.selection_set)
        fields = [s for s in one.selection_set.selections if isinstance(s, FieldNode)]
        if not any(field.name.value in _PAGED for field in fields):
            return 1 + inner
        return inner * self._page(one)

    def _page(self, one: FieldNode) -> int:
        for argument in one.arguments or ():
            if argument.name.value not in ("first", "last"):
                continue
            if isinstance(argument.value, IntValueNode):
                return int(argument.value.value)
            if isinstance(argument.value, VariableNode):
                told = self.variables.get(argument.value.name.value)
                return told if isinstance(told, int) else DEFAULT_PAGE
        return DEFAULT_PAGE


@dataclass
class _Bucket:
    size: float
    left: float
    at: datetime

    def refill(self, now: datetime) -> None:
        passed = (now - self.at).total_seconds()
        self.left = min(self.size, self.left + passed * self.size / HOUR_S)
        self.at = now

    def full_at_ms(self) -> int:
        """Return when it is full again, in milliseconds."""
        missing_s = (self.size - self.left) * HOUR_S / self.size
        return int((self.at.timestamp() + missing_s) * 1000)


@dataclass
class Buckets:
    """One of requests and one of points for each caller."""

    clock: Clock
    requests: dict[str, _Bucket] = field(default_factory=dict)
    points: dict[str, _Bucket] = field(default_factory=dict)

    def take(self, name: str, points: int) -> dict[str, str]:
        """Count a request and return the headers that tell of it, or refuse it."""
        requests, complexity = self._pair(name)
        if points > MAX_POINTS:
            raise RefusedError(
                f"Query too complex: {points} points, at most {MAX_POINTS} allowed",
                shown="The query is too complex. Ask for less at once.",
            )
        if requests.left >= 1 and complexity.left >= points:
            requests.left -= 1
            complexity.left -= points
            return {"X-Complexity": str(points), **self.headers(name)}
        what = "requests" if requests.left < 1 else "complexity"
        raise RefusedError(
            f"Rate limit exceeded for {what}",
            code="RATELIMITED",
            kind="ratelimited",
            shown="Rate limit exceeded. Please try again later.",
        )

    def empty(self, name: str) -> None:
        """Let a caller have used up all requests."""
        self._pair(name)[0].left = 0

    def headers(self, name: str) -> dict[str, str]:
        requests, complexity = self._pair(name)
        return {
            "X-RateLimit-Requests-Limit": str(int(requests.size)),
            "X-RateLimit-Requests-Remaining": str(int(requests.left)),
            "X-RateLimit-Requests-Reset": str(requests.full_at_ms()),
            "X-RateLimit-Complexity-Limit": str(int(complexity.size)),
            "X-RateLimit-Complexity-Remaining": str(int(complexity.left)),
            "X-RateLimit-Complexity-Reset": str(complexity.full_at_ms()),
        }

    def status(self, name: str) -> Json:
        """Answer who asks by the API how much is left."""
        pair = zip(("requests", "complexity"), self._pair(name), strict=True)
        limits = [
            {
                "type": kind,
                "allowedAmount": one.size,
                "remainingAmount": one.left,
                "requestedAmount": 0.0,
                "period": float(HOUR_S * 1000),
                "reset": float(one.full_at_ms()),
            }
            for kind, one in pair
        ]
        return {"identifier": name, "kind": "user", "limits": limits}

    def _pair(self, name: str) -> tuple[_Bucket, _Bucket]:
        now = self.clock.now()
        wanted = ((self.requests, REQUESTS_AN_HOUR), (self.points, POINTS_AN_HOUR))
        for known, size in wanted:
            if name not in known:
                known[name] = _Bucket(size, size, now)
            known[name].refill(now)
        return self.requests[name], self.points[name]
