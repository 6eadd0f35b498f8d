"""Evaluate an expression where it stands."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, assert_never

from tests.runner.expressions.functions import FUNCTIONS
from tests.runner.expressions.nodes import (
    Binary,
    Call,
    Context,
    ExpressionError,
    Index,
    Literal,
    Node,
    Not,
)
from tests.runner.expressions.values import (
    Value,
    are_equal,
    is_less,
    is_truthy,
    to_text,
)


class Status(StrEnum):
    """How the job stands."""

    SUCCESS = "success"
    FAILURE = "failure"
    CANCELLED = "cancelled"


STATUS_FUNCTIONS: Final = frozenset({"always", "cancelled", "failure", "success"})


@dataclass(frozen=True)
class Scene:
    """The contexts that are known here, and how the job stands."""

    contexts: Mapping[str, Value]
    status: Status = Status.SUCCESS


@dataclass(frozen=True)
class _Many:
    """What a `*` has chosen; the next key goes into each."""

    items: list[Value]


def evaluate(node: Node, scene: Scene) -> Value:
    found = _evaluate(node, scene)
    return found.items if isinstance(found, _Many) else found


def _evaluate(node: Node, scene: Scene) -> Value | _Many:
    match node:
        case Literal(value):
            return value
        case Context(name):
            return _context(name, scene)
        case Index(target, None):
            return _all_of(_evaluate(target, scene))
        case Index(target, key):
            wanted = evaluate(key, scene) if key else None
            return _item(_evaluate(target, scene), wanted)
        case Call(name, arguments):
            return _call(
                name.lower(), [evaluate(one, scene) for one in arguments], scene
            )
        case Not(operand):
            return not is_truthy(evaluate(operand, scene))
        case Binary(operator, left, right):
            return _binary(operator, left, right, scene)
        case _:
            assert_never(node)


def _context(name: str, scene: Scene) -> Value:
    if name.lower() not in scene.contexts:
        raise ExpressionError(f"unrecognized named-value: {name!r}")
    return scene.contexts[name.lower()]


def _all_of(value: Value | _Many) -> _Many:
    if isinstance(value, _Many):
        return _Many([one for item in value.items for one in _all_of(item).items])
    if isinstance(value, dict):
        return _Many(list(value.values()))
    return _Many(value if isinstance(value, list) else [])


def _item(value: Value | _Many, key: Value) -> Value | _Many:
    if isinstance(value, _Many):
        found = [_item(one, key) for one in value.items]
        return _Many(
            [one for one in found if one is not None and not isinstance(one, _Many)]
        )
    if isinstance(value, dict):
        wanted = to_text(key).lower()
        return next(
            (one for name, one in value.items() if name.lower() == wanted), None
        )
    if isinstance(value, list) and isinstance(key, float | int):
        return value[int(key)] if 0 <= key < len(value) else None
    return None


def _call(name: str, values: list[Value], scene: Scene) -> Value:
    if name in STATUS_FUNCTIONS:
        return name in {"always", scene.status.value}
    if name not in FUNCTIONS:
        raise ExpressionError(f"unrecognized function: {name!r}")
    fewest, most, function = FUNCTIONS[name]
    if not fewest <= len(values) <= most:
        raise ExpressionError(f"{name} takes {fewest} to {most} values")
    return function(values)


def _binary(operator: str, left: Node, right: Node, scene: Scene) -> Value:
    first = evaluate(left, scene)
    match operator:
        case "&&":
            return evaluate(right, scene) if is_truthy(first) else first
        case "||":
            return first if is_truthy(first) else evaluate(right, scene)
        case "==":
            return are_equal(first, evaluate(right, scene))
        case "!=":
            return not are_equal(first, evaluate(right, scene))
        case _:
            return _ordered(operator, first, evaluate(right, scene))


def _ordered(operator: str, left: Value, right: Value) -> bool:
    is_same = operator.endswith("=") and are_equal(left, right)
    if operator.startswith("<"):
        return is_same or is_less(left, right)
    return is_same or is_less(right, left)
