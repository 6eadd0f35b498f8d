"""The parts of a parsed expression."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from tests.runner.expressions.values import Value


class ExpressionError(Exception):
    """What GitHub would refuse to evaluate, and why."""


@dataclass(frozen=True)
class Literal:
    value: Value


@dataclass(frozen=True)
class Context:
    """A name that stands for itself: `github`, `inputs`."""

    name: str


@dataclass(frozen=True)
class Index:
    """`target.key` and `target[key]`; without a key it is `target.*`."""

    target: "Node"
    key: "Node | None"


@dataclass(frozen=True)
class Call:
    name: str
    arguments: tuple["Node", ...]


@dataclass(frozen=True)
class Not:
    operand: "Node"


@dataclass(frozen=True)
class Binary:
    operator: str
    left: "Node"
    right: "Node"


Node: TypeAlias = Literal | Context | Index | Call | Not | Binary


def walk(node: Node) -> Iterator[Node]:
    """Yield the node and all that is in it."""
    yield node
    for part in _parts(node):
        yield from walk(part)


def path_of(node: Node) -> str:
    """Return what is read, as `github.event.issue.title`; empty where nothing is."""
    match node:
        case Context(name):
            return name.lower()
        case Index(target, key):
            step = key.value if isinstance(key, Literal) else "*"
            return f"{path_of(target)}.{step}".lower()
        case Literal() | Call() | Not() | Binary():
            return ""
        case _:
            assert_never(node)


def _parts(node: Node) -> tuple[Node, ...]:
    match node:
        case Literal() | Context():
            return ()
        case Index(target, key):
            return (target,) if key is None else (target, key)
        case Call(_, arguments):
            return arguments
        case Not(operand):
            return (operand,)
        case Binary(_, left, right):
            return (left, right)
        case _:
            assert_never(node)
